#!/bin/bash
# hdf5_calls_test.sh MPIEXEC LIBZMPI NEWER PROGRAM: calls that came after HDF5 1.10 (hdf5_calls.c): those that NEWER makes
# from older ones, and those of HDF5 itself, if it has them. Rules for datasets hold in them. If one call writes to datasets
# with different bounds, the data are exact.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../scripts/lib.sh"
launcher=$1 lib=$2 newer=$3 program=$4

# run RANKS HOW FILE PRELOAD
run() {
    run_mpi "$launcher" "$1" LD_PRELOAD="$4" ZMPI_CONFIG=rules.ini ZMPI_EXACT_BELOW=4096 ZMPI_LEAST_RATIO=1.1 -- \
        "$program" "$2" "$3" >"$3.errors" 2>"$3.log"
}

# within FILE DATASET LEAST MOST: checks that its largest error lies between these.
within() {
    awk -v name="$2" -v least="$3" -v most="$4" '$1 == name { found = $2 >= least && $2 <= most } END { exit !found }' \
        "$1.errors" || die "$1: $2 is not in [$3, $4]: $(cat "$1.errors" "$1.log")"
}

cat >rules.ini <<'END'
[hdf5:/*]
error_bound = abs=1e-2
[hdf5:/c]
error_bound = abs=1e-4
END

# try RANKS HOW FILE PRELOAD
try() {
    run "$@" || die "$2 failed on $1 ranks: $(cat "$3.log")"
    head -c 5 "$3" | grep -q ZMPI || die "$3: is no container"
    within "$3" /a 1e-4 1.0001e-2
    within "$3" /b 1e-4 1.0001e-2
    if [[ $2 = async ]]; then
        within "$3" /c 1e-6 1.0001e-4
        within "$3" /d 1e-4 1.0001e-2
    else
        within "$3" /c 0 0
        within "$3" /d 0 0
    fi
}

own=1
"$program" || own=
for ranks in 1 3; do
    for how in async multi multi_async; do
        file=$how$ranks.h5
        try $ranks $how "$file" "$lib $newer"
        for call in Fcreate_async Fopen_async Dwrite_$how; do
            grep -q "hdf5_newer: H5$call$" "$file.log" || die "$file: H5$call went elsewhere: $(cat "$file.log")"
        done
        [[ ! $own ]] || try $ranks $how own_"$file" "$lib"
    done
done
[[ $own ]] || echo "HDF5 has none of these calls of its own: made of older ones only"

#!/bin/bash
# hdf5_calls_test.sh MPIEXEC LIBZMPI NEWER PROGRAM: calls that came after HDF5 1.10 (hdf5_calls.c), which NEWER makes of the
# older ones. Rules for datasets hold in them; what one call writes to datasets of unlike bounds is exact.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../scripts/lib.sh"
launcher=$1 lib=$2 newer=$3 program=$4

# run RANKS HOW FILE PRELOAD
run() {
    run_mpi "$launcher" "$1" LD_PRELOAD="$4" ZMPI_CONFIG=rules.ini ZMPI_EXACT_BELOW=4096 ZMPI_LEAST_RATIO=1.1 -- \
        "$program" "$2" "$3" >"$3.errors" 2>"$3.log"
}

# within FILE DATASET LEAST MOST: its largest error lies between.
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

for ranks in 1 3; do
    for how in async multi multi_async; do
        file=$how$ranks.h5
        run $ranks $how "$file" "$lib $newer" || die "$how failed on $ranks ranks: $(cat "$file.log")"
        head -c 5 "$file" | grep -q ZMPI || die "$file: is no container"
        for call in Fcreate_async Fopen_async Dwrite_$how; do
            grep -q "hdf5_newer: H5$call$" "$file.log" || die "$file: H5$call went elsewhere: $(cat "$file.log")"
        done
        within "$file" /a 1e-4 1.0001e-2
        within "$file" /b 1e-4 1.0001e-2
        if [[ $how = async ]]; then
            within "$file" /c 1e-6 1.0001e-4
            within "$file" /d 1e-4 1.0001e-2
        else
            within "$file" /c 0 0
            within "$file" /d 0 0
        fi
    done
done

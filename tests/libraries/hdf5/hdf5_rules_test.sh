#!/bin/bash
# hdf5_rules_test.sh MPIEXEC LIBZMPI PROGRAM: rules that name datasets (hdf5_rules.c).
#
# Rules turn ZMPI_HDF5 on by themselves and give each dataset its own bound. A dataset that no rule names is exact. Fill
# values of datasets are exact, and so are the chunks that H5Dwrite_chunk writes.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../scripts/lib.sh"
launcher=$1 lib=$2 program=$3

is_container() {
    head -c 5 "$1" | grep -q ZMPI
}

# write RANKS FILE NAME=VALUE...
write() {
    local ranks=$1 file=$2
    shift 2
    run_mpi "$launcher" "$ranks" LD_PRELOAD="$lib" ZMPI_EXACT_BELOW=4096 ZMPI_LEAST_RATIO=1.1 "$@" -- \
        "$program" write "$file" 2>"$file.log" || die "writing $file with $* failed on $ranks ranks: $(cat "$file.log")"
    run_mpi "$launcher" 2 LD_PRELOAD="$lib" -- "$program" errors "$file" >"$file.errors" || die "reading $file failed"
    [[ $(wc -l <"$file.errors") = 9 ]] || die "$file: $(cat "$file.errors")"
}

# within FILE DATASET LEAST MOST: checks that its largest error lies between these.
within() {
    awk -v name="$2" -v least="$3" -v most="$4" \
        '$1 == name { found = $2 > least && $2 <= most && $3 == 0 } END { exit !found }' "$1.errors" ||
        die "$1: $2 is not in ($3, $4]: $(grep "^$2 " "$1.errors")"
}

exact() {
    grep -q "^$2 0 0$" "$1.errors" || die "$1: $2 is not exact: $(grep "^$2 " "$1.errors")"
}

cat >rules.ini <<'END'
[hdf5:/fields/*]
error_bound = abs=1e-2
[hdf5:rho]
error_bound = abs=1e-4
[hdf5:/alone]
error_bound = abs=1e-6
[hdf5:/alone_p]
error_bound = ratio=8
[hdf5:/ratio]
error_bound = ratio=9
[hdf5:/filled]
error_bound = rel=1e-3
[hdf5:/chunks]
error_bound = abs=1e-2
[hdf5:/fields/p]
error_bound = lossless
END

for ranks in 1 2 3 4; do
    file=rules_$ranks.h5
    write $ranks "$file" ZMPI_CONFIG=rules.ini
    is_container "$file" || die "$file: is no container"
    grep -q "an HDF5 file inside, its datasets' bounds by rules" "$file.log" || die "$file: not said in the report"
    within "$file" /fields/rho 1e-6 1.0001e-4
    within "$file" /fields/rho_old 1e-4 1.0001e-2
    within "$file" /filled 1e-5 1e-2
    within "$file" /alone 1e-9 1.0001e-6
    within "$file" /ratio 1e-12 1
    within "$file" /alone_p 1e-12 1
    for name in /fields/p /grid/x /chunks; do
        exact "$file" $name
    done
done

# Rules for datasets come before the environment's bound, which all other datasets get.
write 2 both.h5 ZMPI_CONFIG=rules.ini ZMPI_ERROR_BOUND=abs=1e-5
within both.h5 /fields/rho 1e-6 1.0001e-4
within both.h5 /grid/x 1e-7 1.0001e-5
exact both.h5 /fields/p
exact both.h5 /chunks

# ZMPI_HDF5=off holds in spite of rules, and so does a list of files.
write 2 off.h5 ZMPI_CONFIG=rules.ini ZMPI_HDF5=off
! is_container off.h5 || die "converted against ZMPI_HDF5=off"
write 2 listed.h5 ZMPI_CONFIG=rules.ini ZMPI_FILES='*.raw'
! is_container listed.h5 || die "converted against ZMPI_FILES"

#!/bin/bash
# hdf5_test.sh MPIEXEC LIBZMPI ZMPI PROGRAM H5DIFF H5DUMP H5LS: a parallel HDF5 program, unchanged, with
# ZMPI_HDF5=container (hdf5_lossy.c).
#
# Its datasets of floats are lossy, within the bound, and everything else is exact, for any number of ranks, and for each way
# to write metadata. Without the setting zmpi changes nothing.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../scripts/lib.sh"
launcher=$1 lib=$2 zmpi=$3 program=$4 diff=$5 dump=$6 list=$7
bound=1e-3 within=1.0001e-3

is_container() {
    head -c 5 "$1" | grep -q ZMPI
}

# run RANKS ACTION FILE HOW NAME=VALUE...
run() {
    local ranks=$1 action=$2 file=$3 how=$4
    shift 4
    # Keeps out the settings of other tests.
    run_mpi "$launcher" "$ranks" LD_PRELOAD="$lib" ZMPI_EXACT_BELOW=4096 ZMPI_LEAST_RATIO=1.1 "$@" -- \
        "$program" "$action" "$file" $within $how 2>"$file.log" ||
        die "$action $file with $* failed on $ranks ranks: $(cat "$file.log")"
}

sets() {
    alone "$list" plain.h5/"$1" | awk '$2 != "Group" { print $1 }'
}

# same_but_for_floats FILE: checks that exact data are the same as in the plain file, and floats within the bound.
same_but_for_floats() {
    local set
    "$diff" -d $within plain.h5 "$1" || die "$1: out of bounds"
    for set in $(sets exact) about; do
        "$diff" plain.h5 "$1" /exact/"$set" || die "$1: $set is not exact"
    done
    cmp <("$dump" -A plain.h5 | tail -n +2) <("$dump" -A "$1" | tail -n +2) || die "$1: other metadata"
}

# lossy FILE: checks that each dataset of /lossy is lossy.
lossy() {
    local set
    for set in $(sets lossy); do
        ! "$diff" plain.h5 "$1" /lossy/"$set" >/dev/null || die "$1: $set is exact"
    done
}

run_mpi "$launcher" 3 -- "$program" write plain.h5 0
size=$(stat -c %s plain.h5)

# Off: a bound for other files changes nothing.
run 2 write off.h5 '' ZMPI_ERROR_BOUND=abs=$bound
! is_container off.h5 || die "converted without ZMPI_HDF5"
"$diff" plain.h5 off.h5 || die "off.h5 differs"

# The user's list of files holds.
run 1 write listed.h5 '' ZMPI_ERROR_BOUND=abs=$bound ZMPI_HDF5=container ZMPI_FILES='*.raw'
! is_container listed.h5 || die "converted against ZMPI_FILES"

read -ra ios <<<"${ZMPI_TEST_IO:-default}"
for case in 1: 2: 3:together 4:; do
    ranks=${case%%:*} how=${case#*:} file=lossy_${case%%:*}.h5 io=${ios[${case%%:*} % ${#ios[@]}]}
    [[ $io = default || $io = mpich ]] || export OMPI_MCA_io=$io
    ((ranks != 2)) || cp plain.h5 "$file" # which is made anew
    run "$ranks" write "$file" "$how" ZMPI_ERROR_BOUND=abs=$bound ZMPI_HDF5=container
    is_container "$file" || die "$file: is no container"
    grep -q 'an HDF5 file inside' "$file.log" || die "$file: not said in the report"
    "$zmpi" verify "$file"
    "$zmpi" decompress "$file" back.h5
    same_but_for_floats back.h5
    lossy back.h5
    (($(stat -c %s "$file") * 2 < size)) || die "$file: $(stat -c %s "$file") bytes of $size"
done
run 3 read lossy_4.h5 ''

# An existing file stays a container. Data that are written without the setting are exact.
cp lossy_2.h5 again.h5
run 3 rewrite again.h5 '' ZMPI_ERROR_BOUND=abs=$bound ZMPI_HDF5=container
run 2 read again.h5 ''
run 2 rewrite again.h5 ''
is_container again.h5 || die "again.h5 is plain again"
rm back.h5
"$zmpi" decompress again.h5 back.h5
same_but_for_floats back.h5
"$diff" plain.h5 back.h5 /lossy/planes_f64 || die "exact data are not"

# A lossless bound, and a hint for one file.
run 2 write exact.h5 '' ZMPI_ERROR_BOUND=lossless ZMPI_HDF5=container
is_container exact.h5 || die "exact.h5: is no container"
rm back.h5
"$zmpi" decompress exact.h5 back.h5
"$diff" plain.h5 back.h5 || die "lossless: differs"

# A wrong value ends the program in MPI_Init.
! run_mpi "$launcher" 2 LD_PRELOAD="$lib" ZMPI_HDF5=yes -- "$program" write wrong.h5 0 2>wrong.log || die "ZMPI_HDF5=yes was taken"
grep -q 'ZMPI_HDF5=yes: allowed are off, container or filter' wrong.log || die "no word of ZMPI_HDF5=yes: $(cat wrong.log)"

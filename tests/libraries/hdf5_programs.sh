#!/bin/bash
# hdf5_programs.sh MPIEXEC LIBZMPI ZMPI NAME PROGRAM...: a program that writes through HDF5 (netcdf4.c, h5py_mpio.py), unchanged,
# on 1 to 4 ranks.
#
# With ZMPI_HDF5=container its floats are within the bound, lossless nothing differs, and by default the file is left alone.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
launcher=$1 lib=$2 zmpi=$3 name=$4
shift 4
program=("$@")

is_container() {
    head -c 5 "$1" | grep -q ZMPI
}

# run RANKS NAME=VALUE... -- ARGUMENT...
run() {
    local ranks=$1
    shift
    local settings=()
    while [[ $1 != -- ]]; do
        settings+=("$1")
        shift
    done
    shift
    run_mpi "$launcher" "$ranks" ${settings[@]+"${settings[@]}"} ZMPI_EXACT_BELOW=4096 ZMPI_LEAST_RATIO=1.1 -- \
        "${program[@]}" "$@" 2>log || die "$* on $ranks ranks: $(cat log)"
}

rm -f ./*.h5
run 2 -- write plain.h5
run 2 -- read plain.h5 0
run 2 LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=rel=1e-3 -- write left.h5
! is_container left.h5 || die "left.h5: converted by default"
run 2 LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=lossless ZMPI_HDF5=container -- write exact.h5
run 3 LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_HDF5=container -- write three.h5
run 2 LD_PRELOAD="$lib" -- read exact.h5 0
for ranks in 1 2 3 4; do
    file=lossy_$ranks.h5
    run $ranks LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_HDF5=container -- write $file
    is_container $file || die "$file: is no container"
    run $ranks LD_PRELOAD="$lib" -- read $file 1.0001e-3
    "$zmpi" decompress $file back.h5
    run $ranks -- read back.h5 1.0001e-3
    ratio=$(awk -v a="$(stat -c %s back.h5)" -v b="$(stat -c %s $file)" 'BEGIN { printf "%.1f", a / b }')
    echo "$name, $ranks ranks, abs=1e-3: $ratio times smaller"
    awk -v r="$ratio" 'BEGIN { exit r < 4 }' || die "$file: only $ratio times smaller"
    rm back.h5
done

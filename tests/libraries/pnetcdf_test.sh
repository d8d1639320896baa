#!/bin/bash
# pnetcdf_test.sh MPIEXEC LIBZMPI ZMPI PROGRAM DUMP: a PnetCDF program, whose floats are big-endian, with
# ZMPI_ELEMENT_TYPE (pnetcdf.c).
#
# They are lossy, within the bound, also when they are read again at once, and headers and attributes are exact. A lossless
# bound makes the file smaller, too.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
launcher=$1 lib=$2 zmpi=$3 program=$4 dump=$5
bound=1e-3 within=1.0001e-3

is_container() {
    head -c 5 "$1" | grep -q ZMPI
}

header() {
    run_mpi "$launcher" 1 -- "$dump" -h "$1" | tail -n +2
}

rm -f ./*.nc
for ranks in 1 2 3 4; do
    run_mpi "$launcher" $ranks -- "$program" write plain.nc
    for type in auto f32-big; do
        file=${type}_$ranks.nc
        run_mpi "$launcher" $ranks LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=abs=$bound ZMPI_FILES='*.nc' ZMPI_ELEMENT_TYPE=$type \
            ZMPI_EXACT_BELOW=4096 ZMPI_LEAST_RATIO=1.1 -- "$program" write "$file" $within 2>"$file.log" ||
            die "$file: $(cat "$file.log")"
        is_container "$file" || die "$file is no container"
        "$zmpi" verify "$file"
        "$zmpi" decompress "$file" back.nc
        run_mpi "$launcher" $ranks -- "$program" read back.nc $within || die "$file: out of bounds"
        ! cmp -s plain.nc back.nc || die "$file: is exact"
        cmp <(header plain.nc) <(header back.nc) || die "$file: other header"
        (($(stat -c %s "$file") * 3 < $(stat -c %s back.nc))) || die "$file: $(stat -c %s "$file") bytes"
        rm back.nc
    done
done

for type in auto f32-big; do
    run_mpi "$launcher" 2 LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=lossless ZMPI_FILES='*.nc' ZMPI_ELEMENT_TYPE=$type \
        ZMPI_LEAST_RATIO=1.1 -- "$program" write exact.nc 2>exact.log || die "lossless, $type: $(cat exact.log)"
    is_container exact.nc || die "lossless, $type: no container: $(cat exact.log)"
    rm -f back.nc
    "$zmpi" decompress -k exact.nc back.nc
    run_mpi "$launcher" 2 -- "$program" write plain.nc
    cmp plain.nc back.nc || die "lossless, $type: differs"
done

# Not big-endian, or not named: as it was.
run_mpi "$launcher" 2 LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=abs=$bound ZMPI_FILES='*.nc' ZMPI_ELEMENT_TYPE=f32 ZMPI_LEAST_RATIO=1.1 -- \
    "$program" write f32.nc
run_mpi "$launcher" 2 LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=abs=$bound ZMPI_ELEMENT_TYPE=auto -- "$program" write unnamed.nc
! is_container unnamed.nc || die "unnamed.nc: converted"

#!/bin/bash
# hdf5_misuse_test.sh MPIEXEC LIBZMPI ZMPI PROGRAM: what few programs do with HDF5 (hdf5_misuse.c), in containers. Files of
# other drivers than MPI-IO stay as they are.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../scripts/lib.sh"
launcher=$1 lib=$2 zmpi=$3 program=$4

# run RANKS CASE NAME=VALUE...: `way` is the program's last argument, if any.
way=
run() {
    local ranks=$1 what=$2
    shift 2
    run_mpi "$launcher" "$ranks" LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_EXACT_BELOW=4096 ZMPI_LEAST_RATIO=0 "$@" -- \
        "$program" "$what" "$what.h5" ${way:+"$way"} >log 2>&1 || die "$what on $ranks ranks with $*: $(cat log)"
}

for ranks in 1 2; do
    for what in deleted room twice inside bad refusing freed racing; do
        run $ranks $what ZMPI_HDF5=container
        head -c 5 $what.h5 | grep -q ZMPI || die "$what.h5: is no container"
        "$zmpi" verify $what.h5
    done
    run $ranks refusing ZMPI_HDF5=filter
done
# By the filter only without MPI-IO: with it HDF5 refuses independent writes, and loses chunks that are written again.
way=serial
for what in deleted twice inside bad freed racing; do
    for bound in abs=1e-3 rel=1e-6; do
        run 1 $what ZMPI_HDF5=filter ZMPI_ERROR_BOUND=$bound
    done
done
way=
for what in core stdio split multi; do
    for how in container filter; do
        run 1 $what ZMPI_HDF5=$how
        ! grep -q ZMPI <(head -qc 5 $what.h5* $what-?.h5 2>/dev/null) || die "$what: is a container"
    done
done

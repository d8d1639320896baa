#!/bin/bash
# odd_test.sh MPIEXEC LIBZMPI PROGRAM: HDF5 answers arguments that make no sense (hdf5_odd.c) with zmpi as it does without,
# and the files hold the same data: in containers, with rules for datasets and without, and in files that stay HDF5's.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../scripts/lib.sh"
launcher=$1 lib=$2 program=$3

cat >rules.ini <<'END'
[hdf5:/group/*]
error_bound = lossless
[hdf5:/absolute]
error_bound = abs=1e-30
END

run_mpi "$launcher" 1 -- "$program" odd.h5 >expected 2>errors || die "fails without zmpi: $(cat errors)"
(($(wc -l <expected) > 1000)) || die "only $(wc -l <expected) calls"
for how in container off; do
    for rules in "" rules.ini; do
        rm -f odd*.h5 odd_external.bin
        run_mpi "$launcher" 1 LD_PRELOAD="$lib" ZMPI_HDF5=$how ZMPI_CONFIG=$rules ZMPI_ERROR_BOUND=lossless ZMPI_EXACT_BELOW=100 \
            ZMPI_LEAST_RATIO=0 -- "$program" odd.h5 >got 2>errors || die "$how, rules '$rules': $(cat errors)"
        cmp expected got >/dev/null || die "$how, rules '$rules': $(diff expected got | head -20) $(cat errors)"
    done
done

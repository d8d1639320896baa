#!/bin/bash
# hdf5_objects_test.sh MPIEXEC LIBZMPI PROGRAM: a program creates datasets, or opens them in every way that HDF5 has. One
# rank alone writes them, although all ranks together read metadata (hdf5_objects.c). That rank must not wait, and each
# dataset must be lossy, by its own rule.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../scripts/lib.sh"
launcher=$1 lib=$2 program=$3

cat >rules.ini <<'END'
[hdf5:/*]
error_bound = abs=1e-2
[hdf5:/way_2/set]
error_bound = abs=1e-4
[hdf5:/way_5/set]
error_bound = lossless
END
for ranks in 1 3; do
    run_mpi "$launcher" $ranks LD_PRELOAD="$lib" ZMPI_CONFIG=rules.ini ZMPI_EXACT_BELOW=4096 ZMPI_LEAST_RATIO=1.1 -- \
        "$program" objects$ranks.h5 >errors 2>log || die "failed on $ranks ranks: $(cat log errors)"
    (($(wc -l <errors) >= 8)) || die "datasets are missing: $(cat errors)"
    awk '$1 == "/way_5/set" { bad = bad || $2 != 0; next }
        { most = $1 == "/way_2/set" ? 1.0001e-4 : 1.0001e-2; bad = bad || $2 > most || $2 < most / 100 }
        END { exit bad }' errors || die "an error is not as its rule says: $(cat errors log)"
done

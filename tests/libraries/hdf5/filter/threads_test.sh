#!/bin/bash
# threads_test.sh MPIEXEC LIBZMPI PROGRAM: threads that write and read datasets at once, through the filter (hdf5_threads.c),
# by each encoder. Skipped where HDF5's serial library is not thread-safe.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../../scripts/lib.sh"
launcher=$1 lib=$2 program=$3

for codec in fle huffman interp; do
    for bound in abs=1e-3 rel=1e-4; do
        status=0 relative=()
        [[ $bound = abs* ]] || relative=(rel)
        run_mpi "$launcher" 1 LD_PRELOAD="$lib" ZMPI_HDF5=filter ZMPI_CODEC=$codec ZMPI_ERROR_BOUND=$bound ZMPI_EXACT_BELOW=4096 -- \
            timeout 100 "$program" "$PWD" "${bound#*=}" ${relative[@]+"${relative[@]}"} >log 2>&1 || status=$?
        ((status != 77)) || exit 77
        ((status == 0)) || die "$codec, $bound: status $status: $(cat log)"
    done
done

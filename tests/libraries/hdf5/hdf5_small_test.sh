#!/bin/bash
# hdf5_small_test.sh MPIEXEC LIBZMPI ZMPI PROGRAM H5DIFF: many small datasets with attributes (hdf5_speed.c) in containers,
# with rules that name datasets and without. Small datasets, attributes and metadata are exact; the large datasets among them
# are lossy.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../scripts/lib.sh"
launcher=$1 lib=$2 zmpi=$3 program=$4 diff=$5

printf '%s\n' '[hdf5:/many*]' 'error_bound = abs=1e-3' '[hdf5:/few*]' 'error_bound = abs=0.5' >rules.ini
for ranks in 1 2; do
    run_mpi "$launcher" $ranks -- "$program" both plain.h5 200 >log 2>&1 || die "plain: $(cat log)"
    for setting in ZMPI_HDF5=container ZMPI_CONFIG=rules.ini ZMPI_ELEMENT_TYPE=auto; do
        bound=(ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_HDF5=container)
        [[ $setting != ZMPI_CONFIG* ]] || bound=()
        run_mpi "$launcher" $ranks LD_PRELOAD="$lib" ZMPI_EXACT_BELOW=4096 ZMPI_LEAST_RATIO=0 $setting ${bound[@]+"${bound[@]}"} -- \
            "$program" both small.h5 200 >log 2>&1 || die "$setting on $ranks ranks: $(cat log)"
        head -c 5 small.h5 | grep -q ZMPI || die "$setting: no container"
        rm -f back.h5
        "$zmpi" decompress -k small.h5 back.h5
        "$diff" -d 1.001e-3 plain.h5 back.h5 >diff.txt || die "$setting: $(head -5 diff.txt)"
        "$diff" plain.h5 back.h5 >diff.txt && die "$setting: large datasets are exact"
        ! grep few diff.txt || die "$setting: small datasets are not exact"
    done
done

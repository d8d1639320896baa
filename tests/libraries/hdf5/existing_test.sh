#!/bin/bash
# existing_test.sh MPIEXEC LIBZMPI PROGRAM: datasets that are there, opened and changed by other numbers of ranks than those
# that created them (hdf5_existing.c): containers and ZMPI_HDF5=filter, exact and with a bound, by each MPI-IO implementation.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../scripts/lib.sh"
launcher=$1 lib=$2 program=$3
read -ra ios <<<"${ZMPI_TEST_IO:-default}"

# run RANKS WHAT
run() {
    run_mpi "$launcher" "$1" LD_PRELOAD="$lib" ZMPI_HDF5="$way" ZMPI_ERROR_BOUND="$bound" ZMPI_EXACT_BELOW=256 -- \
        "$program" "$2" "$file" "$within" ${only:+"$only"} >log 2>&1 ||
        die "$2 $file on $1 ranks, $io: $(grep -v '^ZMPI' log | head -20)"
}

# HDF5 2.2.0 itself ends the program with independent writes by an assertion. Then the others are left.
plain() {
    run_mpi "$launcher" "$1" -- "$program" "$2" plain.h5 0 >log 2>&1
}
cases=(filter:abs=1e-3:1.0001e-3:filter container:abs=1e-3:1.0001e-3: container:lossless:0:)
if ! { plain 2 create && plain 3 change; }; then
    grep 'H5D.*Assertion' log || die "without zmpi: $(head -20 log)"
    cases=(filter:abs=1e-3:1.0001e-3:filter container:abs=1e-3:1.0001e-3:filter container:lossless:0:filter)
fi

rm -f ./*.h5
for io in "${ios[@]}"; do
    [[ $io = default || $io = mpich ]] || export OMPI_MCA_io=$io
    for case in "${cases[@]}"; do
        IFS=: read -r way bound within only <<<"$case"
        for ranks in 2 3; do
            file=$way.$bound.$ranks.h5
            rm -f "$file"
            run $ranks create
            run $((5 - ranks)) change
            run $ranks read
            if [[ $way = filter ]]; then
                [[ $(head -c 4 "$file" | tail -c 3) = HDF ]] || die "$file: is no HDF5 file"
            else
                head -c 5 "$file" | grep -q ZMPI || die "$file: is no container"
            fi
        done
    done
done

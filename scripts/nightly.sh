#!/bin/bash
# nightly.sh [JOB...]: tests that take too long for scripts/test.sh. It runs all jobs, or those named, with another seed every day.
#
# NIGHTLY_SEED=N repeats the run that printed N. NIGHTLY_KILLS=N, NIGHTLY_STATES=N and NIGHTLY_SECONDS=T make it shorter:
# kills of each MPI, states of the disk, and seconds for each fuzz target, and for the random programs of each MPI-IO
# implementation and number of ranks.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

seed=${NIGHTLY_SEED:-$(date +%-j)000}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none

ZMPI_TEST_IO=$(ompi_info --parsable | sed -n 's/^mca:io:\([^:]*\):version.*/\1/p' | sort -ru | xargs) # of Open MPI
export ZMPI_TEST_IO

# build FOLDER MPICC: a release build.
build() {
    cmake --preset release -B "$1" --log-level=WARNING -DMPI_C_COMPILER="$2"
    cmake --build "$1" --parallel "$(nproc)"
}

# kills FOLDER LAUNCHER COUNT: the kill loop in a build.
kills() {
    mkdir -p "$1/tests/run/nightly"
    (
        root=$PWD
        cd "$1/tests/run/nightly"
        ZMPI_TEST_BIN=$root/$1/bin ZMPI_TEST_LIB=$root/$1/lib/libzmpi.so MPIEXEC=$2 \
            "$root/tests/cli/kill_loop.py" --first "$seed" --count "$3"
    )
}

# Every test, with longer random ones.
job_long() {
    ZMPI_TEST_LONG=1 scripts/test.sh
}

# Debian's next release: newer compilers, libraries and MPIs.
job_sid() {
    local status=0
    scripts/test_on.sh sid || status=$?
    ((status == 0 || status == 77))
}

# Ubuntu 22.04: the oldest CMake, compiler, SIMDe and HDF5 that are supported.
job_jammy() {
    local status=0
    ZMPI_TEST_BUILDS=build ZMPI_TEST_GROUPS="unit;mpi;cli;install" ZMPI_TEST_RANKS="1;3" scripts/test_on.sh jammy || status=$?
    ((status == 0 || status == 77))
}

# README's commands on a Debian 13 that has nothing else.
job_readme() {
    local status=0
    scripts/test_on.sh trixie readme || status=$?
    ((status == 0 || status == 77))
}

# Debian packages: installed, used, removed.
job_packages() {
    local status=0
    scripts/packages.sh --try || status=$?
    ((status == 0 || status == 77))
}

# The codec on a machine of the other byte order, and MPI.
job_s390x() {
    local status=0
    scripts/test_s390x.sh
    build build mpicc.openmpi
    scripts/test_s390x.sh mpi || status=$?
    ((status == 0 || status == 77))
}

# The codec with musl, with other versions of xxHash, and with the compilers of three Debians.
job_toolchains() {
    local suite status
    scripts/test_toolchains.sh
    for suite in trixie sid; do
        status=0
        scripts/test_on.sh "$suite" toolchains compilers || status=$?
        ((status == 0 || status == 77))
    done
}

# Processes killed in the middle of writing: 300 of Open MPI (ROMIO and OMPIO in turn), 100 of MPICH.
job_kills() {
    build build mpicc.openmpi
    build build-mpich mpicc.mpich
    kills build mpirun.openmpi "${NIGHTLY_KILLS:-300}"
    kills build-mpich mpirun.mpich "${NIGHTLY_KILLS:-100}"
}

# States of the disk after a power failure: 30,000, of 60 random programs.
job_power() {
    build build mpicc.openmpi
    mkdir -p build/tests/run/nightly
    (
        root=$PWD
        cd build/tests/run/nightly
        ZMPI_TEST_BIN=$root/build/bin ZMPI_TEST_LIB=$root/build/lib/libzmpi.so MPIEXEC=mpirun.openmpi \
            "$root/tests/cli/power.py" --first "$seed" --traces 60 --states "${NIGHTLY_STATES:-30000}"
    )
}

# Damaged containers, read by the codec and the Python reader: 100,000.
job_oracle() {
    build build mpicc.openmpi
    mkdir -p build/tests/run/nightly
    (
        root=$PWD
        cd build/tests/run/nightly
        "$root/tests/reader/oracle_test.py" "$root/build/bin/tests/reader_oracle" "$root/scripts/zmpi_reader.py" \
            "$root/tests/fuzz/corpus/container" 100000 "$seed"
    )
}

# libFuzzer, with sanitizers, on everything that reads what others wrote: five minutes each.
job_fuzz() {
    need_packages clang
    cmake --preset fuzz --log-level=WARNING -DCMAKE_C_COMPILER=clang
    cmake --build build-fuzz --parallel "$(nproc)"
    local root=$PWD target work
    for target in build-fuzz/bin/tests/fuzz_*; do
        work=build-fuzz/run/${target##*/}
        mkdir -p "$work/corpus"
        cp tests/fuzz/corpus/"${target##*/fuzz_}"/* "$work/corpus"
        (cd "$work" && "$root/$target" -seed="$seed" -max_total_time="${NIGHTLY_SECONDS:-300}" -rss_limit_mb=2048 corpus)
    done
}

# random_programs FOLDER RANKS LAUNCHER...: five minutes of tests/differential in a build.
random_programs() {
    local root=$PWD folder=$1 ranks=$2
    shift 2
    mkdir -p "$folder/tests/run/nightly"
    (
        cd "$folder/tests/run/nightly"
        "$root/tests/differential/differential.py" --preload "$root/$folder/lib/libzmpi.so" --seed "$seed" --count 1000000 \
            --time "${NIGHTLY_SECONDS:-300}" --shrink-seconds 1800 --option=--atomic --option=--shared-opens \
            "$root/$folder/bin/tests/differential" "$ranks" -- "$@" -n
    )
}

# Random MPI-IO programs on a compressed and a plain file at once, with every MPI-IO implementation.
job_differential() {
    build build mpicc.openmpi
    build build-mpich mpicc.mpich
    local ranks io
    for ranks in 1 2 3 4; do
        for io in $ZMPI_TEST_IO; do
            OMPI_MCA_io=$io random_programs build "$ranks" mpirun.openmpi --oversubscribe
        done
        random_programs build-mpich "$ranks" mpirun.mpich
    done
}

# Every function job_NAME is the job NAME.
mapfile -t all < <(declare -F | sed -n 's/^declare -f job_//p')
failed=()
echo "== NIGHTLY_SEED=$seed"
for job in "${@:-${all[@]}}"; do
    declare -F "job_$job" >/dev/null || die "no job $job; there are: ${all[*]}"
    echo "== $job"
    # Not in a condition of this shell: inside the job set -e must hold.
    (job_"$job") &
    wait $! || failed+=("$job")
done
((${#failed[@]} == 0)) || die "failed: ${failed[*]}"

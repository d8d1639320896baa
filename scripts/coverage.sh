#!/bin/bash
# coverage.sh [STAGE...]: builds with gcov, runs tests, and prints which share of the lines and branches of codec, pmpi and smartnic
# they execute, and the files with the least. build-coverage/coverage.txt has every file, with the lines that nothing ran.
#
# Stages, by default all: unit cli smartnic libraries ranks1 ranks2 ranks3 ompio faults mpich. A stage adds to earlier counts, so
# that stages can run at different times; "fresh" forgets the counts, "report" only prints:
#     scripts/coverage.sh fresh unit cli && scripts/coverage.sh ranks1 ranks2
#
# It leaves out vector kernels, which tests/unit/kernels/ compares with the scalar ones value by value, and smartnic/rtl/, which
# rtl.* simulate. It counts branches twice: all, and without the exceptions that scripts/coverage_report.py names.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

# Tests by stage, without those that compare values for minutes by loops that shorter tests execute too.
long='^unit\.(kernels|fields|steady)|^cuda\.(kernels|emulator|plugin)|^cli\.(kill|power|damage|no_memory|same_numbers)|\.(ompio|emulated)$|\.(coll_)?large\.'
declare -A tests=(
    [unit]='^unit\.|^huffman\.|^rtl\.books|^python_reader$'
    [cli]='^cli\.|^mpi\.(wrappers|preload|mixed_jobs|late_)|^perf\.|^install\.site|^wse\.mpi'
    [smartnic]='^smartnic\.|^cli\.flare_|^rtl\.(service|flare_[a-z]*)$'
    [libraries]='^mpi\.(library|hdf5|netcdf|h5py|pnetcdf)|^cuda\.(file|coll|element|startup|failing)'
    [ranks1]='^mpi\..*\.np1\.' [ranks2]='^mpi\..*\.np2\.' [ranks3]='^mpi\..*\.np3\.'
    [faults]='^mpi\.(failing_|no_memory)|^cli\.no_memory'
    [ompio]='^mpi\.(renamed|plain_others|sessions|hints|late_hints|tools|replace|missing|plain|differential|nonblocking|shared|sizes|modes|atomic|rdwr)\..*\.ompio$'
    [mpich]='^mpi\.(large_counts|mixed(_jobs)?|missing|several|shared|views|types_f90|gather|finalize|nonblocking|late_none)(\.|$)'
)
order=(unit cli smartnic libraries ranks1 ranks2 ranks3 ompio faults mpich)

run() {
    local left_out=$long build=build-coverage
    if [[ $1 == mpich ]]; then # another library of the same sources
        build="build-coverage/mpich"
        cmake --preset coverage -B $build --log-level=WARNING -DMPI_C_COMPILER=mpicc.mpich -DZMPI_MPI= -DZMPI_TEST_GROUPS=mpi
        cmake --build $build --parallel "$(nproc)"
    fi
    [[ $1 != cli ]] || left_out+='|^cli\.flare_' # of smartnic/model/
    [[ $1 != ranks* ]] || left_out+='|^mpi\.(failing_|no_memory)'
    [[ $1 != faults && $1 != ompio ]] || left_out='failing_writes.*\.ompio$'
    echo "stage $1"
    ctest --test-dir $build --parallel $(($(nproc) * 2)) --timeout 900 -R "${tests[$1]}" -E "$left_out" | tail -20 || true
}

stages=("$@")
((${#stages[@]})) || stages=(fresh "${order[@]}")
for stage in "${stages[@]}"; do
    [[ $stage == fresh || $stage == report || -n ${tests[$stage]:-} ]] || die "no such stage: $stage; there are fresh, report, ${order[*]}"
done
need_packages gcovr
cmake --preset coverage --log-level=WARNING -DMPI_C_COMPILER=mpicc.openmpi
cmake --build build-coverage --parallel "$(nproc)"
for stage in "${stages[@]}"; do
    case $stage in
    fresh) find build-coverage -name '*.gcda' -delete ;;
    report) ;;
    *) run "$stage" ;;
    esac
done

gcovr --root . --object-directory build-coverage --filter 'codec/' --filter 'pmpi/' --filter 'smartnic/' --exclude 'smartnic/rtl/' \
    --exclude '.*/(avx|hash_avx|neon|vector_|huffman_avx).*' --exclude '.*/bench.*' --exclude-throw-branches \
    --gcov-ignore-parse-errors --txt build-coverage/coverage.txt --json build-coverage/coverage.json 2>build-coverage/gcovr.log
python3 scripts/coverage_report.py build-coverage/coverage.json

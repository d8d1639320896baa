#!/bin/bash
# bench_components.sh [-d FOLDER] [-r "RANKS..."] [-m MBYTES] [-n REPETITIONS] DATA: what it costs if variables take turns.
#
#   DATA            folder of the real fields (../shared/data)
#   -d FOLDER       where the files go (/dev/shm)
#   -r RANKS        numbers of ranks ("1 2 4")
#   -m MBYTES       data of each rank (50)
#   -n REPETITIONS  the best of them counts (5)
#
# Prints, for writing and reading, the processor time of variables that are stored one behind the other (ZMPI_COMPONENTS=N:slow)
# as a part of the time of the same variables taking turns (N). Builds what it needs in build.
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"

folder=/dev/shm ranks='1 2 4' megabytes=50 repetitions=5
while getopts d:r:m:n:h option; do
    case $option in
    d) folder=$OPTARG ;;
    r) ranks=$OPTARG ;;
    m) megabytes=$OPTARG ;;
    n) repetitions=$OPTARG ;;
    h)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
done
shift $((OPTIND - 1))
data=$(realpath "${1:?usage: bench_components.sh [-d FOLDER] [-r RANKS] [-m MBYTES] [-n REPETITIONS] DATA}")
cd "$(dirname "$0")/../.."
build=${BENCH_BUILD:-build}
[[ -f $build/CMakeCache.txt ]] || cmake --preset release -B "$build" --log-level=WARNING -DMPI_C_COMPILER=mpicc.openmpi
cmake --build "$build" --target libzmpi.so interleaved --parallel "$(nproc)" >/dev/null
mpiexec=$(cache_value "$build" MPIEXEC_EXECUTABLE)
library=$(realpath "$build/lib/libzmpi.so")
program=$(realpath "$build/bin/interleaved")
file=$folder/bench_components.$$.bin
trap 'rm -f "$file"' EXIT

echo '| field | variables | encoder | ranks | written | read |'
echo '| --- | --: | --- | --: | --: | --: |'
for field in 'plot3d_combustor_5x25x33x57.f32 5 blocks' 'plot3d_post_5x38x76x38.f32 5 blocks' \
    'nyx_particles_32768x7.f64 7 mixed' 'galaxy_radeccz_3x84383.f64 3 blocks' 'femm_b_3x47x47x47.f64 3 blocks' \
    'vmec_modes_9x201x242.f64 9 blocks'; do
    read -r name n layout <<<"$field"
    for codec in fle huffman; do
        for count in $ranks; do
            read -r written got written_apart got_apart < <(
                run_mpi "$mpiexec" "$count" "LD_PRELOAD=$library" ZMPI_ERROR_BOUND=rel=1e-3 "ZMPI_CODEC=$codec" \
                    ZMPI_THREADS=1 ZMPI_REPORT_TEXT=off -- "$program" "$data/$name" "${name##*.}" "$n" "$layout" \
                    "$megabytes" "$repetitions" "$file"
            )
            printf '| %s | %d | %s | %d | %s |\n' "${name%%_[0-9]*}" "$n" "$codec" "$count" \
                "$(python3 -c "print(f'{$written_apart / $written:.2f} | {$got_apart / $got:.2f}')")"
        done
    done
done

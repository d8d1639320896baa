#!/bin/bash
# bench_judge.sh [-m "MBYTES..."] [-n REPETITIONS] DATA: what it costs to judge the data of a call (type, byte order, shape ...).
#
#   DATA            folder of the real fields (../shared/data)
#   -m MBYTES       sizes of the call, each with `warm` if the data were just computed; own: whole fields
#                   ("own own:warm 0.25:warm 1:warm 4:warm 4 24 64")
#   -n REPETITIONS  the median of them counts (9)
#
# Prints percentages of the time in which one thread finds the range and codes by fle: for type and byte order; for all questions of
# every call; for those of the first call of a length; for the mean of 100 calls; then how much longer each call takes. There is
# a line for each field, then the mean, median, worst and sum (of all times) of the fields of one variable, and of all. Builds what
# it needs in build.
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"

sizes='own own:warm 0.25:warm 1:warm 4:warm 4 24 64' repetitions=9
while getopts m:n:h option; do
    case $option in
    m) sizes=$OPTARG ;;
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
data=$(realpath "${1:?usage: bench_judge.sh [-m MBYTES...] [-n REPETITIONS] DATA}")
several=nyx_particles,qmcpack_density_g,galaxy_radeccz # variables that take turns
cd "$(dirname "$0")/../.."
build=${BENCH_BUILD:-build}
[[ -f $build/CMakeCache.txt ]] || cmake --preset release -B "$build" --log-level=WARNING
cmake --build "$build" --target judge_cost --parallel "$(nproc)" >/dev/null
for size in $sizes; do
    state=cold
    [[ $size == *:warm ]] && state=warm
    mbytes=${size%:*}
    [[ $mbytes == own ]] && title='whole fields' || title="$mbytes MiB"
    printf '%s\n%-36s %8s %8s %8s %8s %8s\n' "$title, $state" '% of coding time' type 'each call' 'first' '100 calls' longer
    "$build/bin/judge_cost" "$mbytes" "$repetitions" "$state" "$several" "$data"/*.f32 "$data"/*.f64
done

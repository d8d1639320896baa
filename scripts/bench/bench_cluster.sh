#!/bin/bash
# bench_cluster.sh [-o FOLDER] [-s SIZE] [-n N] [-l LINKS] [-r RATES] [FILE]: zmpi on the emulated cluster of cluster.sh.
#
#   -o FOLDER   where the results go (cluster-results)
#   -s SIZE     of each rank's data (64M)
#   -n N        repetitions (5), after some that are not counted: two, six of collectives
#   -l LINKS    rates of the nodes' links ("1gbit 2.5gbit 5gbit")
#   -r RATES    of the storage, bytes a second ("200M 500M"), empty: no file is measured
#   FILE        raw field NAME_DIMS.f32 or .f64 (les_wmag of the folder ZMPI_DATA names, ../shared/data, else generated)
#
# For each link it measures collectives at rel=1e-3 on 4 nodes: plain, always compressed, and by measured times; some also on 2
# and 3 nodes, and at the first link also other bounds. For each storage rate it measures writing and reading, with links that
# are not limited. It writes one JSON file per run, table.txt, predicted.md (what min(link, codec) predicts beside what was
# measured) and the pictures of plot_perf.sh. It runs what is built in BENCH_BUILD (build). Other work on the machine makes
# compression look slower.
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"

out=cluster-results size=64M repetitions=5 links='1gbit 2.5gbit 5gbit' rates='200M 500M'
while getopts o:s:n:l:r:h option; do
    case $option in
    o) out=$OPTARG ;;
    s) size=$OPTARG ;;
    n) repetitions=$OPTARG ;;
    l) links=$OPTARG ;;
    r) rates=$OPTARG ;;
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
out=$(realpath -m "$out")
field=${1:+$(realpath -e "$1")}
cd "$(dirname "$0")/../.."

build=$(realpath "${BENCH_BUILD:-build}")
perf=$build/bin/zmpi-perf
[[ -x $perf ]] || die "there is no $perf: cmake --preset release && cmake --build build, or BENCH_BUILD=FOLDER"
if [[ ! $field ]]; then
    field=${ZMPI_DATA:-../shared/data}/les_wmag_91x91x91.f32
    if [[ -f $field ]]; then field=$(realpath "$field"); else field=; fi
fi

# dims_of FILE: the extents at the end of its name, leading ones folded into three.
dims_of() {
    local dims=${1%.*}
    dims=${dims##*_}
    [[ $dims =~ ^[0-9]+(x[0-9]+)*$ ]] || die "$1: its name must end in its extents, as in pressure_64x128x128.f32"
    while [[ $dims == *x*x*x* ]]; do
        local rest=${dims#*x}
        dims=$((${dims%%x*} * ${rest%%x*}))x${rest#*x}
    done
    echo "$dims"
}

data=(-s "$size" -n "$repetitions")
[[ ! $field ]] || data+=(-f "$field" -d "$(dims_of "$field")")

mkdir -p "$out"
rm -f "$out"/*.json
: >"$out/table.txt"
name=bench$$
cluster() {
    scripts/cluster.sh --name "$name" "$@"
}
# In memory: a disk below the emulated storage would limit its rate.
[[ -w /dev/shm ]] || die "files are written to /dev/shm, which is not there"
files=$(mktemp -d /dev/shm/zmpi-bench.XXXXXX)
trap 'cluster down >/dev/null 2>&1 || true; rm -rf "$files"' EXIT
# Killed by a signal the shell must still clean up.
trap 'exit 143' TERM HUP
trap 'exit 130' INT

# measure NAME RANKS OPTION...: one run of zmpi-perf, its JSON to NAME.json.
measure() {
    local run=$1 ranks=$2
    shift 2
    echo "== $run" | tee -a "$out/table.txt"
    cluster run -n "$ranks" -- "$perf" "${data[@]}" --note "shared_cores=$(nproc)" -j "$out/$run.json" "$@" |
        tee -a "$out/table.txt"
}

first=
for link in $links; do
    cluster up --nodes 4 --link "$link"
    # `measured` tries both ways, each twice, before it keeps one.
    measure "collectives-$link" 4 -w 6 --note "link=$link" -e rel=1e-3 -m always,measured \
        -o gather,scatter,allgather,alltoall,bcast,bcast_lossy
    for ranks in 2 3; do
        measure "collectives-$link-$ranks" "$ranks" --note "link=$link" -e rel=1e-3 -o gather,scatter,alltoall
    done
    if [[ ! $first ]]; then
        first=$link
        measure "bounds-$link" 4 --note "link=$link" -e rel=1e-2,rel=1e-4,rel=1e-5,lossless -o gather
    fi
    cluster down
done

for rate in $rates; do
    cluster up --nodes 4 --link none
    cluster storage --rate "$rate" "$files"
    measure "files-$rate" 4 --note "storage=$rate" -e rel=1e-3 --directory "$files" --sync \
        -o write_at_all,write_at,read_at_all,read_at
    for ranks in 1 2; do
        measure "files-$rate-$ranks" "$ranks" --note "storage=$rate" -e rel=1e-3 --directory "$files" --sync \
            -o write_at_all,read_at_all
    done
    cluster down
done

results=("$out"/*.json)
[[ -e ${results[0]} ]] || die "nothing to measure: no links and no storage rates"
scripts/perf_model.py "${results[@]}" | tee "$out/predicted.md"
scripts/plot_perf.sh -o "$out" "${results[@]}"

#!/bin/bash
# bench_nic.sh [-p PROVIDER] [-q] [OPTION...]: what zmpi-nicd takes off the host: throughput, latency and the host's processor time,
# beside compressing in the process itself. -q: few sizes. Other options go to zmpi-nicd. Where the daemon shares the cores
# of its clients, as here, its work competes with theirs; run it on the SmartNIC or DPU for figures of one (ZMPI_NIC=FILE: of a
# daemon that runs already).
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

providers=("tcp;ofi_rxm" shm)
sizes=(1K 4K 16K 64K 256K 1M 4M 16M 64M 256M)
clients=(1 2 4 8 16)
seconds=1
while getopts p:q option; do
    case $option in
    p) providers=("$OPTARG") ;;
    q) sizes=(1K 4K 16K 64K 1M 16M 256M) clients=(1 4 16) seconds=0.3 ;;
    *) die "usage: bench_nic.sh [-p PROVIDER] [-q] [-- OPTION of zmpi-nicd...]" ;;
    esac
done
shift $((OPTIND - 1))

build=${ZMPI_BUILD:-build}
[[ -d $build ]] || cmake --preset release -B "$build" --log-level=WARNING
cmake --build "$build" --target bench_nic zmpi-nicd zmpi_smartnic >/dev/null
export ZMPI_PLUGIN_PATH=$build/lib/zmpi

daemon=
work=$(mktemp -d)
trap '[[ -z $daemon ]] || kill "$daemon" 2>/dev/null; rm -rf "$work"' EXIT

# measure TITLE: all sizes by one client, two of them by several.
measure() {
    local n codec
    for codec in fle huffman; do
        echo "== $1, $codec"
        "$build/bin/bench_nic" -t "$seconds" -c "$codec" "${sizes[@]}"
        for n in "${clients[@]:1}"; do
            "$build/bin/bench_nic" -t "$seconds" -c "$codec" -n "$n" 64K 4M | tail -n +2
        done
    done
}

echo "== $(nproc) CPUs, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(uname -sr)"
if [[ -n ${ZMPI_NIC:-} ]]; then
    measure "daemon of $ZMPI_NIC"
    exit
fi
export ZMPI_NIC=$work/nic
for provider in "${providers[@]}"; do
    "$build/bin/zmpi-nicd" --provider "$provider" --memory 2G --timeout 30 "$@" "$ZMPI_NIC" &
    daemon=$!
    for ((i = 0; i < 100; i++)); do [[ -e $ZMPI_NIC ]] && break || sleep 0.1; done
    [[ -e $ZMPI_NIC ]] || die "zmpi-nicd does not start"
    measure "$provider, the daemon on the same cores"
    kill "$daemon"
    wait "$daemon"
    daemon=
done

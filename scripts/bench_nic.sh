#!/bin/bash
# bench_nic.sh [-p PROVIDER] [-q] [-w] [OPTION...]: what zmpi-nicd takes off the host: throughput, latency and the host's processor time,
# beside compressing in the process itself. -q: few sizes. -w: of an MPI program's write calls. Other options go to zmpi-nicd. Where the daemon shares the cores
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
writes=
while getopts p:qw option; do
    case $option in
    p) providers=("$OPTARG") ;;
    q) sizes=(1K 4K 16K 64K 1M 16M 256M) clients=(1 4 16) seconds=0.3 ;;
    w) writes=1 ;;
    *) die "usage: bench_nic.sh [-p PROVIDER] [-q] [-w] [-- OPTION of zmpi-nicd...]" ;;
    esac
done
shift $((OPTIND - 1))

build=${ZMPI_BUILD:-build}
[[ -d $build ]] || cmake --preset release -B "$build" --log-level=WARNING
cmake --build "$build" --target bench_nic bench_write lib/libzmpi.so zmpi-nicd zmpi_smartnic >/dev/null
export ZMPI_PLUGIN_PATH=$build/lib/zmpi

daemon=
work=$(mktemp -d)
trap '[[ -z $daemon ]] || kill "$daemon" 2>/dev/null; rm -rf "$work"' EXIT

# measure_writes TITLE: by the CPU, by the daemon, and written by the daemon.
measure_writes() {
    local codec device
    for codec in fle huffman; do
        for device in "cpu off" "smartnic off" "smartnic on"; do
            echo "== $1, $codec, ZMPI_DEVICE and ZMPI_NIC_WRITE: $device"
            env -u ZMPI_BUILD LD_PRELOAD="$build/lib/libzmpi.so" ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_CODEC="$codec" ZMPI_REPORT_TEXT=off \
                ZMPI_DEVICE="${device% *}" ZMPI_NIC_WRITE="${device#* }" "$build/bin/bench_write" "$work/file" 10 150 4194304 16777216 67108864
        done
    done
}

# measure TITLE: all sizes by one client, two of them by several.
measure() {
    local n codec
    if [[ -n $writes ]]; then
        measure_writes "$1"
        return
    fi
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
    "$build/bin/zmpi-nicd" --provider "$provider" --memory 2G --timeout 30 --files "$work" "$@" "$ZMPI_NIC" &
    daemon=$!
    for ((i = 0; i < 100; i++)); do [[ -e $ZMPI_NIC ]] && break || sleep 0.1; done
    [[ -e $ZMPI_NIC ]] || die "zmpi-nicd does not start"
    measure "$provider, the daemon on the same cores"
    kill "$daemon"
    wait "$daemon"
    daemon=
done

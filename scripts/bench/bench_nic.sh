#!/bin/bash
# bench_nic.sh [-a] [-p PROVIDER] [-w] [-- OPTION...]: what zmpi-nicd takes off the host: throughput, latency and processor time,
# beside compression in the process itself, in turns, without files and with files that the daemon writes.
#
#   (none)  a few seconds, to see that it works
#   -a      1 to 16 clients, 1 KiB to 256 MiB: about ten minutes
#   -w      write calls of an MPI program
#
# Other options go to zmpi-nicd. If the daemon runs on the cores of its clients, as by default, it competes with them. For figures
# of a SmartNIC or DPU, start the daemon there (with --files /tmp if it should write), and name its file by ZMPI_NIC=FILE.
# ZMPI_BUILD names the build folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

providers=("tcp;ofi_rxm" shm)
sizes=(1K 64K 1M)
clients=(1 2)
turns=(-t 0.02 -r 1)
writes=
while getopts ap:w option; do
    case $option in
    a) sizes=(1K 4K 16K 64K 256K 1M 4M 16M 64M 256M) clients=(1 2 4 8 16) turns=(-t 0.1 -r 3) ;;
    p) providers=("$OPTARG") ;;
    w) writes=1 ;;
    *) die "usage: bench_nic.sh [-a] [-p PROVIDER] [-w] [-- OPTION of zmpi-nicd...]" ;;
    esac
done
shift $((OPTIND - 1))

build=${ZMPI_BUILD:-build}
[[ -d $build ]] || cmake --preset release -B "$build" --log-level=WARNING
cmake --build "$build" --target bench_nic zmpi-nicd zmpi_smartnic ${writes:+bench_write lib/libzmpi.so} >/dev/null
export ZMPI_PLUGIN_PATH=${ZMPI_PLUGIN_PATH:-$build/lib/zmpi}

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

# measure TITLE: all sizes, by so many clients at once.
measure() {
    local n codec
    if [[ -n $writes ]]; then
        measure_writes "$1"
        return
    fi
    for codec in fle huffman; do
        echo "== $1, $codec"
        for n in "${clients[@]}"; do
            "$build/bin/bench_nic" "${turns[@]}" -c "$codec" -n "$n" -f "$work" "${sizes[@]}"
        done
    done
}

echo "== $(nproc) CPUs, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(uname -sr), load $(cut -d' ' -f1 /proc/loadavg)"
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

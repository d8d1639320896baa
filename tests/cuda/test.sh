#!/bin/bash
# test.sh tool|faults|probe|bench: the CUDA plug-in on the emulated runtime.
set -euo pipefail
zmpi=$ZMPI_TEST_BIN/zmpi

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# seen OPTION... PATTERN: grep that reads all: what writes to one that has gone is ended by a signal.
seen() {
    grep "$@" >/dev/null
}

# shellcheck source=tests/device_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../device_lib.sh"
rm -f cpu.bytes must

# compare DEVICE ARGUMENT...: compressed on the device and, once for the same arguments, on the CPU; prints what the tool says
# on the device.
compare() {
    local device=$1
    shift
    if [[ ! -e cpu.bytes || $(cat cpu.arguments) != "$*" ]]; then
        ZMPI_DEVICE=cpu "$zmpi" compress "$@" field.f32 cpu.z
        payload cpu.z cpu.bytes
        echo "$*" >cpu.arguments
    fi
    ZMPI_DEVICE=$device "$zmpi" compress -v "$@" field.f32 device.z 2>&1
    payload device.z device.bytes
    [[ -s cpu.bytes ]] || fail "no stream found in cpu.z"
    cmp -s cpu.bytes device.bytes || fail "compress $*: other bytes on $device than on the CPU"
}

tool() {
    local bound
    field field.f32
    for bound in abs=0.01 rel=1e-4 lossless; do
        compare cuda -t f32 -e "$bound" -d 10x20x30 | seen '^device cuda (ZMPI_DEVICE=cuda)' ||
            fail "$bound: the device was not used"
    done
    compare cuda -t f32 -e psnr=50 | seen '^device cuda' || fail "psnr: the device was not used"
    ZMPI_DEVICE=cuda "$zmpi" decompress -v device.z back.f32 | seen '^device cuda (ZMPI_DEVICE=cuda)' || fail "not decoded on the device"
    ZMPI_DEVICE=cpu "$zmpi" cat device.z | cmp - back.f32 || fail "other values than on the CPU"
    # auto says why, in the log too.
    ZMPI_LOG=info compare auto -t f32 -e abs=0.01 >auto.log
    grep -q '^device cpu (24000 bytes: .* ms expected)' auto.log ||
        grep -q '^device cuda (24000 bytes: .* ms expected, on the CPU' auto.log || fail "auto: $(cat auto.log)"
    grep -q 'device auto: .* for 24000 bytes in host memory' auto.log || fail "auto says nothing: $(cat auto.log)"
}

# Each call of the runtime fails, the first time and for good: one line, the same bytes, and the same values back.
faults() {
    local call lines
    field field.f32
    for call in cudaMallocAsync cudaMallocHost cudaStreamCreate cudaEventCreateWithFlags cudaEventRecord cudaEventSynchronize \
        cudaMemcpyAsync cudaStreamSynchronize cudaLaunchKernel cudaGetDevice cuCtxPushCurrent_v2 kernel copy; do
        for when in 1 2 1+; do
            ZMPI_EMU_FAIL=$call:$when compare cuda -t f32 -e rel=1e-3 >log
            lines=$(grep -c '^zmpi' log || true)
            ((lines <= 1)) || fail "$call:$when: $lines lines: $(cat log)"
            ZMPI_EMU_FAIL=$call:$when ZMPI_DEVICE=cuda "$zmpi" decompress cpu.z is 2>log.back
            [[ -e must ]] || ZMPI_DEVICE=cpu "$zmpi" decompress cpu.z must
            cmp is must || fail "$call:$when: other values"
            (($(wc -l <log.back) <= 1)) || fail "$call:$when: $(cat log.back)"
            [[ $when != 1+ ]] || seen 'cpu.z: device cuda: .*; using the CPU from here on' log.back || fail "$call:$when: $(cat log.back)"
            if [[ $when == 1+ ]]; then
                grep -q '^device cpu (another device failed)' log || fail "$call:$when: $(cat log)"
                grep -q 'field.f32: device cuda: .*; using the CPU from here on' log || fail "$call:$when: $(cat log)"
            fi
        done
    done
    # Too little memory is a failure like another.
    ZMPI_EMU_MEMORY=30000 compare cuda -t f32 -e rel=1e-3 >log
    grep -q 'device cuda: cudaMallocAsync: .*; using the CPU' log || fail "no memory: $(cat log)"
}

# What is missing is said in a few words.
probe() {
    ZMPI_EMU_DEVICES=0 "$zmpi" options | seen -x '  cuda       no NVIDIA GPU is visible to this process' || fail "no GPU"
    ZMPI_EMU_DEVICES=-1 "$zmpi" options | seen -E '  cuda       .*driver is too old' || fail "an old driver"
    "$zmpi" options | seen -x '  cuda       ready' || fail "not ready"
    field field.f32
    if ZMPI_EMU_DEVICES=0 ZMPI_DEVICE=cuda "$zmpi" compress -t f32 -e abs=1 field.f32 x.z 2>log; then
        fail "ZMPI_DEVICE=cuda without a GPU"
    fi
    grep -q 'ZMPI_DEVICE=cuda: no NVIDIA GPU' log || fail "$(cat log)"
    # The real plug-in, if it was built, opens where there is neither driver nor toolkit.
    if [[ -e $ZMPI_TEST_PLUGINS/libzmpi_cuda.so ]]; then
        ZMPI_PLUGIN_PATH=$ZMPI_TEST_PLUGINS "$zmpi" options | grep -E '^  cuda       (ready|no NVIDIA|the NVIDIA|no GPU|CUDA does)' ||
            fail "the plug-in that nvcc built: $(ZMPI_PLUGIN_PATH=$ZMPI_TEST_PLUGINS "$zmpi" options | tail -1)"
    fi
}

# The benchmark for machines with a GPU runs here too, on little.
bench() {
    "$ZMPI_TEST_SOURCE/scripts/bench/bench_gpu.sh" --emulated "$ZMPI_TEST_BIN/bench_gpu_emulated" --json bench.json >bench.log ||
        fail "bench_gpu.sh: $(cat bench.log)"
    grep -q 'the same bytes and values as on the CPU' bench.log || fail "no check: $(cat bench.log)"
    python3 -c 'import json; b = json.load(open("bench.json")); assert b["gpu"] and b["date"], b'
    python3 -c 'import json; b = json.load(open("bench.json")); assert sum(len(v) for v in b.values() if isinstance(v, list)) > 8, b'
    (($(grep -c '^reset by .*: the device is used again' bench.log) == 2)) || fail "resets: $(cat bench.log)"
    grep -q 'compression at .* of the rate of a copy' bench.log || fail "no summary: $(cat bench.log)"
    # A tool that complains, or has no time, is a failure.
    printf '#!/bin/bash\n[[ "$*" != "--tool racecheck "* ]] || exit 9\n' >sanitizer
    chmod +x sanitizer
    if ZMPI_BENCH_SANITIZER=$PWD/sanitizer "$ZMPI_TEST_SOURCE/scripts/bench/bench_gpu.sh" --emulated true >log 2>&1; then
        fail "a tool's complaint is lost: $(cat log)"
    fi
    if ! grep -q 'compute-sanitizer racecheck: FAILED, exit status 9 ' log || [[ $(grep -c FAILED log) != 1 ]]; then
        fail "a tool's complaint: $(cat log)"
    fi
    if ZMPI_BENCH_SANITIZER=$PWD/sanitizer "$ZMPI_TEST_SOURCE/scripts/bench/bench_gpu.sh" --seconds 1 --emulated true >log 2>&1; then
        fail "no time for tools, and no failure: $(cat log)"
    fi
    if ZMPI_EMU_DEVICES=0 "$ZMPI_TEST_SOURCE/scripts/bench/bench_gpu.sh" --emulated "$ZMPI_TEST_BIN/bench_gpu_emulated" 2>log; then
        fail "bench_gpu.sh without a GPU"
    fi
    if [[ $(wc -l <log) != 1 ]] || ! grep -q 'no NVIDIA GPU' log; then
        fail "without a GPU: $(cat log)"
    fi
}

"$1"

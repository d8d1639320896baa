#!/bin/bash
# test.sh tool|settings|rows|sdk|mpi: the wse plug-in, by the tool and in an MPI program.
set -euo pipefail
zmpi=$ZMPI_TEST_BIN/zmpi

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# shellcheck source=tests/device_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../device_lib.sh"
field field.f32

tool() {
    local arguments by
    for arguments in '-e abs=0.01 -d 10x20x30' '-e rel=1e-4' '-e ratio=5 --codec fle' '-e lossless' '-e psnr=50'; do
        # shellcheck disable=SC2086
        ZMPI_DEVICE=cpu "$zmpi" compress -t f32 $arguments field.f32 cpu.z
        # shellcheck disable=SC2086
        ZMPI_LOG=info ZMPI_DEVICE=wse "$zmpi" compress -v -t f32 $arguments field.f32 device.z >log 2>&1
        case $arguments in
        *lossless* | *psnr*) by='device cpu (ZMPI_DEVICE=wse, which did not take it)' ;;
        *) by='device wse (ZMPI_DEVICE=wse)' ;;
        esac
        grep -q "^$by" log || fail "$arguments: not by $by: $(cat log)"
        payload cpu.z cpu.bytes
        payload device.z device.bytes
        [[ -s cpu.bytes ]] || fail "no stream found in cpu.z"
        cmp cpu.bytes device.bytes || fail "$arguments: other bytes than on the CPU"
        ZMPI_DEVICE=cpu "$zmpi" decompress cpu.z cpu.back
        ZMPI_LOG=info ZMPI_DEVICE=wse "$zmpi" decompress -v cpu.z device.back >back 2>&1
        grep -q '^device' back || fail "$arguments: back by whom? $(cat back)"
        cmp cpu.back device.back || fail "$arguments: other values than on the CPU"
        ZMPI_DEVICE=wse "$zmpi" cat cpu.z | cmp - cpu.back || fail "$arguments: other values by cat"
        case $arguments in
        *abs* | *rel* | *ratio*)
            grep -q ' compress: [1-9][0-9]* chunks on PEs (simulated), 0 on the host' log || fail "not by PEs: $(cat log)"
            grep -q "^$by" back || fail "$arguments: not back by $by: $(cat back)"
            grep -q ' decompress: [1-9][0-9]* chunks on PEs (simulated), 0 on the host' back || fail "not back by PEs: $(cat back)"
            ;;
        esac
    done
    # auto never takes it.
    ZMPI_LOG=info ZMPI_DEVICE=auto "$zmpi" compress -v -t f32 -e abs=0.01 field.f32 auto.z 2>&1 | grep -q '^device cpu' ||
        fail "auto does not take the CPU"
}

settings() {
    local setting
    for setting in ZMPI_WSE_PES=0x3 ZMPI_WSE_PES=3 ZMPI_WSE_PES=33x1 ZMPI_WSE_PES=2x2x ZMPI_WSE_PIPELINE=0 ZMPI_WSE_PIPELINE=3 ZMPI_WSE_PEST=1x1 ZMPI_WSE_SEED=abc ZMPI_WSE_ADDRESS=1.2.3.4:9; do
        ! env "$setting" ZMPI_DEVICE=wse "$zmpi" compress -t f32 -e abs=0.01 field.f32 bad.z 2>log || fail "$setting is accepted"
        grep -q 'ZMPI_WSE_' log || fail "$setting: $(cat log)"
    done
    for setting in ZMPI_WSE_PES=1x1 ZMPI_WSE_PES=3x5 ZMPI_WSE_SEED=9; do
        env "$setting" ZMPI_DEVICE=wse "$zmpi" compress -t f32 -e abs=0.01 field.f32 "$setting.z"
        ZMPI_DEVICE=cpu "$zmpi" compress -t f32 -e abs=0.01 field.f32 cpu.z
        payload cpu.z cpu.bytes
        payload "$setting.z" device.bytes
        cmp cpu.bytes device.bytes || fail "$setting: other bytes than on the CPU"
    done
}

# Chunks for rows of PEs, in short and long pipelines; back by `bench`, which reads by the device.
rows() {
    local pipeline
    python3 -c 'import array, math
array.array("f", (math.sin(0.01 * i) + 0.01 * (i * 7919 % 101) if i % 997 else math.nan for i in range(9000))).tofile(open("rows.f32", "wb"))'
    ZMPI_DEVICE=cpu "$zmpi" compress -t f32 -e abs=0.01 rows.f32 cpu.z
    payload cpu.z cpu.bytes
    for pipeline in 1 4; do
        export ZMPI_DEVICE=wse ZMPI_LOG=info ZMPI_WSE_PES=4x1 ZMPI_WSE_PIPELINE=$pipeline
        "$zmpi" compress -v -t f32 -e abs=0.01 rows.f32 device.z >log 2>&1 || fail "$(cat log)"
        grep -q 'wse: compress: 2 chunks on PEs (simulated), 0 on the host' log || fail "$pipeline: not by PEs: $(cat log)"
        payload device.z device.bytes
        cmp cpu.bytes device.bytes || fail "$pipeline: other bytes than on the CPU"
        "$zmpi" bench -t f32 -e abs=0.01 --repetitions 1 --size 36000 rows.f32 >log 2>&1 || fail "$(cat log)"
        grep -q 'wse: decompress: 2 chunks on PEs (simulated), 0 on the host' log || fail "$pipeline: not back by PEs: $(cat log)"
    done
}

# The vendor's tools are not here: stand-ins show that they are asked what their documents say, and run the kernels in the simulator.
sdk() {
    local sdk file
    sdk=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/sdk
    export ZMPI_LOG=info ZMPI_DEVICE=wse ZMPI_WSE_ENGINE=sdk ZMPI_WSE_PES=4x3 TMPDIR=$PWD ZMPI_TEST_BIN
    ! "$zmpi" compress -t f32 -e abs=0.01 field.f32 none.z 2>log || fail "there is no cslc, and it is not missed"
    grep -q "cslc is not in PATH" log || fail "$(cat log)"
    PATH=$sdk:$PATH "$zmpi" compress -v -t f32 -e abs=0.01 field.f32 device.z >log 2>&1 || fail "$(cat log)"
    grep -q 'compress: 1 chunks on PEs (sdk), 0 on the host' log || fail "$(cat log)"
    grep -q '^device wse' log || fail "$(cat log)"
    PATH=$sdk:$PATH ZMPI_TEST_SDK=fail "$zmpi" compress -v -t f32 -e abs=0.01 field.f32 failed.z >log 2>&1 || fail "$(cat log)"
    grep -q "compress: the vendor's run time: error the wafer is on fire; using the CPU" log || fail "$(cat log)"
    PATH=$sdk:$PATH ZMPI_TEST_DIMS=757,996 ZMPI_WSE_ADDRESS=10.1.2.3:9000 "$zmpi" compress -v -t f32 -e abs=0.01 field.f32 machine.z >log 2>&1 ||
        fail "$(cat log)"
    grep -q 'compress: 1 chunks on PEs (sdk), 0 on the host' log || fail "$(cat log)"
    PATH=$sdk:$PATH ZMPI_TEST_PARAMS=,pipeline:2,groups:224,decode:0 ZMPI_WSE_PIPELINE=2 "$zmpi" compress -v -t f32 -e abs=0.01 field.f32 rows.z >log 2>&1 ||
        fail "$(cat log)"
    grep -q 'compress: 1 chunks on PEs (sdk), 0 on the host' log || fail "$(cat log)"
    ZMPI_DEVICE=cpu "$zmpi" compress -t f32 -e abs=0.01 field.f32 cpu.z
    payload cpu.z cpu.bytes
    for file in device failed machine rows; do
        payload "$file.z" device.bytes
        cmp cpu.bytes device.bytes || fail "$file: other bytes than on the CPU"
    done
    sdk_back ''
    sdk_back 2 ',pipeline:2,groups:+([0-9]),decode:[01]'
    ! ls -d zmpi-wse-?????? 2>/dev/null || fail "folders are left"
}

# quality: what `bench` says of the field decoded, to standard output; its messages to the log.
quality() {
    "$zmpi" bench -t f32 -d 3x20x100 -e abs=0.01 --repetitions 1 --size 24000 --json field.f32 2>log |
        python3 -c 'import json, sys; b = json.load(sys.stdin); print({k: b[k] for k in ("ratio", "psnr", "max_error", "max_relative_error")})'
}

# sdk_back PIPELINE PARAMS: what is decoded has the errors that it has on the CPU.
sdk_back() {
    PATH=$sdk:$PATH ZMPI_TEST_PARAMS=${2-} ZMPI_WSE_PIPELINE=$1 quality >device.quality || fail "$(cat log)"
    grep -q 'decompress: 1 chunks on PEs (sdk), 0 on the host' log || fail "pipeline '$1': not back by PEs: $(cat log)"
    ZMPI_DEVICE=cpu ZMPI_WSE_ENGINE=sim quality >cpu.quality || fail "$(cat log)"
    cmp cpu.quality device.quality || fail "pipeline '$1': $(cat cpu.quality device.quality)"
}

# A program that checks what a bound promises, on two ranks.
mpi() {
    # shellcheck disable=SC2086
    ZMPI_LOG=info ZMPI_DEVICE=wse ZMPI_WSE_PES=2x2 ZMPI_ERROR_BOUND=rel=1e-3 \
        $MPIEXEC -n 2 env LD_PRELOAD="$ZMPI_TEST_LIB" "$ZMPI_TEST_BIN/tests/lossy" >log 2>&1 || fail "lossy: $(tail log)"
    grep -q 'device wse: compress: [1-9][0-9]* chunks on PEs' log || fail "no chunk was coded by PEs: $(tail log)"
    grep -q 'device wse: decompress: [1-9][0-9]* chunks on PEs' log || fail "no chunk was decoded by PEs: $(tail log)"
    ! grep -q 'using the CPU from here on' log || fail "the device failed: $(tail log)"
}

"$1"

#!/bin/bash
# bench_gpu.sh [--json FILE] [--folder FOLDER] [--seconds S] [FIELD.f32:NZxNYxNX...]: checks and measures the CUDA device, on a
# machine with an NVIDIA GPU.
#
# It builds the device and a benchmark in build-gpu/, with nvcc, a C compiler and xxhash.h; it needs no MPI, CMake or network. It
# compares the device with the CPU, on generated fields and the given ones. It measures kernels (beside a copy from device to
# device), whole calls, and files in FOLDER (.). Then it runs the tools of compute-sanitizer, if they are there, in the rest of S
# seconds (240). It prints tables; FILE (gpu.json) gets the same. Exit status 1: something is wrong, a tool complains or had no
# time.
#
# bench_gpu.sh --built PROGRAM ...: the same with a benchmark built elsewhere (`cmake --build build --target bench_gpu`).
# bench_gpu.sh --emulated PROGRAM ...: the same with a benchmark built for the emulator, on tiny fields.
#
# XXHASH_INCLUDE names the folder of xxhash.h if the compiler does not find it; conda, /opt, /usr and HOME are searched.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/lib.sh
. "$top/scripts/lib.sh"

emulated='' built='' json=gpu.json folder=. seconds=240 fields=()
while (($#)); do
    case $1 in
    --emulated | --built | --json | --folder | --seconds)
        (($# > 1)) || die "$1 wants a value"
        declare "${1#--}=$2"
        shift
        ;;
    -*) die "$1: no such option; see the first lines of this script" ;;
    *) fields+=("$1") ;;
    esac
    shift
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "--seconds $seconds: a whole number is wanted"

# compiles_xxhash OPTION...: does the compiler find an xxhash.h that has XXH3?
compiles_xxhash() {
    printf '#define XXH_INLINE_ALL\n#include <xxhash.h>\nXXH64_hash_t f(void) { return XXH3_64bits("", 0); }\n' |
        "$cc" "$@" -w -fsyntax-only -x c - 2>/dev/null
}

# find_xxhash: include gets its folder, if one must be named.
find_xxhash() {
    local found
    if [[ ${XXHASH_INCLUDE:-} ]]; then
        compiles_xxhash -I"$XXHASH_INCLUDE" || die "XXHASH_INCLUDE=$XXHASH_INCLUDE: no xxhash.h (0.8 or later) there"
        include+=(-I"$XXHASH_INCLUDE")
        return
    fi
    if compiles_xxhash; then
        return
    fi
    while IFS= read -r found; do
        if compiles_xxhash -I"$(dirname "$found")"; then
            echo "== $found"
            include+=(-I"$(dirname "$found")")
            return
        fi
    done < <(timeout 20 find ${CONDA_PREFIX:+"$CONDA_PREFIX"} /opt /usr ${HOME:+"$HOME"} -name xxhash.h 2>/dev/null || true)
    die "xxhash.h is missing: install libxxhash-dev, or set XXHASH_INCLUDE to the folder of that one file"
}

# find_gpu: ends the script with one line if there is none.
find_gpu() {
    command -v nvidia-smi >/dev/null || [[ -e /dev/nvidiactl || -e /dev/dxg ]] ||
        die "no NVIDIA GPU or driver on this machine (no nvidia-smi, no /dev/nvidiactl)"
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null || true
}

# find_tools: nvcc, cuda (its folder), sanitizer (or nothing); ends the script with one line if something is missing.
find_tools() {
    nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2>/dev/null) ||
        die "nvcc is missing: install the CUDA toolkit, or set CUDA_HOME"
    cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    sanitizer=$(command -v compute-sanitizer || command -v "$cuda/bin/compute-sanitizer" ||
        command -v "$cuda/compute-sanitizer/compute-sanitizer" || true)
    for headers in "$cuda"/include "$cuda"/targets/*/include; do
        [[ ! -e $headers/cuda_runtime.h ]] || break
    done
    find_gpu
    cc=${CC:-$(command -v cc || command -v gcc || echo cc)}
    command -v "$cc" >/dev/null || die "$cc is missing: install a C compiler"
    include=(-I"$top/codec")
    find_xxhash
}

# build FOLDER: everything except what reads settings, which would need a library.
build() {
    local architecture source object
    mkdir -p "$1"
    rm -f "$1"/*.o
    architecture=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .) || true
    [[ $architecture != sm_ ]] || architecture=native
    echo "== building in $1 for $architecture"
    "$nvcc" -c -O3 -lineinfo -std=c++17 --fmad=false -arch="$architecture" "${include[@]}" "$top/gpu/kernels/kernels.cu" -o "$1/kernels.cu.o" &
    find "$top/codec" "$top/gpu" -name '*.c' ! -path '*/tool/*' ! -path '*/view/*' ! -path '*/options/*' ! -path '*/emulator/*' | while read -r source; do
        object=${source#"$top/"}
        object=${object//\//_}.o
        [[ $object == gpu_kernels_kernels.c.o ]] || printf '%s\0%s\0' "$1/$object" "$source"
    done | xargs -0 -n 2 -P "$(nproc)" "$cc" -O2 -std=gnu17 -ffp-contract=off "${include[@]}" -isystem "$headers" -c -o
    wait $!
    "$nvcc" -o "$1/bench_gpu" "$1"/*.o -Xcompiler=-pthread -ldl -lm
}

# sanitize TOOL...: runs the cases of the quick check; each tool gets its share of the time that is left.
sanitize() {
    local left tool status options
    while (($#)); do
        tool=$1
        left=$(((seconds - SECONDS) / $#))
        shift
        status=124
        options=(--tool "$tool" --error-exitcode 9)
        # Some calls are made so that CUDA refuses them.
        [[ $tool != memcheck ]] || options+=(--report-api-errors no)
        echo "== compute-sanitizer $tool"
        if ((left > 5)); then
            status=0
            timeout "$left" "$sanitizer" "${options[@]}" "$program" --check --quick || status=$?
        fi
        if ((status)); then
            echo "compute-sanitizer $tool: FAILED, exit status $status (124: it had ${left} s, too few)"
            failed+=("$tool")
        fi
    done
}

sanitizer='' failed=()
if [[ $emulated ]]; then
    program=$emulated
    check=(--quick) measure=(--quick --least 0.03 --most 0.06 --seconds 0.001)
    # Replaces the tools, so that this script can be tested.
    sanitizer=${ZMPI_BENCH_SANITIZER:-}
else
    if [[ $built ]]; then
        find_gpu
        sanitizer=$(command -v compute-sanitizer || true)
        program=$built
    else
        find_tools
        build "$top/build-gpu"
        program=$top/build-gpu/bench_gpu
    fi
    check=() measure=(--most 1024 --seconds 0.05)
fi

# If a kernel waits for ever, the benchmark is stopped, and says what it was doing.
timeout -k 10 150 "$program" --check "${check[@]}" "${fields[@]}"
echo "== measuring"
timeout -k 10 150 "$program" --measure "${measure[@]}" --json "$json" --folder "$folder" "${fields[@]}"
echo "== a reset of the device"
timeout -k 10 30 "$program" --reset || failed+=("a reset of the device")
if [[ $sanitizer ]]; then
    sanitize memcheck racecheck synccheck initcheck
elif [[ ! $emulated ]]; then
    echo "== no compute-sanitizer here: not run"
fi
((${#failed[@]} == 0)) || die "failed: $(printf '%s, ' "${failed[@]}")see above"

#!/bin/bash
# bench_gpu.sh [--json FILE] [--folder FOLDER] [FIELD.f32:NZxNYxNX...]: for a machine with an NVIDIA GPU. Builds the CUDA
# device and a benchmark in build-gpu/ (with nvcc and a C compiler; no MPI, no CMake, no network), compares it with the CPU on
# fields from formulas and the given ones, runs compute-sanitizer if there is one, then measures: kernels beside a copy from
# device to device, whole calls, files in FOLDER (.). Prints tables; FILE (gpu.json) gets the same. Under 8 minutes.
#
# bench_gpu.sh --emulated PROGRAM ...: the same with a benchmark that was built for the emulator, on tiny fields.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$top/scripts/lib.sh"

emulated='' json=gpu.json folder=. fields=()
while (($#)); do
    case $1 in
    --emulated | --json | --folder)
        (($# > 1)) || die "$1 wants a value"
        declare "${1#--}=$2"
        shift
        ;;
    -*) die "$1: no such option; see the first lines of this script" ;;
    *) fields+=("$1") ;;
    esac
    shift
done

# find_tools: nvcc, cuda (its folder), sanitizer (or nothing); ends the script with one line if something is missing.
find_tools() {
    nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2>/dev/null) ||
        die "nvcc is missing: install the CUDA toolkit, or set CUDA_HOME"
    cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    sanitizer=$(command -v compute-sanitizer || ls "$cuda/bin/compute-sanitizer" 2>/dev/null || true)
    command -v nvidia-smi >/dev/null || [[ -e /dev/nvidiactl || -e /dev/dxg ]] ||
        die "no NVIDIA GPU or driver on this machine (no nvidia-smi, no /dev/nvidiactl)"
    cc=${CC:-cc}
    command -v "$cc" >/dev/null || die "$cc is missing: install a C compiler"
    include=(-I"$top/codec" -I"$top/gpu" ${XXHASH_INCLUDE:+-I"$XXHASH_INCLUDE"})
    echo '#include <xxhash.h>' | "$cc" "${include[@]}" -E - >/dev/null 2>&1 ||
        die "xxhash.h is missing: install libxxhash-dev, or set XXHASH_INCLUDE to the folder of that one file"
}

# build FOLDER: everything but what reads settings, for which a library is needed.
build() {
    local architecture source object
    mkdir -p "$1"
    rm -f "$1"/*.o
    architecture=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .) || true
    [[ $architecture != sm_ ]] || architecture=native
    echo "== building in $1 for $architecture"
    "$nvcc" -c -O3 -std=c++17 --fmad=false -arch="$architecture" "${include[@]}" "$top/gpu/kernels.cu" -o "$1/kernels.cu.o"
    for source in "$top"/codec/*.c "$top"/gpu/*.c; do
        object=$(basename "$(dirname "$source")")_$(basename "$source" .c).o
        [[ $object == codec_options* || $object == gpu_kernels.o ]] || printf '%s\0%s\0' "$1/$object" "$source"
    done | xargs -0 -n 2 -P "$(nproc)" "$cc" -O2 -std=gnu17 -ffp-contract=off "${include[@]}" -isystem "$cuda/include" -c -o
    "$nvcc" -o "$1/bench_gpu" "$1"/*.o -Xcompiler=-pthread -ldl -lm
}

if [[ $emulated ]]; then
    program=$emulated sanitizer=''
    check=(--quick) measure=(--quick --least 0.03 --most 0.06 --seconds 0.001)
else
    find_tools
    build "$top/build-gpu"
    program=$top/build-gpu/bench_gpu
    check=() measure=()
fi

"$program" --check "${check[@]}" "${fields[@]}"
if [[ $sanitizer ]]; then
    for tool in memcheck racecheck; do
        echo "== compute-sanitizer $tool"
        timeout 100 "$sanitizer" --tool "$tool" --error-exitcode 9 "$program" --check --quick ||
            echo "compute-sanitizer $tool: FAILED, exit status $? (124: it took too long)"
    done
fi
echo "== measuring"
"$program" --measure "${measure[@]}" --json "$json" --folder "$folder" "${fields[@]}"

#!/bin/bash
# test_toolchains.sh [JOB...]: the codec by other compilers, C libraries and headers than the usual: musl, clang (each
# version from 15 on that Debian has packages of), xxhash (0.8.0, the oldest). Warnings are errors; golden files and kernels
# are tested. All jobs, or those named.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

jobs=(musl clang xxhash)
for job in "$@"; do
    [[ " ${jobs[*]} " == *" $job "* ]] || {
        usage >&2
        exit 2
    }
done
need_packages cmake ninja-build pkg-config gcc libc6-dev libxxhash-dev
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# try NAME CMAKE_OPTION...: build-toolchains/NAME. The machine is said to be another one: such builds need no Criterion, but
# something to run by.
try() {
    local name=$1 build=build-toolchains/$1
    shift
    echo "== $name"
    cmake --preset release -B "$build" --log-level=WARNING -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$(uname -m)" \
        -DCMAKE_CROSSCOMPILING_EMULATOR=/usr/bin/env -DZMPI_CODEC_ONLY=ON -DZMPI_WERROR=ON "$@"
    cmake --build "$build" --parallel "$(nproc)" --target zmpi_codec unit_golden unit_kernels
    ctest --test-dir "$build" --parallel "$(nproc)" --output-on-failure --no-tests=error -R 'unit\.(golden|kernels)$'
}

job_musl() {
    need_packages musl-tools
    mkdir -p "$folder/headers"
    cp /usr/include/xxhash.h "$folder/headers/" # alone: beside them are the other C library's
    try musl -DCMAKE_C_COMPILER=musl-gcc -DXXHASH_INCLUDE_DIR="$folder/headers" -DCMAKE_C_FLAGS="-isystem $folder/headers"
}

# The stand-in for Criterion declares a suite weak that is there, of which clang warns.
job_clang() {
    local compiler
    for compiler in clang-{15..20}; do
        if (need_packages "$compiler") >/dev/null 2>&1; then
            try "$compiler" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS=-Wno-ignored-attributes
        else
            echo "== $compiler: not tested, there is no package"
        fi
    done
}

# Debian 11's headers.
job_xxhash() {
    local mirror package=libxxhash-dev_0.8.0-2_amd64.deb
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | grep -m 1 '/debian/*$') ||
        mirror=http://deb.debian.org/debian
    if ! /usr/lib/apt/apt-helper download-file "${mirror%/}/pool/main/x/xxhash/$package" "$folder/$package" >/dev/null 2>&1; then
        echo "== xxHash 0.8.0: not tested, $package cannot be had"
        return
    fi
    dpkg-deb -x "$folder/$package" "$folder/xxhash"
    try xxhash-0.8.0 -DXXHASH_INCLUDE_DIR="$folder/xxhash/usr/include"
}

for job in "${@:-${jobs[@]}}"; do
    "job_$job"
done

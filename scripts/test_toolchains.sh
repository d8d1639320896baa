#!/bin/bash
# test_toolchains.sh [JOB...]: the codec by other compilers, C libraries and headers than the usual: musl, compilers (gcc from 12 on,
# clang from 15 on, each version that this Debian has packages of), xxhash (0.8.0, the oldest, and 0.8.2, whose private
# functions changed). Warnings are errors; golden files and kernels are tested. All jobs, or those named; gcc-13 is that one.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

jobs=(musl compilers xxhash)
for job in "$@"; do
    [[ " ${jobs[*]} " == *" $job "* || $job =~ ^(gcc|clang)-[0-9]+$ ]] || {
        usage >&2
        exit 2
    }
done
need_packages cmake ninja-build pkg-config gcc libc6-dev libxxhash-dev
# From one night to the next little changes.
launcher=()
if (need_packages ccache) && command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# try NAME CMAKE_OPTION...: build-toolchains/NAME. The machine is said to be another one: such builds need no Criterion, but
# something to run by.
try() {
    local name=$1 build=build-toolchains/$1
    shift
    echo "== $name"
    cmake --preset release -B "$build" --log-level=WARNING -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$(uname -m)" \
        -DCMAKE_CROSSCOMPILING_EMULATOR=/usr/bin/env -DZMPI_CODEC_ONLY=ON -DZMPI_WERROR=ON "${launcher[@]}" "$@"
    cmake --build "$build" --parallel "$(nproc)" --target zmpi_codec unit_golden unit_kernels
    ctest --test-dir "$build" --parallel "$(nproc)" --output-on-failure --no-tests=error -R 'unit\.(golden|kernels)$'
}

job_musl() {
    need_packages musl-tools
    mkdir -p "$folder/headers"
    cp /usr/include/xxhash.h "$folder/headers/" # alone: beside them are the other C library's
    try musl -DCMAKE_C_COMPILER=musl-gcc -DXXHASH_INCLUDE_DIR="$folder/headers" -DCMAKE_C_FLAGS="-isystem $folder/headers"
}

# by NAME: the stand-in for Criterion declares a suite weak that is there, of which clang warns.
by() {
    local flags=
    [[ $1 != clang-* ]] || flags=-Wno-ignored-attributes
    if (need_packages "$1") >"$folder/log" 2>&1; then
        try "$1" -DCMAKE_C_COMPILER="$1" -DCMAKE_C_FLAGS="$flags"
    else
        echo "== $1: not tested, there is no package"
    fi
}

job_compilers() {
    local compiler
    for compiler in gcc-{12..16} clang-{15..21}; do
        by "$compiler"
    done
}

# 0.8.0: Debian 11's. 0.8.2: no Debian has it, but a package for Node brings the source along.
job_xxhash() {
    local mirror package=libxxhash-dev_0.8.0-2_amd64.deb
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | grep -m 1 '/debian/*$') ||
        mirror=http://deb.debian.org/debian
    if /usr/lib/apt/apt-helper download-file "${mirror%/}/pool/main/x/xxhash/$package" "$folder/$package" >/dev/null 2>&1; then
        dpkg-deb -x "$folder/$package" "$folder/xxhash"
        try xxhash-0.8.0 -DXXHASH_INCLUDE_DIR="$folder/xxhash/usr/include"
    else
        echo "== xxHash 0.8.0: not tested, $package cannot be had"
    fi
    package=xxhash-addon@2.0.3
    if command -v npm >/dev/null && (cd "$folder" && npm pack "$package") >"$folder/log" 2>&1; then
        tar -xzf "$folder"/xxhash-addon-*.tgz -C "$folder" package/xxHash/xxhash.h
        try xxhash-0.8.2 -DXXHASH_INCLUDE_DIR="$folder/package/xxHash"
    else
        echo "== xxHash 0.8.2: not tested, there is no npm, or it has no $package"
    fi
}

for job in "${@:-${jobs[@]}}"; do
    case $job in
    *-*) by "$job" ;;
    *) "job_$job" ;;
    esac
done

#!/bin/bash
# test_toolchains.sh [JOB...]: builds the codec by other compilers, C libraries and headers than the usual, and tests golden files and
# kernels. Warnings are errors. Jobs: musl, compilers (gcc from 12 on, clang from 14 on, each version that this Debian has), xxhash
# (0.8.0 to 0.8.3); all of them, or those named; gcc-13 is one compiler.
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
# Most objects are the same from one night to the next.
launcher=()
if (need_packages ccache) && command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# try NAME CMAKE_OPTION...: builds in build-toolchains/NAME. CMake is told that it is for another machine: then the build needs
# something that runs programs, but no Criterion.
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
    local musl=(-DCMAKE_C_COMPILER=musl-gcc -DXXHASH_INCLUDE_DIR="$folder/headers" -DCMAKE_C_FLAGS="-isystem $folder/headers")
    try musl "${musl[@]}"
    musl_preload "${musl[@]}"
}

# musl_preload CMAKE_OPTION...: Debian has no MPI library for musl. So libzmpi.so is compiled with MPICH's header, and a program
# without MPI runs with it in front.
musl_preload() {
    need_packages libmpich-dev mpich
    local build=build-toolchains/musl-mpi include library=lib/libzmpi.so
    include=$(mpicc.mpich -show | sed 's/.* -I\([^ ]*\).*/\1/')
    echo "== musl: $library"
    cmake --preset release -B "$build" --log-level=WARNING -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$(uname -m)" \
        -DBUILD_TESTING=OFF -DZMPI_WERROR=ON -DZMPI_MPI= -DZMPI_CUDA=OFF -DCMAKE_EXE_LINKER_FLAGS=-Wl,--allow-shlib-undefined \
        -DMPI_C_LIB_NAMES=mpich -DMPI_mpich_LIBRARY="/usr/lib/$(uname -m)-linux-gnu/libmpich.so" -DMPI_C_HEADER_DIR="$include" \
        -DMPI_C_COMPILER_INCLUDE_DIRS="$include" -DMPIEXEC_EXECUTABLE="$(command -v mpirun.mpich)" "${launcher[@]}" "$@"
    cmake --build "$build" --parallel "$(nproc)" --target libzmpi.so
    cat >"$folder/program.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(RTLD_DEFAULT, "MPI_Init");
    printf("%s\n", init ? "there is MPI_Init" : "there is none");
    fflush(stdout);
    return argc > 1 ? init(&argc, &argv) : 0;
}
C
    musl-gcc "$folder/program.c" -o "$folder/program"
    LD_PRELOAD=$PWD/$build/$library "$folder/program" | grep -q '^there is MPI_Init$' || die "musl: $library was not loaded"
    local said status=0
    said=$(LD_PRELOAD=$PWD/$build/$library "$folder/program" init 2>&1) || status=$?
    [[ $status == 1 && $said == *'no MPI library is loaded'* ]] || die "musl: status $status, '$said'"
}

# by NAME: the stand-in for Criterion declares a suite weak that exists, and clang warns of that.
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
    for compiler in gcc-{12..16} clang-{14..23}; do
        by "$compiler"
    done
}

# with_xxhash MIRROR VERSION: the header of this package.
with_xxhash() {
    local package=libxxhash-dev_$2_amd64.deb name=xxhash-${2%-*}
    if /usr/lib/apt/apt-helper download-file "$1/pool/main/x/xxhash/$package" "$folder/$package" >/dev/null 2>&1; then
        dpkg-deb -x "$folder/$package" "$folder/$name"
        try "$name" -DXXHASH_INCLUDE_DIR="$folder/$name/usr/include"
    else
        echo "== $name: not tested, $package cannot be had"
    fi
}

# From the oldest to the newest: its private parts changed, and its compiled loops too.
job_xxhash() {
    local debian
    debian=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | grep -m 1 '/debian/*$') ||
        debian=http://deb.debian.org/debian
    with_xxhash "${debian%/}" 0.8.0-2                          # Debian 11
    with_xxhash "${debian%/}" 0.8.1-1                          # Debian 12
    with_xxhash http://archive.ubuntu.com/ubuntu 0.8.2-2build1 # Ubuntu 24.04
    with_xxhash "${debian%/}" 0.8.3-2                          # Debian 13
}

for job in "${@:-${jobs[@]}}"; do
    case $job in
    *-*) by "$job" ;;
    *) "job_$job" ;;
    esac
done

#!/bin/sh
# test.sh CMAKE BUILD_DIR MPICC MPIEXEC: a program finds the installed library with CMake and with pkg-config, and runs.
set -eu
cmake=$1
build=$2
mpicc=$3
mpiexec=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/prefix"

# The library must stand before MPI, or its MPI_* are never called.
check() {
    echo "== $1"
    readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -E 'zmpi|mpi' | head -n 1 | grep zmpi
    "$mpiexec" -n 1 "$1"
}

"$cmake" -G Ninja -S "$here/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix"
"$cmake" --build "$work/build"
check "$work/build/consumer"

pc=$(dirname "$(find "$work/prefix" -name zmpi.pc)")
PKG_CONFIG_PATH=$pc
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir zmpi)
# shellcheck disable=SC2046 # several words are meant
"$mpicc" -o "$work/consumer" "$here/consumer/consumer.c" $(pkg-config --cflags --libs zmpi) -Wl,-rpath,"$libdir"
check "$work/consumer"

# Behind MPI it is of no use, and says so where the program asks it for something.
# shellcheck disable=SC2046
"$mpicc" -o "$work/behind" "$here/consumer/consumer.c" -lmpi $(pkg-config --cflags --libs zmpi) -Wl,-rpath,"$libdir"
"$mpiexec" -n 1 "$work/behind" 2>&1 | tee "$work/out"
grep -q 'did not see MPI_Init' "$work/out"
grep -q '^rank 0' "$work/out"

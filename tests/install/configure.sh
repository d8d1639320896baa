#!/bin/bash
# configure.sh CMAKE MPICC: pkg-config files of optional libraries that are wrong stop no build. One names a folder that is not
# there (as Debian 13's pnetcdf.pc), one a library, one has headers that do not belong to it.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# pc MODULE FOLDER LIBRARY
pc() {
    printf 'Name: %s\nDescription: wrong\nVersion: 99.0\nCflags: -I%s\nLibs: -l%s\n' "$1" "$2" "$3" >"$work/$1.pc"
}
pc fuse3 /build/not/there fuse3
pc hdf5-serial /build/not/there hdf5
pc hdf5-openmpi /build/not/there hdf5
pc hdf5-mpich /build/not/there hdf5
pc pnetcdf /build/not/there pnetcdf
pc libcjson /usr/include not_there

fail() {
    cat "$work/said"
    echo "$*" >&2
    exit 1
}

PKG_CONFIG_PATH=$work "$1" -G Ninja -S "$source" -B "$work/build" -Werror=dev -DCMAKE_BUILD_TYPE=Release -DMPI_C_COMPILER="$2" \
    -DZMPI_TEST_GROUPS="mpi;cli" -DZMPI_CUDA=OFF >"$work/said" 2>&1 || fail "cmake stopped"
grep -q 'pkg-config names libcjson, but' "$work/said" || fail "nothing is said of cJSON"
grep -q 'zmpi report, zmpi advise: not built' "$work/said" || fail "a library that is not there is linked"
# Whatever is left out: what is built names none of it.
if grep -E 'not_there|/build/not/there' "$work/build/build.ninja"; then fail "the build uses what is not there"; fi

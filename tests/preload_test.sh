#!/bin/sh
# preload_test.sh LIBZMPI MPIEXEC: preloading the library into programs that are not MPI programs changes nothing.
set -eu
lib=$1
mpiexec=$2

fail() {
    echo "FAIL: $*"
    exit 1
}

readelf -d "$lib" | grep NEEDED | grep -E 'lib(mpi|mpich|open-)' && fail "linked to an MPI library"
codec=$(dirname "$lib")/libzmpi_codec.so
for one in "$lib" "$codec"; do
    nm -D --undefined-only "$one" | grep -v '@ZMPI_' | grep -iE 'mpi' && fail "$one refers to symbols of an MPI library"
done
nm -D --defined-only "$lib" | grep -vE ' ((P?MPI_|zmpi_)[A-Za-z0-9_]*|PMIx_(Commit|Fence|Fence_nb)|H5(D(write|create|open|set_extent)|Ldelete|F(create|open)|Oopen|R(dereference|open_object))[a-z0-9_]*|H5close|(__)?(f?re)?f?open(at)?(64)?(_2)?|(__)?[fl]?x?stat(at)?(64)?|statx)$' &&
    fail "exports that are not MPI_*, PMPI_*, zmpi_*, PMIx_Commit, _Fence, _Fence_nb, HDF5's of pmpi/hdf5, or open, fopen and stat of codec/view"
nm -D --defined-only "$codec" | grep -vE ' (z(mpi|codec)_[a-z0-9_]*(@@.*)?|ZMPI_[A-Z0-9_.]*(@@.*)?)$' &&
    fail "$codec exports what is not zmpi_*"
readelf -d "$codec" | grep NEEDED | grep mpi && fail "$codec is linked to an MPI library"
nm -D --defined-only "$lib" | grep -E ' zmpi_(compress|log)$' && fail "has a copy of the codec"

# same WHAT COMMAND...: same output and status with the library, every symbol bound at start.
same() {
    what=$1
    shift
    plain=$("$@" 2>&1) && plain_rc=0 || plain_rc=$?
    preloaded=$(LD_BIND_NOW=1 LD_PRELOAD=$lib "$@" 2>&1) && preloaded_rc=0 || preloaded_rc=$?
    [ "$plain_rc: $plain" = "$preloaded_rc: $preloaded" ] || fail "$what says: $preloaded_rc: $preloaded"
}

same ls ls /
same bash bash -c 'exit 3'
same python3 python3 -c 'print(6 * 7)'
# One in a hundred of MPICH's mpiexec ends by SIGPIPE if the program does so at once.
same "$mpiexec" "$mpiexec" -n 1 sh -c 'echo hello; sleep 0.2'
# A setting that would stop an MPI program is none of their business.
export ZMPI_ERROR_BOUND=nonsense
same "ls with a wrong setting" ls /

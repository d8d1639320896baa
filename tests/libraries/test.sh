#!/bin/bash
# test.sh MPIEXEC LIBZMPI ZMPI PROGRAM FILE DUMP...: a program of a library with a file format of its own, unchanged.
#
# PROGRAM writes and reads FILE, DUMP... is the format's own tool. By default the file is left alone; with
# ZMPI_FILES='*' it is plain again after close, as it holds nothing but bytes, or floats in the other byte order. With
# ZMPI_LEAST_RATIO=0 it is a container that holds the same. PnetCDF looks at a file without MPI before it opens it: it can
# write and read a container, but not open one again.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
launcher=$1 lib=$2 zmpi=$3 program=$4 file=$5
shift 5
export PNETCDF_HINTS=nc_driver=mpiio # from 1.15 on it writes past MPI-IO by default

is_container() {
    head -c 5 "$1" | grep -q ZMPI
}

# both FOLDER NAME=VALUE...: write and read, then read in a run of its own.
both() {
    local folder=$1
    shift
    rm -rf "$folder"
    mkdir "$folder"
    run_mpi "$launcher" 3 "$@" -- "$program" write "$folder/$file" || die "$folder: writing failed"
    [[ $folder == all && $program == *pnetcdf ]] ||
        run_mpi "$launcher" 2 "$@" -- "$program" read "$folder/$file" || die "$folder: reading failed"
}

both plain
"$@" plain/"$file" >plain.txt
[[ -s plain.txt ]] || die "$1 shows nothing"

# same FOLDER: the format's tool sees there what it sees in the plain file; its first line names the file.
same() {
    "$@" >other.txt
    cmp <(tail -n +2 plain.txt) <(tail -n +2 other.txt) || die "not as in the plain file: $*"
}

both default LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=rel=1e-2
is_container default/"$file" && die "converted by default: $file"
same "$@" default/"$file"

both all LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=lossless ZMPI_FILES='*' ZMPI_LEAST_RATIO=0
is_container all/"$file" || die "ZMPI_FILES='*' did not select $file"
"$zmpi" verify all/"$file"
mkdir -p back
"$zmpi" decompress all/"$file" back/"$file"
same "$@" back/"$file"

both again LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=rel=1e-2 ZMPI_FILES='*' ZMPI_LEAST_RATIO=1.1
is_container again/"$file" && die "is not plain again: $file"
same "$@" again/"$file"

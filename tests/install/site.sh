#!/bin/sh
# site.sh SITE_FILE BUILD: the site's settings under mpirun, each MPI, one rank and two: what the user cannot lift, wrong lines, and
# ZMPI_OFF, by which libzmpi.so makes no MPI call.
#
# The file lies in a folder that only this test sees: mounts of its own, and there a file system over PREFIX/etc.
set -eu
site=$1
build=$2
if [ "${ZMPI_TEST_INSIDE-}" = "" ]; then
    folder=$(dirname "$(dirname "$site")")
    ZMPI_TEST_INSIDE=1
    export ZMPI_TEST_INSIDE
    [ -d "$folder" ] || { echo "skipped: there is no $folder"; exit 77; }
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --map-root-user sh -c 'mount -t tmpfs none "$1"' sh "$folder" 2>/dev/null || { echo "skipped: no mounts of one's own"; exit 77; }
    # shellcheck disable=SC2016
    exec unshare --mount --map-root-user sh -c 'mount -t tmpfs none "$1" && shift && exec "$@"' sh "$folder" "$0" "$@"
fi
source=${ZMPI_TEST_SOURCE:?}
mkdir -p "$(dirname "$site")"
# The settings that other tests have are not this user's.
for name in $(env | sed -n 's/^\(ZMPI_[A-Z_]*\)=.*/\1/p'); do
    case $name in ZMPI_TEST_*) ;; *) unset "$name" ;; esac
done
python3 -c '
import array, math, sys
array.array("f", (math.sin(i * 1e-3) for i in range(32 * 32 * 32))).tofile(sys.stdout.buffer)' >in.raw
# Counts what libzmpi.so calls of MPI.
cat >counter.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int calls;
#define COUNTED(name, parameters, arguments) \
    int MPI_##name parameters { calls++; return PMPI_##name arguments; }
COUNTED(Allreduce, (const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (s, r, n, t, o, c))
COUNTED(Bcast, (void *b, int n, MPI_Datatype t, int r, MPI_Comm c), (b, n, t, r, c))
COUNTED(Gather, (const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u, int k, MPI_Comm c), (s, n, t, r, m, u, k, c))
COUNTED(Comm_dup, (MPI_Comm c, MPI_Comm *n), (c, n))
COUNTED(Comm_split_type, (MPI_Comm c, int t, int k, MPI_Info i, MPI_Comm *n), (c, t, k, i, n))
COUNTED(Comm_create_keyval, (MPI_Comm_copy_attr_function *a, MPI_Comm_delete_attr_function *b, int *k, void *e), (a, b, k, e))
COUNTED(Comm_rank, (MPI_Comm c, int *r), (c, r))
COUNTED(Comm_size, (MPI_Comm c, int *r), (c, r))
COUNTED(Type_size, (MPI_Datatype t, int *s), (t, s))
COUNTED(File_get_info, (MPI_File f, MPI_Info *i), (f, i))
COUNTED(File_get_size, (MPI_File f, MPI_Offset *i), (f, i))
__attribute__((destructor)) static void tell(void)
{
    FILE *out = getenv("COUNTS") ? fopen(getenv("COUNTS"), "a") : NULL;
    if (out && calls) {
        fprintf(out, "%d\n", calls);
        fclose(out);
    }
}
C

fail() {
    echo "FAIL: $mpi, $ranks ranks: $*"
    cat out "$site"
    exit 1
}

# write NAME SETTING...: by the program, with these settings of the user and the library; all that is said goes to out.
write() {
    name=$1
    shift
    rm -f "$name"
    # shellcheck disable=SC2086 # several words are meant
    timeout 60 mpirun.$mpi $flags -n "$ranks" env "$@" LD_PRELOAD="${library:+$library:}$behind" ./field_io write -t f32 -d 32x32x32 in.raw "$name" >out 2>&1 ||
        fail "writing $name with $*"
}

compressed() {
    [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 895a4d50490d0a1a ] || fail "$1 is not compressed"
}

plain() {
    cmp in.raw "$1" || fail "$1 is not what was written"
}

said() {
    grep -cE '^zmpi(\[[0-9]+\])?: ' out || true
}

check() {
    # Defaults, which the user may replace.
    echo "[*]
error_bound = rel=1e-2" >"$site"
    write default.bin
    compressed default.bin
    grep -q 'rel=0.01' out || fail "the site's bound is not taken"
    write user.bin ZMPI_ERROR_BOUND=rel=1e-4
    grep -q 'rel=0.0001' out || fail "the user's bound is not taken"
    write none.bin ZMPI_ERROR_BOUND=none
    plain none.bin
    # What the site never wants: by no setting of the user, nor by a rule.
    echo "[site]
never_files = *.rst, secret*
[*]
error_bound = rel=1e-2" >"$site"
    echo "[*.rst]
error_bound = rel=1e-3
files = *" >user.conf
    "$build/bin/zmpi" options --file a.rst error_bound | grep -q 'a.rst is left alone: never_files' || fail "zmpi options --file"
    for name in a.rst secret.bin; do
        write $name ZMPI_ERROR_BOUND=rel=1e-3 'ZMPI_FILES=*' ZMPI_CONFIG=user.conf
        plain $name
    done
    write other.bin
    compressed other.bin
    echo "[site]
never_programs = */field_io
[*]
error_bound = rel=1e-2" >"$site"
    write never.bin ZMPI_ERROR_BOUND=rel=1e-3 'ZMPI_FILES=*' ZMPI_CONFIG=user.conf
    plain never.bin
    # Wrong lines: one line for the job, and the rest counts; the user's own stop the program.
    echo "[site]
never_files = *.rst
[*]
eror_bound = rel=1e-3
codec = zip
nonsense
error_bound = rel=1e-2" >"$site"
    write wrong.bin
    compressed wrong.bin
    [ "$(said)" = 1 ] && grep -q "zmpi.conf:4 (ignored): eror_bound: no such setting; did you mean error_bound?$" out || fail "not one line about line 4 of the site's file"
    write wrong.rst 'ZMPI_FILES=*'
    plain wrong.rst
    head -c 5000 /dev/urandom >"$site"
    write noise.bin ZMPI_ERROR_BOUND=rel=1e-3
    compressed noise.bin
    [ "$(said)" -le 1 ] || fail "more than a line about noise"
    rm -f wrong.bin
    # shellcheck disable=SC2086
    timeout 60 mpirun.$mpi $flags -n "$ranks" env ZMPI_ERROR_BOUND=oops LD_PRELOAD="$library" ./field_io write -t f32 -d 32x32x32 in.raw wrong.bin \
        >out 2>&1 && fail "the user's wrong bound is taken"
    [ ! -e wrong.bin ] || fail "a file was written"
    # Off: nothing is read, said or called.
    echo "[*]
error_bound = rel=1e-2" >"$site"
    for settings in ZMPI_OFF=1 LIBRARY=none ZMPI_OFF=0; do
        rm -f counts
        library_of=$library
        [ $settings != LIBRARY=none ] || library=
        behind=$PWD/counter_$mpi.so
        bound=rel=1e-3
        [ $settings != ZMPI_OFF=1 ] || bound=oops
        write off.bin $settings COUNTS="$PWD/counts" ZMPI_ERROR_BOUND=$bound
        library=$library_of
        behind=
        sort -n counts | tr '\n' ' ' >"counts.$settings"
        [ $settings = ZMPI_OFF=0 ] || plain off.bin
        [ $settings = ZMPI_OFF=0 ] || ! grep -q zmpi out || fail "$settings: something is said"
    done
    cmp counts.LIBRARY=none counts.ZMPI_OFF=1 || fail "calls with ZMPI_OFF=1: $(cat counts.ZMPI_OFF=1), without libzmpi.so: $(cat counts.LIBRARY=none)"
    cmp -s counts.LIBRARY=none counts.ZMPI_OFF=0 && fail "the counter counts nothing"
    rm -f ./*.bin ./*.rst counts*
}

found=
behind=
for mpi in openmpi mpich; do
    command -v mpicc.$mpi mpirun.$mpi >/dev/null && [ -e "$build/lib/zmpi/$mpi/libzmpi.so" ] || continue
    library=$build/lib/zmpi/$mpi/libzmpi.so
    flags=
    [ $mpi = mpich ] || flags=--oversubscribe
    mpicc.$mpi -O1 -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -I"$source/pmpi/perf" -o field_io "$source/tests/apps/field_io.c" \
        "$source/tests/apps/field_io_posix.c" "$source/pmpi/perf/app_common.c" -lm
    mpicc.$mpi -shared -fPIC -o "counter_$mpi.so" counter.c
    for ranks in 1 2; do
        check
        found=$found$mpi$ranks
    done
done
[ -n "$found" ] || { echo "skipped: no MPI with mpicc.openmpi or mpicc.mpich"; exit 77; }

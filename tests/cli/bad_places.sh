#!/bin/sh
# bad_places.sh: files where they cannot be made, opened or written: MPI says the same with libzmpi.so as without, on all ranks
# (tests/faults/places.c).
set -eu
program=$ZMPI_TEST_BIN/tests/places
[ -x "$program" ] || exit 77
# shellcheck source=tests/mpi/launch.sh
. "$ZMPI_TEST_SOURCE/tests/mpi/launch.sh"
components=${open_mpi:+${ZMPI_TEST_IO:-ompio}}
components=${components:-default}
work=$(mktemp -d)
trap 'umount "$work/readonly" 2>/dev/null || true; chattr -i "$work/fixed.z" 2>/dev/null || true; rm -rf "$work"' EXIT
export ZMPI_ERROR_BOUND=lossless ZMPI_REPORT_TEXT=off ZMPI_LOG=error

mkdir "$work/folder" "$work/readonly" "$work/closed"
long=$work/$(printf '%0300d' 0)
places="$work/none/new.z $work/folder $work/folder/file/x.z"
: >"$work/folder/file"

# A file system that may not be written to, with a container and without. Needs the right to mount.
if mount -t tmpfs -o size=1m zmpi_test "$work/readonly" 2>/dev/null; then
    : >"$work/readonly/empty.z"
    mount -o remount,ro "$work/readonly"
    places="$places $work/readonly/new.z $work/readonly/empty.z"
else
    echo "not tested: a read-only file system (mounting is not permitted here)"
fi
# A file that nobody may write, root neither.
: >"$work/fixed.z"
if chattr +i "$work/fixed.z" 2>/dev/null; then
    places="$places $work/fixed.z"
else
    echo "not tested: an immutable file (chattr is not permitted here)"
fi
if [ "$(id -u)" != 0 ]; then
    chmod 500 "$work/closed"
    places="$places $work/closed/new.z"
else
    echo "not tested: a folder without permission (root has all)"
fi

failed=0
for io in $components; do
    [ "$io" = default ] || export OMPI_MCA_io="$io"
    # OMPIO of Open MPI 4.1.4 overruns a buffer of its own at such a name.
    more=$long
    [ "$io" != ompio ] || more=
    for ranks in 1 2; do
        for preload in "" "$ZMPI_TEST_LIB"; do
            # shellcheck disable=SC2086 # none or several words
            timeout 60 "$MPIEXEC" $flags -n "$ranks" env LD_PRELOAD="$preload" "$program" $places $more \
                >"$work/is" 2>"$work/said" || {
                cat "$work/is" "$work/said"
                echo "FAIL: $io, $ranks ranks, '$preload': the program failed or hangs"
                exit 1
            }
            [ -n "$preload" ] || mv "$work/is" "$work/plain"
        done
        if diff "$work/plain" "$work/is"; then
            echo "$io, $ranks ranks: $(wc -l <"$work/is") answers, all as without libzmpi.so"
        else
            echo "FAIL: $io, $ranks ranks: other errors with libzmpi.so (>) than without (<)"
            failed=1
        fi
    done
done
[ "$failed" = 0 ] || exit 1
[ "$(grep -c readonly "$work/is")" -gt 0 ] || exit 77

#!/bin/sh
# full_disk.sh: a disk gets full: one of two megabytes in collective and independent writes (tests/mpi/failures/full.c), one of
# nine when a file of five becomes plain again (tests/mpi/files/plain.c).
set -eu
program=$ZMPI_TEST_BIN/tests/full
plain=$ZMPI_TEST_BIN/tests/plain
[ -x "$program" ] && [ -x "$plain" ] || exit 77
work=$(mktemp -d)
mount -t tmpfs -o size=2m zmpi_test "$work" 2>/dev/null || {
    rmdir "$work"
    echo "mounting a small disk is not permitted here"
    exit 77
}
trap 'umount "$work"; rmdir "$work"' EXIT

# shellcheck source=tests/mpi/launch.sh
. "$ZMPI_TEST_SOURCE/tests/mpi/launch.sh"
components=${open_mpi:+${ZMPI_TEST_IO:-ompio}}
components=${components:-default}
export ZMPI_ERROR_BOUND=lossless ZMPI_LOG=error ZMPI_STAGING=1M ZMPI_REPORT_TEXT=off

for io in $components; do
    [ "$io" = default ] || export OMPI_MCA_io="$io"
    for ranks in 1 3; do
        for kind in collective independent; do
            echo "== $kind, $ranks ranks, $io"
            # shellcheck disable=SC2086 # none or several words
            timeout 60 "$MPIEXEC" $flags -n "$ranks" env LD_PRELOAD="$ZMPI_TEST_LIB" \
                "$program" "$kind" disk "$work/full.z"
            rm -f "$work/full.z"
        done
    done
    mount -o remount,size=9m "$work"
    for ranks in 1 3; do
        echo "== plain again, $ranks ranks, $io"
        # shellcheck disable=SC2086 # none or several words
        (cd "$work" && timeout 60 "$MPIEXEC" $flags -n "$ranks" env LD_PRELOAD="$ZMPI_TEST_LIB" \
            ZMPI_LEAST_RATIO=1.1 "$plain" full)
    done
    mount -o remount,size=2m "$work"
done

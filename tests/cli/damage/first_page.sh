#!/bin/sh
# first_page.sh: a container of one record of many pages, not closed, is not taken for a plain file when its first page is all
# zeros or its header is overwritten: tools and MPI programs refuse it, zmpi recover saves it (tests/faults/power/writer.c, goes_on.c).
set -eu
zmpi=$ZMPI_TEST_BIN/zmpi
writer=$ZMPI_TEST_BIN/tests/power_writer
reader=$ZMPI_TEST_BIN/tests/power_goes_on
[ -x "$writer" ] || exit 77
# shellcheck source=tests/mpi/launch.sh
. "$ZMPI_TEST_SOURCE/tests/mpi/launch.sh"
export ZMPI_ERROR_BOUND=lossless ZMPI_REPORT_TEXT=off ZMPI_LEAST_RATIO=0

fail() {
    echo "FAIL: $*"
    cat said
    exit 1
}

# refused WORDS: nobody takes x.zmpi for a plain file, and MPI programs hear why.
refused() {
    for command in "info x.zmpi" "verify x.zmpi" "cat x.zmpi" "decompress x.zmpi other" "fsck --repair x.zmpi" "trim x.zmpi"; do
        # shellcheck disable=SC2086 # several words
        ! "$zmpi" $command >said 2>&1 || fail "zmpi $command"
        grep -q 'container\|header' said || fail "zmpi $command does not say why"
    done
    cp x.zmpi before
    env LD_PRELOAD="$ZMPI_TEST_LIB" "$reader" x.zmpi >said 2>&1 || fail "an MPI program" # it goes on without the file
    grep -q "$1" said || fail "an MPI program hears nothing"
    cmp x.zmpi before >said || fail "an MPI program wrote to it"
}

for ranks in 1 2; do
    rm -f x.zmpi
    # shellcheck disable=SC2086 # none or several words
    ! "$MPIEXEC" $flags -n "$ranks" env LD_PRELOAD="$ZMPI_TEST_LIB" "$writer" 1 0 x.zmpi one >said 2>&1 || fail "nobody was killed"
    rm -f out saved
    "$zmpi" decompress x.zmpi out >said 2>&1 || fail "$ranks ranks: a container that was not closed"
    cp x.zmpi whole
    dd if=/dev/zero of=x.zmpi bs=4096 count=1 conv=notrunc 2>said
    echo "== $ranks ranks, no first page"
    refused 'never reached the disk'
    status=0
    "$zmpi" recover x.zmpi saved >said 2>&1 || status=$?
    [ "$status" = 1 ] || fail "zmpi recover: status $status"
    cmp out saved >said || fail "zmpi recover saves other bytes"
    cp whole x.zmpi
    printf '%0512d' 7 | dd of=x.zmpi conv=notrunc 2>said
    echo "== $ranks ranks, no header"
    refused 'written over'
done

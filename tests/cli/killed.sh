#!/bin/sh
# killed.sh: processes are killed between two writes; whatever was complete is there when the file is opened again, before and
# after zmpi fsck --repair; so is all of a file that was never closed (tests/mpi/failures/killed.c).
set -eu
program=$ZMPI_TEST_BIN/tests/killed
zmpi=$ZMPI_TEST_BIN/zmpi
[ -x "$program" ] || exit 77
# shellcheck source=tests/mpi/launch.sh
. "$ZMPI_TEST_SOURCE/tests/mpi/launch.sh"
export ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M ZMPI_REPORT_TEXT=off

fail() {
    echo "FAIL: $*"
    exit 1
}

# run RANKS ARGUMENT...
run() {
    ranks=$1
    shift
    # shellcheck disable=SC2086 # none or several words
    timeout 60 "$MPIEXEC" $flags -n "$ranks" env LD_PRELOAD="$ZMPI_TEST_LIB" "$program" "$@"
}

# case_of KIND RANKS VICTIM READERS
case_of() {
    echo "== $1, $2 ranks, killed: $3 (-1: all)"
    rm -f killed.z
    run "$2" write "$1" "$3" killed.z >killed.out 2>&1 && fail "nobody was killed"
    grep FAIL killed.out && fail "while writing"
    run "$4" check "$1" "$2" killed.z >check.out 2>&1 || {
        cat check.out
        fail "reading what was left"
    }
    grep -q 'not closed properly' check.out || fail "the file was read without a word about its end"
    "$zmpi" fsck killed.z >fsck.out 2>&1 && fail "fsck found nothing wrong"
    "$zmpi" fsck --repair killed.z >fsck.out 2>&1 || {
        cat fsck.out
        fail "fsck --repair"
    }
    "$zmpi" fsck killed.z || fail "fsck after repair"
    "$zmpi" verify killed.z || fail "verify after repair"
    run "$4" check "$1" "$2" killed.z >check.out 2>&1 || {
        cat check.out
        fail "reading after repair"
    }
    grep 'not closed properly' check.out && fail "still not closed properly after repair"
    return 0
}

# left_open KIND RANKS: as EPW leaves the files that it reads, and other programs those that they write
left_open() {
    echo "== $1, $2 ranks, not closed"
    rm -f killed.z
    run "$2" left "$1" "$2" killed.z >left.out 2>&1 || fail "the program failed"
    grep -q 'killed.z: not closed' left.out || fail "nothing said of a file that has no index"
    run 1 check collective "$2" killed.z >check.out 2>&1 || { # all of it
        cat check.out
        fail "reading what was not closed"
    }
    "$zmpi" fsck --repair killed.z >fsck.out 2>&1 || fail "fsck --repair"
    run 2 peek collective "$2" killed.z >check.out 2>&1 || {
        cat check.out
        fail "reading without closing"
    }
    ! grep 'not closed' check.out || fail "a file that was only read is said to need repair"
    "$zmpi" fsck killed.z || fail "fsck after reading"
}

left_open collective 3
left_open independent 2
case_of collective 1 -1 1
case_of collective 3 -1 2
case_of collective 3 1 1
case_of independent 2 0 3
case_of slab 2 -1 1
case_of slab 3 2 2
rm -f killed.z ./*.out

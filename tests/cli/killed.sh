#!/bin/sh
# killed.sh: processes are killed between two writes; whatever was complete is there when the file is opened again, before and
# after zmpi fsck --repair (tests/mpi/killed.c).
set -eu
program=$ZMPI_TEST_BIN/tests/killed
zmpi=$ZMPI_TEST_BIN/zmpi
[ -x "$program" ] || exit 77
flags=
if "$MPIEXEC" --version 2>&1 | grep -qE 'Open MPI|OpenRTE'; then
    flags=--oversubscribe
fi
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

case_of collective 1 -1 1
case_of collective 3 -1 2
case_of collective 3 1 1
case_of independent 2 0 3
case_of slab 2 -1 1
case_of slab 3 2 2
rm -f killed.z ./*.out

#!/bin/sh
# first_sector.sh: a container whose first sector the disk cannot read (EIO) is read by the copy of its header at the end, and
# zmpi fsck --repair writes that sector anew; without the copy every command fails, and says why.
set -eu
zmpi=$ZMPI_TEST_BIN/zmpi
shim=${ZMPI_TEST_BIN%/*}/lib/libzmpi_test_shim.so
[ -e "$shim" ] || exit 77

fail() {
    echo "FAIL: $*"
    cat said
    exit 1
}

# bad STATUS ARGUMENT...: the tool, where the first sector of x.zmpi cannot be read.
bad() {
    should=$1 status=0
    shift
    ZMPI_TEST_FIRST_SECTOR=x.zmpi LD_PRELOAD=$shim "$zmpi" "$@" >out 2>said || status=$?
    [ "$status" -eq "$should" ] || fail "zmpi $*: status $status, not $should"
}

awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%08d", i * 7919 % 100003 }' >x.raw # as f64
"$zmpi" compress -t f64 -d 20000 -e lossless x.raw x.zmpi
for command in decompress recover; do
    bad 0 "$command" x.zmpi back.raw
    cmp x.raw back.raw || fail "$command"
done
bad 0 cat x.zmpi
cmp x.raw out || fail "cat"
for command in verify fsck; do
    bad 1 "$command" x.zmpi
    cat out >>said
    grep -q 'copy' said || fail "$command does not tell of the copy"
done
bad 2 trim x.zmpi
bad 0 fsck --repair x.zmpi
"$zmpi" fsck x.zmpi >said || fail "fsck after --repair"
"$zmpi" decompress x.zmpi back.raw
cmp x.raw back.raw || fail "after fsck --repair"

# Without the copy, which is at the end.
truncate -s -136 x.zmpi
for command in "decompress x.zmpi back.raw" "cat x.zmpi" "info x.zmpi" "verify x.zmpi" "fsck --repair x.zmpi" "trim x.zmpi"; do
    # shellcheck disable=SC2086 # several words
    bad 2 $command
    grep -q 'x.zmpi: input/output error' said || fail "$command does not say why"
done

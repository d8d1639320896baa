#!/bin/bash
# The zmpi tool with damaged and truncated files: what it says, what it repairs. Usage: damage_test.sh PATH-OF-ZMPI
# shellcheck source=tests/tool/lib.sh
. "$(dirname "$0")/lib.sh" "${1:?path of zmpi}"
python3 "$field" make f32 24000 f32.raw

group="damage"
expect 0 "$zmpi" compress -t f32 -e abs=0.01 -d 20x30x40 f32.raw a.zmpi
expect 0 "$zmpi" decompress a.zmpi back.raw
expect 0 "$zmpi" verify a.zmpi
expect 0 "$zmpi" fsck a.zmpi
read -r offset stored < <(payload a.zmpi)
for at in $((offset + 70)) $((offset + 200)) $((offset + stored - 20)); do
    cp a.zmpi bad.zmpi
    python3 "$field" flip bad.zmpi $at
    expect 1 "$zmpi" verify bad.zmpi
    check grep -q "bad.zmpi.*record.*$offset" out
    expect 1 "$zmpi" decompress bad.zmpi bad.raw
    says "$offset"
    check absent bad.raw
    expect 1 "$zmpi" cat bad.zmpi
    expect 1 "$zmpi" fsck bad.zmpi
    # What is damaged may be given up, but never turned into zeros that read without an error.
    "$zmpi" fsck --repair bad.zmpi >out 2>err
    checks=$((checks + 1))
    if "$zmpi" cat bad.zmpi >out 2>err; then
        cmp -s out back.raw || fail "flip at $at: after fsck --repair a damaged record reads as $(wc -c <out) other bytes, without an error"
    fi
done
# Any single flipped byte: nothing may crash, and what is read is right or refused.
for at in 0 9 20 50 70 120 256 500 $(seq 512 977 "$(stat -c %s a.zmpi)"); do
    cp a.zmpi bad.zmpi
    python3 "$field" flip bad.zmpi "$at" 2>/dev/null || continue
    for command in info verify fsck cat; do
        "$zmpi" $command bad.zmpi >out 2>err
        status=$?
        checks=$((checks + 1))
        [ $status -le 2 ] || fail "$command: status $status with byte $at flipped"
        if [ $command = cat ] && [ $status -eq 0 ]; then
            cmp -s out back.raw || fail "cat: wrong bytes without an error with byte $at flipped"
        fi
    done
done

group="truncation"
size=$(stat -c %s a.zmpi)
read -r offset stored < <(payload a.zmpi)
# In the header, in the record, in the index. Less than everything must not pass for everything.
for n in 0 1 100 511 512 $((offset + 64)) $((offset + stored / 2)) $((offset + stored - 8)) $((size - 8)); do
    for command in info verify cat fsck "fsck --repair"; do
        head -c "$n" a.zmpi >cut.zmpi
        "$zmpi" $command cut.zmpi >out 2>err
        status=$?
        checks=$((checks + 1))
        [ $status -le 2 ] || fail "$command of the first $n bytes: status $status"
        [ $status -ne 0 ] || case $command in
        cat) cmp -s out back.raw || fail "cat of the first $n bytes: $(wc -c <out) bytes, not 96000, and no error" ;;
        verify | fsck) fail "$command finds the first $n bytes all right" ;;
        *repair*)
            "$zmpi" cat cut.zmpi >out 2>err && ! cmp -s out back.raw &&
                fail "fsck --repair of the first $n bytes: status 0 though data are lost"
            ;;
        esac
    done
done
# Bytes got into the header, and no record is where anything looks for it: a repair would make the file an empty one.
{ head -c 177 a.zmpi; head -c 24 /dev/zero; tail -c +178 a.zmpi; } >moved.zmpi
cp moved.zmpi before.zmpi
expect 1 "$zmpi" fsck --repair moved.zmpi
check grep -q "no record of them is found, nothing is written" out
check cmp moved.zmpi before.zmpi
expect 1 "$zmpi" decompress moved.zmpi moved.raw
# Only the index is gone: nothing is lost.
head -c $((offset + stored)) a.zmpi >cut.zmpi
expect 0 "$zmpi" cat cut.zmpi
check cmp out back.raw
expect 1 "$zmpi" verify cut.zmpi
expect 1 "$zmpi" fsck cut.zmpi
before=$(md5sum <cut.zmpi)
check test "$before" = "$(md5sum <cut.zmpi)" # without --repair nothing is written
expect 0 "$zmpi" fsck --repair cut.zmpi
expect 0 "$zmpi" fsck cut.zmpi
expect 0 "$zmpi" verify cut.zmpi
expect 0 "$zmpi" cat cut.zmpi
check cmp out back.raw
expect 0 "$zmpi" fsck --repair cut.zmpi # again: nothing to do
# One of the two headers is gone, the other counts.
for slot in 0 2; do
    cp cut.zmpi head.zmpi
    dd if=/dev/urandom of=head.zmpi bs=128 count=1 seek=$slot conv=notrunc 2>/dev/null
    before=$(md5sum <head.zmpi)
    expect 1 "$zmpi" fsck head.zmpi
    check test "$before" = "$(md5sum <head.zmpi)"
    expect 0 "$zmpi" fsck --repair head.zmpi
    expect 0 "$zmpi" fsck head.zmpi
    check test "$(head -c 4 head.zmpi | tail -c 3)" = ZMP
    expect 0 "$zmpi" verify head.zmpi
    check test ! -s err
    expect 0 "$zmpi" cat head.zmpi
    check cmp out back.raw
done
# Rubbish behind the end is no record.
cp a.zmpi tail.zmpi
head -c 10000 /dev/urandom >>tail.zmpi
expect 0 "$zmpi" cat tail.zmpi
check cmp out back.raw
expect 0 "$zmpi" info tail.zmpi
check grep -q '^unused  *10000 bytes' out
check grep -q '^complete  *yes' out
# A file without it, and nothing of one that is not whole.
chmod 640 tail.zmpi
ln -s tail.zmpi link.zmpi
expect 0 "$zmpi" trim link.zmpi
check test -h link.zmpi
check test "$(stat -c '%s %a' tail.zmpi)" = "$(stat -c %s a.zmpi) 640"
expect 0 "$zmpi" fsck tail.zmpi
expect 0 "$zmpi" verify tail.zmpi
expect 0 "$zmpi" cat tail.zmpi
check cmp out back.raw
# Whoever could use the file can use the new one, and nobody else.
mkdir listed
cp a.zmpi listed/set.zmpi
if python3 "$field" list listed/set.zmpi system.posix_acl_access 2>/dev/null; then
    cp a.zmpi listed/none.zmpi
    chmod 640 listed/none.zmpi
    python3 "$field" list listed system.posix_acl_default
    for file in set none; do
        stat -c '%a %u %g' listed/$file.zmpi >before
        python3 "$field" attributes listed/$file.zmpi >>before
        expect 0 "$zmpi" trim listed/$file.zmpi
        stat -c '%a %u %g' listed/$file.zmpi >out
        python3 "$field" attributes listed/$file.zmpi >>out
        check cmp before out
    done
fi
ln tail.zmpi hard.zmpi
expect 2 "$zmpi" trim hard.zmpi
says links
cp a.zmpi bad.zmpi
python3 "$field" flip bad.zmpi $((offset + stored - 20))
before=$(md5sum <bad.zmpi)
expect 2 "$zmpi" trim bad.zmpi
check test "$before" = "$(md5sum <bad.zmpi)"
check test -z "$(find . -name 'bad.zmpi.*')"
head -c $((offset + stored - 8)) a.zmpi >cut.zmpi
expect 2 "$zmpi" trim cut.zmpi
says fsck
# Not while a program writes to it.
cp a.zmpi torn.zmpi
dd if=/dev/urandom of=torn.zmpi bs=128 count=1 seek=2 conv=notrunc 2>/dev/null
check python3 "${field%/*}/others.py" "$zmpi" torn.zmpi
# Both header slots lost: the copy at the end stands for them.
cp a.zmpi lost.zmpi
dd if=/dev/zero of=lost.zmpi bs=512 count=1 conv=notrunc 2>/dev/null
expect 0 "$zmpi" info lost.zmpi
expect 1 "$zmpi" fsck lost.zmpi
expect 0 "$zmpi" fsck --repair lost.zmpi
expect 0 "$zmpi" verify lost.zmpi
expect 0 "$zmpi" decompress a.zmpi back.raw
expect 0 "$zmpi" cat lost.zmpi
check cmp out back.raw
# And that too: not recoverable, and said so.
cp a.zmpi gone.zmpi
dd if=/dev/zero of=gone.zmpi bs=1 count=512 conv=notrunc 2>/dev/null
truncate -s -40 gone.zmpi
expect 2 "$zmpi" fsck gone.zmpi
expect 2 "$zmpi" info gone.zmpi

finish

#!/bin/sh
# joined.sh - containers joined by cat: all of them are read in a row, or it is an error that says where the next begins.
set -eu
zmpi=$ZMPI_TEST_BIN/zmpi

fail() {
    echo "FAIL: $*"
    exit 1
}

python3 - <<'END'
import math, struct
for name, n in ("a", 50000), ("b", 30000):
    open(name, "wb").write(struct.pack("<%df" % n, *[math.sin(i / 100) + len(name) for i in range(n)]))
END
for f in a b; do
    rm -f "$f.z"
    "$zmpi" compress -t f32 -e lossless "$f" "$f.z" >/dev/null
done
cat a b >ab
cat a b a >aba
cat a.z b.z >ab.z
cat a.z b.z a.z >aba.z
begins=$(stat -c %s a.z)

for f in ab aba; do
    "$zmpi" decompress "$f.z" out 2>said || fail "decompress $f.z"
    [ ! -s said ] || fail "decompress $f.z: $(cat said)"
    cmp out "$f" || fail "decompress $f.z gives other bytes"
    "$zmpi" cat "$f.z" | cmp - "$f" || fail "cat $f.z gives other bytes"
done

for command in info verify fsck "cat -o 8" "recover ab.z" trim; do
    # shellcheck disable=SC2086 # several words are meant
    case $command in
        recover*) set -- $command out2 ;;
        *) set -- $command ab.z ;;
    esac
    status=0
    "$zmpi" "$@" >out 2>said || status=$?
    [ "$status" = 2 ] || fail "zmpi $*: status $status"
    grep -q "another container begins at byte $begins" said || fail "zmpi $*: $(cat said)"
done
if "$zmpi" fsck --repair ab.z >out 2>&1; then fail "fsck --repair of a joined file"; fi
cat a.z b.z | cmp - ab.z || fail "somebody changed ab.z"
if python3 "$ZMPI_TEST_SOURCE/scripts/zmpi_reader.py" info ab.z >said 2>&1; then fail "the reader of the format reads the first alone"; fi
grep -q "another container begins at byte $begins" said || fail "the reader of the format: $(cat said)"

# One that was cut off before the other: no multiple of 8, and not whole.
head -c 1001 a.z >cut.z
cat b.z >>cut.z
status=0
"$zmpi" decompress cut.z out 2>said || status=$?
[ "$status" = 1 ] || fail "decompress of a cut one and another: status $status"
tail -c 120000 out | cmp - b || fail "the one behind a cut one"

# A container inside a container is data.
rm -f inner.z
"$zmpi" compress -t f32 -e lossless a.z inner.z >/dev/null 2>&1 || true
cp a.z whole.z
printf 'some text behind it, no container: \211ZMPI\r\n\032 and so on' >>whole.z
"$zmpi" decompress whole.z out 2>said || fail "text behind the end"
cmp out a || fail "text behind the end: other bytes"

"$zmpi" verify whole.z >out || fail "verify: text behind the end"
grep -q '[0-9]* bytes behind the end' out || fail "verify says nothing of the text behind the end: $(cat out)"

# file(1) knows them.
if command -v file >/dev/null; then
    file -m "$ZMPI_TEST_SOURCE/packaging/zmpi.magic" a.z | grep -q 'zmpi container.*version 1$' || fail "file(1)"
else
    echo "== not tested: file(1), which is not here"
fi

# A header that was cut off is no empty file.
head -c 300 a.z >short.z
status=0
"$zmpi" decompress short.z out 2>said || status=$?
[ "$status" = 1 ] || fail "a file that ends in its header: status $status"

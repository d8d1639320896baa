#!/bin/sh
# settings.sh: wrong settings stop the program at MPI_Init with one line; no bound changes nothing; which files are compressed; the
# report and the rules file say and do what they should.
set -eu
program=$ZMPI_TEST_BIN/field_io
[ -x "$program" ] || exit 77
# shellcheck source=tests/mpi/launch.sh
. "$ZMPI_TEST_SOURCE/tests/mpi/launch.sh"

fail() {
    echo "FAIL: $*"
    [ ! -s out ] || cat out
    exit 1
}

# field_io RANKS SETTING... -- ARGUMENT...: run with these settings; everything said goes to the file out.
field_io() {
    ranks=$1
    shift
    settings=
    while [ "$1" != -- ]; do
        settings="$settings $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # several words are meant
    timeout 60 "$MPIEXEC" $flags -n "$ranks" env $settings LD_PRELOAD="$ZMPI_TEST_LIB" "$program" "$@" >out 2>&1
}

write() {
    file=$1
    shift
    rm -f "$file"
    field_io 3 "$@" -- write -t f32 -d 16x32x32 in.raw "$file" || fail "writing $file with $*"
}

magic() {
    head -c 8 "$1" | od -An -tx1 | tr -d ' \n'
}

compressed() {
    [ "$(magic "$1")" = 895a4d50490d0a1a ] || fail "$1 is not compressed"
}

plain() {
    cmp in.raw "$1" || fail "$1 is not what was written"
}

make_input() {
    python3 - <<'PYTHON'
import array, math
with open("in.raw", "wb") as out:
    array.array("f", (math.sin(i * 1e-3) + (i % 32) * 0.01 for i in range(16 * 32 * 32))).tofile(out)
PYTHON
}
make_input

# said: the lines of the library, not of its report.
said() {
    grep -E '^zmpi(\[[0-9]+\])?: ' out
}

# wrong NAME VALUE ALLOWED: one line that names all three, no file, no hang.
wrong() {
    echo "== $1=$2"
    rm -f wrong.z
    field_io 3 "$1=$2" -- write -t f32 -d 16x32x32 in.raw wrong.z && fail "$1=$2 was accepted"
    [ ! -e wrong.z ] || fail "$1=$2: a file was written"
    [ "$(said | wc -l)" = 1 ] || fail "$1=$2: not one line"
    said | grep -F "$1" | grep -F "$2" | grep -qE "$3" || fail "$1=$2: the line does not say what is allowed"
}

wrong ZMPI_ERROR_BOUND 1e-3 'abs=V.*rel=V.*lossless'
wrong ZMPI_ERROR_BOUND abs=nan 'abs=V'
wrong ZMPI_CODEC zip fle
wrong ZMPI_STAGING 1 '1M to 1G'
wrong ZMPI_LOG loud quiet
wrong ZMPI_FILES '!' globs
wrong ZMPI_ERORR_BOUND '' 'did you mean ZMPI_ERROR_BOUND'

echo "== a setting that is wrong on one rank only"
cat >one.sh <<'SCRIPT'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
[ "$rank" != 1 ] || export ZMPI_ERROR_BOUND=nonsense
LD_PRELOAD=$ZMPI_TEST_LIB
export LD_PRELOAD
exec "$ZMPI_TEST_BIN/field_io" "$@"
SCRIPT
chmod +x one.sh
# shellcheck disable=SC2086 # none or several words
timeout 60 "$MPIEXEC" $flags -n 3 env ZMPI_ERROR_BOUND=rel=1e-3 ./one.sh write -t f32 -d 16x32x32 in.raw wrong.z >out 2>&1 &&
    fail "one wrong rank was accepted"
[ "$(said | wc -l)" = 1 ] || fail "not one line"
[ ! -e wrong.z ] || fail "a file was written"

echo "== no bound: said once, nothing changed"
write nobound.bin
[ "$(said | wc -l)" = 1 ] || fail "not said, or not once"
said | grep -q ZMPI_ERROR_BOUND || fail "the line does not name the setting"
plain nobound.bin
write nobound.bin ZMPI_LOG=error
! said || fail "said although only errors were asked for"

echo "== a variable that is like no setting: one line, and the job runs"
write field.bin ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_ROOT=/opt/zmpi ZMPI_MODULE=1
compressed field.bin
[ "$(said | grep -c 'is no setting')" = 1 ] || fail "not said once"

echo "== a report into a pipe that nobody reads"
rm -f pipe
mkfifo pipe
write field.bin ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_REPORT=pipe
said | grep -q 'ZMPI_REPORT=.*pipe: cannot be written' || fail "not said"

echo "== a setuid program reads no settings"
rm -f secure
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && cp "$ZMPI_TEST_BIN/tests/unit_options" secure 2>/dev/null &&
    chmod 4755 secure && setpriv --reuid=65534 --clear-groups ./secure --list >/dev/null 2>&1; then
    setpriv --reuid=65534 --clear-groups ./secure --filter 'options/setuid*' --verbose >out 2>&1 || fail "a setuid program"
    grep -q 'not setuid' out && fail "is not setuid here"
    grep -q 'Passing: 1' out || fail "nothing was tested"
else
    echo "== not tested: that needs root, setpriv, and folders that others may enter"
fi
rm -f secure

echo "== which files"
for name in field.h5 field.nc field.bp field.vtu field.cube; do
    write "$name" ZMPI_ERROR_BOUND=rel=1e-3
    plain "$name"
    grep -qx "zmpi 1 file left plain: not selected by ZMPI_FILES ($name)" out || fail "$name: left alone without a word"
done
write field.bin ZMPI_ERROR_BOUND=rel=1e-3
compressed field.bin
write field.bin ZMPI_ERROR_BOUND=rel=1e-3 'ZMPI_FILES=*,!*.bin'
plain field.bin
write field.h5 ZMPI_ERROR_BOUND=rel=1e-3 'ZMPI_FILES=*.h5'
compressed field.h5

write field.bin ZMPI_ERROR_BOUND=rel=1e-3 'ZMPI_FILES=*'
[ "$(said | grep -c 'replaces the default list')" = 1 ] || fail "ZMPI_FILES=* is not said to replace the default list, or not once"
for list in '!slab*' '*.bin' '*,!*.h5'; do
    write field.bin ZMPI_ERROR_BOUND=rel=1e-3 "ZMPI_FILES=$list"
    ! said | grep 'default list' || fail "ZMPI_FILES=$list: a word too many"
done

echo "== a container is read whatever the settings say now"
write field.bin ZMPI_ERROR_BOUND=lossless
field_io 2 'ZMPI_FILES=nothing' -- read -t f32 -d 16x32x32 field.bin back.raw || fail "reading"
plain back.raw
grep -qE 'field.bin .* - .*nothing written$' out || fail "a file that was only read has a ratio and a bound"
! grep -q "left plain" out || fail "a file that was only read is called new"
! grep -q 'no error bound' out || fail "a program that only reads is told to set a bound"

echo "== rules"
cat >rules.ini <<'RULES'
[*]
error_bound = rel=1e-2
[exact_*.bin]
error_bound = lossless
RULES
write coarse.bin ZMPI_CONFIG=rules.ini
grep -q 'coarse.bin.*rel=0.01' out || fail "the rule for all files is not in force"
write exact_1.bin ZMPI_CONFIG=rules.ini
grep -q 'exact_1.bin.*lossless' out || fail "the rule for exact_* is not in force"
field_io 2 -- read -t f32 -d 16x32x32 exact_1.bin back.raw || fail "reading"
plain back.raw
write exact_1.bin ZMPI_CONFIG=rules.ini ZMPI_ERROR_BOUND=abs=0.5 ZMPI_REPORT=report.json
grep -q 'exact_1.bin.*lossless (rule, not abs=0.5)' out || fail "a rule that names the file does not go before the environment"
python3 - <<'END' || fail "the JSON does not say which bound won"
import json
f = json.load(open("report.json"))["files"][0]
assert (f["bound"], f["bound_from"], f["bound_overrides"]) == ("lossless", "rule", "abs=0.5"), f
END
ZMPI_CONFIG=rules.ini ZMPI_ERROR_BOUND=abs=0.5 "$ZMPI_TEST_BIN/zmpi" options --file run/exact_1.bin |
    grep -q 'now lossless (rule of rules.ini; overrides abs=0.5 of the environment)' || fail "zmpi options --file"
printf '[*]\nerror_bound = rel=1e-3\n[part*.bin #2-3]\nerror_bound = lossless\n[part*.bin #7]\nerror_bound = abs=2\n' >calls.ini
ZMPI_CONFIG=calls.ini ZMPI_ERROR_BOUND=abs=0.5 "$ZMPI_TEST_BIN/zmpi" options --file run/part_1.bin error_bound >said.txt
grep -q 'part_1.bin is compressed' said.txt || fail "zmpi options --file NAME: whether the file is compressed"
grep -q 'write calls 2 to 3: lossless (rule; overrides abs=0.5 of the environment)' said.txt &&
    grep -q 'write call 7: abs=2 (rule; overrides' said.txt || fail "zmpi options --file: rules for calls"
ZMPI_CONFIG=calls.ini "$ZMPI_TEST_BIN/zmpi" options --file run/other.bin error_bound | grep -q 'write call' && fail "rules for other files' calls"
printf '[part*.bin #7]\nerror_bound = abs=2\n' >calls.ini
ZMPI_CONFIG=calls.ini "$ZMPI_TEST_BIN/zmpi" options --file part_1.bin | grep -q 'part_1.bin is compressed' || fail "a bound for a call alone"
write coarse.bin ZMPI_CONFIG=rules.ini ZMPI_ERROR_BOUND=abs=0.5
grep -q 'coarse.bin.*abs=0.5' out || fail "the environment does not go before the rules for all files"
printf '[*]\nerror_bound = sometimes\n' >broken.ini
field_io 3 ZMPI_CONFIG=broken.ini -- write -t f32 -d 16x32x32 in.raw wrong.z && fail "broken rules were accepted"
said | grep -q 'broken.ini:2.*sometimes' || fail "broken rules: file and line are not named"
wrong ZMPI_CONFIG missing.ini missing.ini
printf '[other.bin]\nerror_bound = rel=1e-2\ndevice = nowhere\n' >rules.ini
write field.bin ZMPI_CONFIG=rules.ini ZMPI_REPORT=report.json
plain field.bin
! said || fail "rules for other files: said that no bound is set"
grep -qx 'zmpi 1 file left plain: without a bound (field.bin)' out || fail "left alone without a word"
python3 -c 'import json; r = json.load(open("report.json")); assert r["files"] == [] and r["new_files_without_bound"] == 1, r' ||
    fail "a report of nothing compressed"
write other.bin ZMPI_CONFIG=rules.ini
said | grep -q 'other.bin: device nowhere: there is no such device' || fail "a rule's device that is not there"

echo "== a ratio"
write field.bin ZMPI_ERROR_BOUND=ratio=8 ZMPI_REPORT=report.json
grep -q 'field.bin.*ratio=8 (abs=[0-9.e-]*, [0-9.e-]* % of the range, computed [0-9]* dB)' out || fail "the bound that a ratio took is not in the report"
grep -q '"largest_bound": [0-9.e-]*[1-9]' report.json || fail "the bound that a ratio took is not in the JSON"
! said || fail "said although the ratio was reached"
# What nobody sets takes the encoder whose errors are smaller.
bound_of() { python3 -c 'import json; print(json.load(open("report.json"))["files"][0]["largest_bound"])'; }
by_default=$(bound_of)
grep -q '"codec": "huffman"' report.json || fail "a ratio's encoder"
write field.bin ZMPI_ERROR_BOUND=ratio=8 ZMPI_REPORT=report.json ZMPI_CODEC=fle
grep -q '"codec": "fle"' report.json || fail "a ratio's encoder that was set"
python3 -c 'import sys; sys.exit(not float(sys.argv[1]) < float(sys.argv[2]))' "$by_default" "$(bound_of)" ||
    fail "a ratio's errors are $by_default, by fle $(bound_of)"
write field.bin ZMPI_ERROR_BOUND=ratio=1e6 ZMPI_CODEC=fle
said | grep -q 'field.bin: asked for ratio=1e+06, got ratio .*; smaller with ZMPI_CODEC=huffman' || fail "the encoder that makes less"
head -c 65536 /dev/zero >in.raw
write field.bin ZMPI_ERROR_BOUND=ratio=4
grep -q 'field.bin.*ratio=4 (without loss)' out || fail "data that need lose nothing"
! said || fail "said although nothing was lost"
make_input
write field.bin ZMPI_ERROR_BOUND=ratio=1e6
said | grep -q 'field.bin: asked for ratio=1e+06, got ratio [0-9.]*, with errors up to [0-9.]*; smaller with ZMPI_CODEC=interp' || fail "a ratio that cannot be had"
said | grep -q 'field.bin: ratio=1e+06 takes errors of up to [0-9.]* % of the range.*dB: little .*; ZMPI_CODEC=interp makes smaller errors' || fail "what is left below 40 dB"
grep -q 'field.bin.*ratio=1e+06 (abs=[0-9.]*, [0-9.]* % of the range, computed [0-9]* dB)' out || fail "the bound as a share of the range"

write field.bin ZMPI_ERROR_BOUND=psnr=60 ZMPI_REPORT=report.json
grep -q 'field.bin.*psnr=60 (abs=[0-9.]*, [0-9.]* % of the range, computed [0-9]* dB)' out || fail "the bound that a psnr took"
grep -q '"psnr_computed": [0-9]' report.json || fail "the psnr is not in the JSON"
! said || fail "said although a psnr is what was asked for"
write field.bin ZMPI_ERROR_BOUND=psnr=39
said | grep -q 'field.bin: psnr=39 takes errors of up to [0-9.]* % of the range, about 39 dB: little of the data may be left$' || fail "a psnr below 40 dB"
write field.bin ZMPI_ERROR_BOUND=psnr=41
! said || fail "said of a psnr of 41 dB"

echo "== what a bound takes: identifiers, and chunks that become constants"
python3 -c 'import array; array.array("f", (i * 7919 % 1000003 for i in range(16384))).tofile(open("in.raw", "wb"))'
write ids.bin ZMPI_ERROR_BOUND=rel=1e-3
said | grep -q 'ids.bin: collective write call 1 has whole numbers.*\[ids.bin #1\] error_bound = lossless' || fail "identifiers"
printf '[*]\nerror_bound = rel=1e-3\n[ids.bin #1]\nerror_bound = lossless\n' >rules.ini
write ids.bin ZMPI_CONFIG=rules.ini
! said || fail "identifiers that are exact"
grep -q "ids.bin.*; some calls' bounds by rules" out || fail "the report does not tell of rules for calls"
python3 -c 'import array, math
array.array("f", (math.sin(i) * (1e-3 if i < 10000 else 1000) for i in range(16384))).tofile(open("in.raw", "wb"))'
write flat.bin ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COMPONENTS=1 ZMPI_REPORT=report.json
said | grep -q 'flat.bin: [0-9]* % of the values that are not exact lie in chunks' || fail "chunks that became constants"
grep -q '"share_constant": 0\.[1-9]' report.json || fail "their share is not in the JSON"
# One outlier is no fill value: it is in the range, and the rest goes.
python3 -c 'import array, math
array.array("f", (-9999 if i == 7777 else math.sin(i * 0.01) for i in range(16384))).tofile(open("in.raw", "wb"))'
write outlier.bin ZMPI_ERROR_BOUND=rel=1e-3
said | grep -q 'outlier.bin: [5-9][0-9]* % of the values .*ZMPI_FILL, or a bound abs or pw_rel' || fail "an outlier takes the rest"
# A fill value nearer to 0 than the others is known, too.
python3 -c 'import array, math
array.array("f", (-9999 if i % 7 == 3 else 1e5 + 2000 * math.sin(i * 0.01) for i in range(16384))).tofile(open("in.raw", "wb"))'
write pressure.bin ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_LOG=info ZMPI_REPORT=report.json
grep -q 'pressure.bin: collective write call 1: f32 .*, fill -9999, ' out || fail "a fill value nearer to 0"
grep -q '"fill": \[-9999\]' report.json || fail "it is not in the JSON"
field_io 1 -- read -t f32 -d 16x32x32 pressure.bin back.raw || fail "reading pressures"
python3 -c 'import array
a, b = (array.array("f", open(f, "rb").read()) for f in ("in.raw", "back.raw"))
assert all(x == y if x < 0 else abs(x - y) <= 4 for x, y in zip(a, b)) and a != b' || fail "pressures and fill values"
# Parts of ranks that end within a point.
python3 -c 'import array, math
array.array("f", ((1, 10, 10, 10, 1e5)[i % 5] * (1 + 0.1 * math.sin(i * 0.001)) for i in range(16384))).tofile(open("in.raw", "wb"))'
write state.bin ZMPI_ERROR_BOUND=rel=1e-3
said | grep -q 'state.bin: data of a call look like 5 variables that take turns, but not in whole points' || fail "points that are cut"
write state.bin ZMPI_ERROR_BOUND=abs=1e-3
! said || fail "points that are cut, whose bound is absolute"

make_input
write field.bin ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COMPONENTS=7
said | grep -q 'field.bin: a call of [0-9]* values cannot be 7 components' || fail "components that do not divide the call"
[ "$(said | wc -l)" = 1 ] || fail "components that do not divide the call: not one line"

echo "== data that are no such floats"
# dressed LOOKS EXPRESSION: an array that is written as MPI_FLOAT is exact, and it is said what it looks like.
dressed() {
    python3 -c "import array, math; $2.tofile(open('in.raw', 'wb'))"
    write dressed.bin ZMPI_ERROR_BOUND=rel=1e-3
    said | grep -q "dressed.bin: a call writes data as MPI_FLOAT that look like $1: .*ZMPI_ELEMENT_TYPE" || fail "$1 as MPI_FLOAT"
    field_io 1 -- read -t f32 -d 16x32x32 dressed.bin back.raw || fail "reading $1"
    cmp in.raw back.raw || fail "$1 are not exact"
}
python3 -c 'import array, math; array.array("f", (2 + math.sin(i * 0.01) for i in range(16384))).tofile(open("in.raw", "wb"))'
write plainly.bin ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_LOG=info
grep -q 'plainly.bin: collective write call 1: f32 .*; clearly f32, 2^0 to 2^1 in [0-9]* samples' out || fail "what the data look like"
dressed '64-bit floats' 'array.array("d", (math.sin(i * 0.01) for i in range(8192)))'
dressed text 'array.array("b", b"".join(b"%15.6e\n" % math.sin(i) for i in range(4096)))'
dressed integers 'array.array("B", (int(128 + 90 * math.sin(i * 0.01)) for i in range(65536)))'
# shellcheck disable=SC2086 # several words are meant
timeout 60 "$MPIEXEC" $flags -n 2 env ZMPI_ERROR_BOUND=rel=1e-2 ZMPI_COLLECTIVE_MODE=always LD_PRELOAD="$ZMPI_TEST_LIB" \
    "$ZMPI_TEST_BIN/tests/element_type" >out 2>&1 || fail "element_type"
said | grep -q 'MPI_Gather on 2 ranks: rank [01] sends data as MPI_FLOAT that look like .*ZMPI_COLLECTIVES=none' || fail "nothing said of messages"
rm -f element_type*.z
make_input

echo "== a shape"
write field.bin ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_SHAPE=17x31x3
said | grep -q 'field.bin: shape 17x31x3 .*does not fit a call of [0-9]* values' || fail "a shape that does not fit"

echo "== commands"
zmpi=$ZMPI_TEST_BIN/zmpi
"$zmpi" decompres x 2>said.txt && fail "a command that is none"
grep -q 'there is no command "decompres"; did you mean zmpi decompress?' said.txt || fail "what was meant: $(cat said.txt)"
"$zmpi" help cat | grep -q '^usage: zmpi cat' || fail "zmpi help cat"
"$zmpi" -V | grep -q '^zmpi [0-9]' || fail "zmpi -V"

echo "== report"
write report.bin ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_REPORT=report.json ZMPI_REPORT_TEXT=off
! grep -q 'MB written' out || fail "a table although the text is off"
python3 - <<'PYTHON' || fail "the report"
import json, os
with open("report.json") as f:
    report = json.load(f)
[entry] = [e for e in report["files"] if e["bytes_written"]]
disk, raw = os.path.getsize("report.bin"), os.path.getsize("in.raw")
assert os.path.basename(entry["path"]) == "report.bin", entry
assert entry["bytes_written"] == raw, entry
assert entry["ranks"] == 3 and entry["bound"] == "rel=0.001" and entry["records"] >= 1, entry
# On disk there are the header and the index besides the records.
assert entry["bytes_stored"] < disk < entry["bytes_stored"] + 4096 + 1000 * entry["records"], (entry, disk)
assert abs(entry["ratio"] * entry["bytes_stored"] - raw) < 1e-3 * raw, entry
assert isinstance(report["collectives"], list)
PYTHON
# A name in another character set, with a line's end in it.
name=$(printf 'r\351sum\351 \303\251\n.bin')
write "$name" ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_REPORT=report.json
LC_ALL=C grep -aq 'sum.* .*\\n\.bin .*rel=0\.001' out || fail "a row of the report is no single line"
python3 - "$name" <<'PYTHON' || fail "a name that is not UTF-8, in the JSON"
import json, os, sys
with open("report.json", encoding="utf-8", errors="strict") as f:
    names = [os.fsencode(e["path"]) for e in json.load(f)["files"]]
assert names == [os.fsencode(sys.argv[1])], names
PYTHON
field_io 2 ZMPI_REPORT=nowhere/r.json -- read -t f32 -d 16x32x32 report.bin back.raw || fail "reading"
said | grep -q 'ZMPI_REPORT=.*nowhere/r.json: its folder cannot be written to: No such file' || fail "a report that cannot be written"
echo "== bytes that look like floats"
layouts=$ZMPI_TEST_BIN/tests/layouts
# shellcheck disable=SC2086 # several words are meant
timeout 60 "$MPIEXEC" $flags -n 2 env ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_REPORT=report.json LD_PRELOAD="$ZMPI_TEST_LIB" "$layouts" exact exact \
    >out 2>&1 || fail "layouts"
grep -q 'restart.dat.*; 100 % of its bytes look like 8-byte floats: ZMPI_ELEMENT_TYPE=auto would make it about [12][0-9]\.[0-9] times smaller' out ||
    fail "nothing said of what ZMPI_ELEMENT_TYPE would save"
grep -q '"bytes_like_f64": [1-9]' report.json || fail "it is not in the JSON"
rm -f restart.dat dump.lammpsbin nek0.f00001 ./*.petsc

echo "== ZMPI_OFF: as if the library were not there"
write off.bin ZMPI_OFF=1 ZMPI_ERROR_BOUND=oops ZMPI_CONFIG=nowhere
plain off.bin
! grep -q zmpi out || fail "the library says something"
write on.bin ZMPI_OFF=0 ZMPI_ERROR_BOUND=rel=1e-3
compressed on.bin
field_io 2 ZMPI_OFF=on -- read -t f32 -d 16x32x32 on.bin back.raw || true
cmp -s in.raw back.raw && fail "a container is read"
cat >off.sh <<'SH'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" != 0 ] || export ZMPI_OFF=1
exec "$@"
SH
chmod +x off.sh
# shellcheck disable=SC2086 # several words are meant
timeout 60 "$MPIEXEC" $flags -n 3 env ZMPI_ERROR_BOUND=rel=1e-3 LD_PRELOAD="$ZMPI_TEST_LIB" ./off.sh "$program" write -t f32 \
    -d 16x32x32 in.raw mixed.bin >out 2>&1 || fail "rank 0 has ZMPI_OFF"
plain mixed.bin
grep -q 'runs without libzmpi.so' out || fail "rank 0 has ZMPI_OFF: nothing said"
rm -f ./*.bin ./*.raw ./*.ini ./*.json ./*.h5 ./*.nc ./*.bp ./*.vtu ./*.cube one.sh off.sh out

#!/bin/bash
# The zmpi tool from the outside. Usage: tool_test.sh PATH-OF-ZMPI
# shellcheck source=tests/tool/lib.sh
. "$(dirname "$0")/lib.sh" "${1:?path of zmpi}"

group="round trips"
python3 "$field" make f32 24000 f32.raw
python3 "$field" make f64 24000 f64.raw
python3 "$field" make f32 24000 odd.raw special
for type in f32 f64; do
    range=$(python3 "$field" range $type $type.raw)
    for shape in "" "-d 120x200" "-d 20x30x40" "-d 2x10x30x40" "-d 24000x1x1"; do
        for bound in abs=0.01 abs=1e-30 rel=1e-3 lossless; do
            expect 0 "$zmpi" compress -t $type -e $bound $shape $type.raw a.zmpi
            expect 0 "$zmpi" decompress a.zmpi back.raw
            case $bound in
            abs=*) eb=${bound#*=} ;;
            rel=*) eb=$(python3 -c "print(${bound#*=} * $range)") ;;
            *) eb=0 ;;
            esac
            check python3 "$field" within $type $type.raw back.raw "$eb"
        done
    done
done
for bound in abs=0.01 rel=1e-3 lossless; do
    expect 0 "$zmpi" compress -t f32 -e $bound -d 20x30x40 odd.raw odd.zmpi
    expect 0 "$zmpi" decompress odd.zmpi back.raw
    check python3 "$field" within f32 odd.raw back.raw 0.12 # the range is that of 0 to 111
done
expect 0 "$zmpi" compress -t f32 -e abs=0.01 -d 20x30x40 --codec huffman:approximate odd.raw odd.zmpi
expect 0 "$zmpi" decompress odd.zmpi back.raw
check python3 "$field" within f32 odd.raw back.raw 0.01
expect 0 "$zmpi" compress --type f32 --codec fle -e lossless f32.raw a.zmpi
expect 0 "$zmpi" verify a.zmpi

group="bounds that are no largest error"
for type in f32 f64; do
    expect 0 "$zmpi" compress -t $type -e pw_rel=1e-3 -d 20x30x40 $type.raw a.zmpi
    check test ! -s out
    expect 0 "$zmpi" verify a.zmpi
    expect 0 "$zmpi" info --json a.zmpi
    check json "d['records'][0]['bound'] == 'pw_rel=0.001' and d['records'][0]['abs_bound'] is None"
    expect 0 "$zmpi" info a.zmpi
    check grep -q 'pw_rel=0.001, ratio' out
    expect 0 "$zmpi" compare -t $type --json $type.raw a.zmpi
    check json "1e-4 < d['max_relative_error'] <= 1e-3"
    expect 0 "$zmpi" compress -t $type -e psnr=60 -d 20x30x40 $type.raw a.zmpi
    check grep -q '^psnr=60: absolute bound 0\.[0-9]*$' out
    expect 0 "$zmpi" info a.zmpi
    check grep -q 'psnr=60 (abs 0\.[0-9]*), ratio' out
    expect 0 "$zmpi" compare -t $type --json $type.raw a.zmpi
    check json "60 <= d['psnr'] < 65"
done
for type in f32 f64; do
    expect 0 "$zmpi" compress -t $type -e ratio=4 -d 20x30x40 $type.raw a.zmpi
    check grep -q '^ratio=4: [34]\.[0-9]*, absolute bound [0-9.e-]*$' out
    expect 0 "$zmpi" info a.zmpi
    check grep -q 'ratio=4 (abs [0-9.e-]*), huffman' out
    expect 0 "$zmpi" info --json a.zmpi
    check json "d['records'][0]['bound'] == 'ratio=4' and 0 < d['records'][0]['abs_bound'] < 1"
    check json "[(k['records'], k['extents'], k['bound']) for k in d['kinds']] == [(1, [20, 30, 40], 'ratio=4')]"
    check json "[(k['values'], k['components'], k['range']) for k in d['kinds']] == [(24000, 1, [None, None])]"
    expect 0 "$zmpi" info -a a.zmpi
    check grep -q "^kind  *1 x $type 20x30x40, ratio=4 (abs" out
    expect 0 "$zmpi" verify a.zmpi
done
expect 0 "$zmpi" compress -t f32 -e ratio=1e9 f32.raw a.zmpi
check grep -q '^ratio=1e+09 is not possible: [0-9.]*, absolute bound [0-9.]*; smaller with --codec interp$' out
expect 0 "$zmpi" compress -t f32 -e ratio=1e9 --codec fle f32.raw a.zmpi
check grep -q '; smaller with --codec huffman$' out
head -c 65536 /dev/zero >zero.raw
expect 0 "$zmpi" compress -t f64 -e ratio=2 zero.raw a.zmpi
check grep -q '^ratio=2: [0-9.]*, without loss$' out
expect 0 "$zmpi" decompress a.zmpi back.raw
check cmp zero.raw back.raw
for bound in psnr=70 pw_rel=1e-2 ratio=6; do
    expect 0 "$zmpi" bench -t f32 -e $bound --size 64K --repetitions 1 --json f32.raw
    check json "d['bound'][:4] == '${bound:0:4}' and 0.5 < d['max_error_over_bound'] <= 1 and d['ratio'] > 1"
done

group="components"
python3 -c 'import array, math
a = array.array("d", (10.0 ** (i % 3) * (2 + math.sin(i // 3 * 0.01)) for i in range(3 * 20000)))
a.tofile(open("turns.raw", "wb"))
array.array("d", (a[i] for c in range(3) for i in range(c, len(a), 3))).tofile(open("blocks.raw", "wb"))
array.array("d", (7 if i % 3 else x for i, x in enumerate(a))).tofile(open("constants.raw", "wb"))'
for how in "turns.raw" "turns.raw --components 3" "turns.raw --components 3 -d 20000x3" "turns.raw --components 3 -d 200x100" \
    "turns.raw --components 3 -d 200x300" "turns.raw --components 3 -d 3x20000" "blocks.raw --components 3:slow -d 300x200" \
    "blocks.raw --components 3:slow" "blocks.raw --components 3:slow -d 3x200x100"; do
    in=${how%% *}
    slow=3
    [ "$in" = turns.raw ] || slow=3:slow
    # shellcheck disable=SC2086 # several words
    expect 0 "$zmpi" compress -t f64 -e rel=1e-3 ${how#"$in"} "$in" a.zmpi
    expect 0 "$zmpi" verify a.zmpi
    expect 0 "$zmpi" compare -t f64 --components $slow --json "$in" a.zmpi
    check json "len(d['components']) == 3 and all(0 < c['max_error_over_range'] <= 1e-3 for c in d['components'])"
done
expect 0 "$zmpi" info --json a.zmpi
check json "[r['extents'] for r in d['records']] == [[1, 200, 100]] * 3"
expect 0 "$zmpi" compress -t f64 -e rel=1e-3 --components 3 turns.raw a.zmpi
expect 0 "$zmpi" info -a --json a.zmpi
check json "[k['components'] for k in d['kinds']] == [3] * 3 and [k['from'] for k in d['kinds']] == [0, 8, 16]"
check json "[k['values'] for k in d['kinds']] == [20000] * 3"
check json "all(abs(k['range'][i] / 10 ** c - (1, 3)[i]) < 0.01 for c, k in enumerate(d['kinds']) for i in (0, 1))"
expect 0 "$zmpi" info -a a.zmpi
check grep -q '^kind  *1 x f64 [0-9x]*, one of 3 components, rel=0.001 (abs 0.00[0-9]* to 0.00[0-9]*), values [01]\.[0-9]* to [23][.0-9]*, .*, 20000 values from byte 0$' out
head -c 3000 a.zmpi >cut.zmpi
"$zmpi" info -a cut.zmpi >out 2>err
check test $? -lt 3
expect 0 "$zmpi" compress -t f64 -e rel=1e-3 --components 1 turns.raw a.zmpi
expect 0 "$zmpi" info --json a.zmpi
check json "len(d['records']) == 1"
expect 0 "$zmpi" bench -t f64 --components 3 --size 64K --repetitions 1 --json turns.raw
check json "len(d['results']) == 3"
expect 2 "$zmpi" compress -t f64 -e rel=1e-3 --components 7 turns.raw x.zmpi
says "turns.raw: 60000 elements are no multiple of 7 components"
for how in turns.raw:3 blocks.raw:3:slow turns.raw:0; do
    in=${how%%:*} components=${how#*:}
    [ "$components" = 0 ] && components= || components="--components $components"
    # shellcheck disable=SC2086 # several words
    expect 0 "$zmpi" compress -t f64 -e ratio=9 $components "$in" a.zmpi
    check grep -q '^ratio=9: [89][.0-9]*, absolute bounds [0-9.e-]* to [0-9.e-]*, at most [0-9.e-]* of a component.s range$' out
    # shellcheck disable=SC2086
    expect 0 "$zmpi" compare -t f64 ${components:---components 3} --json "$in" a.zmpi
    check json "abs(d['size_ratio'] / 9 - 1) < 0.1"
    check json "0 < max(c['max_error_over_range'] for c in d['components']) < 1.1 * min(c['max_error_over_range'] for c in d['components'])"
    expect 0 "$zmpi" decompress a.zmpi back.raw
    # shellcheck disable=SC2086
    expect 0 "$zmpi" compress -t f64 -e ratio=9 $components back.raw a.zmpi
    expect 0 "$zmpi" compare -t f64 --json back.raw a.zmpi
    check json "d['differing'] == 0"
done
expect 0 "$zmpi" compress -t f64 -e ratio=9 --components 3 constants.raw a.zmpi # these take no room, which the third one uses
check grep -q '^ratio=9: [89]' out
expect 0 "$zmpi" compress -t f64 -e psnr=60 --components 3 turns.raw a.zmpi
check grep -q '^psnr=60: absolute bounds ' out
expect 2 "$zmpi" compress -t f64 -e abs=1 --components 65 turns.raw x.zmpi
expect 2 "$zmpi" compare -t f64 --components 7 turns.raw turns.raw
expect 0 "$zmpi" compress -t f64 -e rel=1e-3 --components 3 turns.raw a.zmpi
expect 0 "$zmpi" compare -t f64 --components 3 turns.raw a.zmpi
check test "$(grep -c '^component [012] .* of the range), [0-9.]* to [0-9.]*, PSNR' out)" = 3
expect 0 "$zmpi" bench -t f64 --components 3:slow -d 3x200x100 --size 2M --repetitions 1 --json blocks.raw
check json "[r['dims'] for r in d['results']] == [[1, 800, 100]] * 3"
check json "all(1e-4 < r['max_error'] / 10 ** c < 2.1e-3 for c, r in enumerate(d['results']))"
expect 2 "$zmpi" bench -t f64 --components 7:slow blocks.raw

group="nothing at all"
: >empty
expect 0 "$zmpi" compress -t f32 -e abs=1 empty empty.zmpi
expect 0 "$zmpi" info empty.zmpi
expect 0 "$zmpi" info --json empty.zmpi
check json "d['logical_size'] == 0 and d['records'] == []"
cp a.zmpi over.zmpi
printf 'a header of something else' | dd of=over.zmpi conv=notrunc status=none
expect 1 "$zmpi" verify over.zmpi
says "over.zmpi: was a zmpi container before its first bytes were written over"
expect 0 "$zmpi" verify empty.zmpi
expect 0 "$zmpi" fsck empty.zmpi
expect 0 "$zmpi" cat empty.zmpi
check test ! -s out
expect 0 "$zmpi" decompress empty.zmpi back.raw
check cmp empty back.raw
expect 0 "$zmpi" compare -t f32 empty empty.zmpi
check cmp out <(echo "elements            0, 0 differ")

group="few values, and a fill value among them"
python3 -c 'import array, math
array.array("f", (-9999 if i % 7 == 3 else 1e5 + 2000 * math.sin(i * 0.01) for i in range(16384))).tofile(open("pressure.raw", "wb"))'
expect 0 "$zmpi" compress -t f32 -e rel=1e-3 -v pressure.raw pressure.zmpi
check grep -q '^clearly f32, 2^13 to 2^16 in 256 samples$' out
expect 0 "$zmpi" decompress pressure.zmpi back.raw
check python3 -c 'import array
was, now = (array.array("f", open(name, "rb").read()) for name in ("pressure.raw", "back.raw"))
assert all(x == y if x == -9999 else abs(x - y) <= 4 for x, y in zip(was, now))'
expect 0 "$zmpi" compress -t f32 -e rel=1e-3 -v pressure.raw pressure.zmpi
check [ "$(wc -l <out)" -le 3 ]
expect 0 "$zmpi" compress -t f32 -e rel=1e-3 --fill=-9999 pressure.raw pressure.zmpi
check test ! -s out
head -c 16384 pressure.raw >few.raw
expect 0 "$zmpi" compress -t f32 -e abs=1 few.raw few.zmpi
check grep -q '^4096 values within the bound: .*-e lossless keeps them$' out
head -c 16388 pressure.raw >few.raw
expect 0 "$zmpi" compress -t f32 -e abs=1 few.raw few.zmpi
check test ! -s out

group="wrong arguments"
expect 2 "$zmpi"
expect 2 "$zmpi" nonsense
says nonsense
for command in compress decompress cat info verify fsck trim compare; do
    expect 2 "$zmpi" $command
    expect 2 "$zmpi" $command --no-such-option f32.raw f32.raw
    expect 2 "$zmpi" $command a b c d
    expect 0 "$zmpi" $command --help
    check grep -qi "usage" out
done
expect 0 "$zmpi" --help
expect 0 "$zmpi" --version
check grep -q '^zmpi [0-9]' out
expect 2 "$zmpi" options extra
says 'there is no setting extra'
expect 0 "$zmpi" options codec zmpi_FILL
[ "$(grep -c '^ZMPI_' out)" = 2 ] || fail "options of two settings: $(cat out)"
expect 0 "$zmpi" options --json
check json '{"codec", "fill"} <= {o["name"] for o in d}'
c="$zmpi compress"
expect 2 $c -t f16 -e abs=1 f32.raw x.zmpi
for bound in abs=0 abs=-1 abs=nan rel=0 rel=1 rel=-1 psnr=0 psnr=301 pw_rel=1 pw_rel= ratio=1 ratio=x "" 1e-3; do
    expect 2 $c -t f32 -e "$bound" f32.raw x.zmpi
done
expect 2 $c -t f32 f32.raw x.zmpi # no bound anywhere
for fill in "" x inf 1,2,3 "1,"; do
    expect 2 $c -t f32 -e abs=1 --fill "$fill" f32.raw x.zmpi
done
says "zmpi compress: --fill 1,: one or two finite numbers separated by ','"
for codec in zip huffman: huffman:exact fle:approximate; do
    expect 2 $c -t f32 -e abs=1 --codec $codec f32.raw x.zmpi
done
for shape in 0 10x -1x2 axb "" 20x30x41 24001 4294967296x4294967296x4294967296; do
    expect 2 $c -t f32 -e abs=1 -d "$shape" f32.raw x.zmpi
done
head -c 1001 f32.raw >uneven.raw
expect 2 $c -t f32 -e abs=1 uneven.raw x.zmpi
says "uneven.raw"
python3 -c 'import array, sys; a = array.array("f", open("f32.raw", "rb").read()); a.byteswap(); sys.stdout.buffer.write(a)' >turned.raw
expect 2 $c -t f32 -e abs=1 turned.raw x.zmpi
says "turned.raw: its numbers are in the other byte order"
python3 -c "import array; array.array('I', range(1, 20000, 3)).tofile(open('small.raw', 'wb'))" # denormals as f32
expect 2 $c -t f32 -e abs=1e-3 small.raw x.zmpi
says "or scale such floats up first"
python3 -c 'import array, sys; sys.stdout.buffer.write(array.array("i", range(1000)).tobytes())' >integers.raw
expect 2 $c -t f32 -e abs=1 integers.raw x.zmpi
says "integers.raw: has integers"
python3 -c "import array, math, sys; sys.stdout.buffer.write(array.array('d', (math.sin(i * 1e-3) for i in range(9000))))" >wide.raw
expect 2 $c -t f32 -e abs=1e-3 wide.raw x.zmpi
says "wide.raw: -t says f32, its data look like 64-bit floats"
expect 0 $c -t f64 -e abs=1e-3 wide.raw wide.zmpi
expect 2 $c -t f32 -e abs=1 missing.raw x.zmpi
says "zmpi compress: missing.raw: No such file or directory"
expect 2 $c -t f32 -e abs=1 . x.zmpi
expect 2 $c -t f32 -e abs=1 f32.raw nowhere/x.zmpi
says "No such file or directory"
check absent x.zmpi
for command in info verify fsck trim "decompress f32.raw"; do
    expect 2 "$zmpi" $command f32.raw
done
# A lossy file in the place of its original: that mistake costs the data.
cp f32.raw same.raw
expect 2 $c -t f32 -e abs=1 same.raw same.raw
check cmp f32.raw same.raw

group="settings"
ZMPI_ERROR_BOUND=abs=0.5 expect 0 $c -t f32 f32.raw x.zmpi
expect 0 "$zmpi" info --json x.zmpi
check json "d['records'][0]['bound'] == 'abs=0.5' and d['records'][0]['type'] == 'f32'"
ZMPI_ERROR_BOUND=abs=0.5 expect 0 $c -t f32 -e lossless f32.raw x.zmpi
expect 0 "$zmpi" info --json x.zmpi
check json "d['records'][0]['bound'] == 'lossless'"
ZMPI_ERROR_BOUND=rel=-1 expect 2 $c -t f32 -e lossless f32.raw x.zmpi
says "ZMPI_ERROR_BOUND=rel=-1: allowed are abs=V, rel=V, pw_rel=V (V > 0, rel and pw_rel < 1), psnr=dB (up to 300), ratio=R (R > 1) or lossless"
check one_line
ZMPI_EROR_BOUND=abs=1 expect 2 $c -t f32 -e lossless f32.raw x.zmpi
says "did you mean ZMPI_ERROR_BOUND"
ZMPI_DEVICE=warpdrive expect 2 $c -t f32 -e lossless f32.raw x.zmpi
says warpdrive
ZMPI_DEVICE=cpu expect 0 $c -t f32 -e lossless f32.raw x.zmpi
# What is there can be read without the device.
ZMPI_DEVICE=warpdrive expect 0 "$zmpi" decompress x.zmpi back.raw
says 'ZMPI_DEVICE=warpdrive: there is no such device'
check one_line
check cmp back.raw f32.raw
ZMPI_DEVICE=cpu expect 0 "$zmpi" decompress --verbose x.zmpi back.raw
check grep -qxF 'device cpu (ZMPI_DEVICE=cpu)' out
for n in 1 2 7; do
    ZMPI_THREADS=$n expect 0 $c -t f32 -e abs=0.01 -d 20x30x40 f32.raw t$n.zmpi
    expect 0 "$zmpi" cat t$n.zmpi
    cp out t$n.raw
    check cmp t1.raw t$n.raw
done
ZMPI_THREADS=lots expect 2 $c -t f32 -e lossless f32.raw x.zmpi
printf '[*.zmpi]\nerror_bound = abs=oops\n' >rules.ini
ZMPI_CONFIG=rules.ini expect 2 $c -t f32 -e lossless f32.raw x.zmpi
says "rules.ini:2:"
ZMPI_THREADS=5 expect 0 "$zmpi" options
for text in ZMPI_ERROR_BOUND ZMPI_FILES ZMPI_PLUGIN_PATH zmpi_error_bound environment default; do
    check grep -q $text out
done
ZMPI_LOG=loud expect 2 "$zmpi" options
says "ZMPI_LOG=loud"

head -c 100 /dev/zero >zeros.ini
expect 2 env ZMPI_CONFIG=zeros.ini timeout 20 "$zmpi" options
says "zeros.ini:1: a zero byte: not a text file"
expect 2 env ZMPI_CONFIG=/dev/zero timeout 20 "$zmpi" options
says "ZMPI_CONFIG=/dev/zero: is not a regular file"

group="cat"
expect 0 $c -t f32 -e abs=0.01 -d 20x30x40 f32.raw a.zmpi
expect 0 "$zmpi" decompress a.zmpi back.raw
expect 0 "$zmpi" cat a.zmpi
check cmp out back.raw
for range in "0 0" "0 1" "1 7" "4095 2" "17 70000" "95999 1" "0 96000" "32768 32768" "50000 999999"; do
    set -- $range
    tail -c +$(($1 + 1)) back.raw | head -c "$2" >part
    expect 0 "$zmpi" cat a.zmpi -o "$1" -n "$2"
    check cmp out part
done
expect 0 "$zmpi" cat -o 96000 a.zmpi
check test ! -s out
for bad in -o\ x -n\ -1 -o\ 1z -n; do
    expect 2 "$zmpi" cat a.zmpi $bad
done

group="info"
for command in $("$zmpi" --help | sed -n 's/^  zmpi \([a-z]*\) .*/\1/p'); do
    expect 0 "$zmpi" help "$command"
    check grep -q "^    .*zmpi $command" out
done
expect 0 "$zmpi" info a.zmpi
check grep -q 96000 out
# What people ask comes first.
check test "$(sed -n '2,6s/ .*//p' out | tr '\n' ' ')" = "logical on f32 complete records "
check grep -q '^complete  *yes' out
expect 0 "$zmpi" info -a a.zmpi
expect 0 "$zmpi" info --json a.zmpi
check json "d['logical_size'] == 96000 and d['physical_size'] == $(stat -c %s a.zmpi)"
check json "len(d['records']) == 1 and d['records'][0]['extents'] == [20, 30, 40]"
check json "d['records'][0]['lo'] == 0 and d['records'][0]['hi'] == 96000 and d['records'][0]['encoder'] == 'fle'"
check json "d['types']['f32']['records'] == 1 and d['types']['f32']['bytes'] == 96000"
check test "$(grep -c family out)" = 0
expect 0 "$zmpi" compress -t f32 -d 20x30x40 -e rel=1e-2 --codec interp f32.raw interp.zmpi
expect 0 "$zmpi" info interp.zmpi
check grep -Eq 'interp \((lattice along z?y?x?, [1-9] levels|Lorenzo along z?y?x?)\), ratio' out
expect 0 "$zmpi" info --json interp.zmpi
check json "d['records'][0]['family'] in ('lattice', 'Lorenzo') and d['records'][0]['axes'] in 'zyx zx'"
check json "(d['records'][0]['halvings'] > 0) == (d['records'][0]['family'] == 'lattice')"
cp a.zmpi 'quote"back\slash.zmpi'
expect 0 "$zmpi" info --json 'quote"back\slash.zmpi'
check json "d['path'] == 'quote\"back\\\\slash.zmpi'"

group="compare"
# Type and shape by name, or by what a container holds.
cp f32.raw wind_20x30x40.f32
cp f32.raw wrong_7x7.f32
expect 0 "$zmpi" compress -e rel=1e-3 wind_20x30x40.f32 named.zmpi
expect 0 "$zmpi" compress -t f32 -d 20x30x40 -e rel=1e-3 f32.raw told.zmpi
[ "$(wc -c <named.zmpi)" = "$(wc -c <told.zmpi)" ] || fail "a name that is not used"
expect 0 "$zmpi" compress -e rel=1e-3 wrong_7x7.f32 wrong.zmpi
expect 0 "$zmpi" compare --json f32.raw named.zmpi
expect 0 "$zmpi" compare --json named.zmpi wrong_7x7.f32
expect 2 "$zmpi" compare f32.raw f32.raw
expect 2 "$zmpi" compress -e rel=1e-3 f32.raw no.zmpi
expect 2 "$zmpi" compress -t f32 -e rel=10% f32.raw no.zmpi
grep -q 'rel=0.1' err || fail "10% without a hint"
rm -f wind_20x30x40.f32 wrong_7x7.f32 named.zmpi told.zmpi wrong.zmpi

expect 0 "$zmpi" compare -t f32 -d 20x30x40 --json f32.raw a.zmpi
check json "0 < d['max_error'] <= 0.01 and 50 < d['psnr'] < 120 and 0.9 < d['ssim'] <= 1"
check json "d['elements'] == 24000 and d['special_changed'] == 0 and d['size_ratio'] > 1"
expect 0 "$zmpi" compare -t f32 f32.raw a.zmpi
expect 0 "$zmpi" compare -t f32 --json f32.raw f32.raw
check json "d['max_error'] == 0 and d['psnr'] is None and d['ssim'] == 1"
expect 0 "$zmpi" compare -t f32 odd.raw odd.zmpi
expect 1 "$zmpi" compare -t f32 f32.raw odd.raw
expect 1 "$zmpi" compare -t f32 f32.raw f64.raw
expect 2 "$zmpi" compare -t f32 -d 7x7 f32.raw a.zmpi
expect 2 "$zmpi" compare -t f32 f32.raw missing
says missing
# One known error at one known place.
python3 - <<'END'
import array
a = array.array("f", open("f32.raw", "rb").read())
a[12345] += 4
open("off.raw", "wb").write(a.tobytes())
END
expect 0 "$zmpi" compare -t f32 --json f32.raw off.raw
check json "abs(d['max_error'] - 4) < 1e-4 and d['max_error_at'] == 12345 and d['differing'] == 1"

# Bits of NaN count.
printf '\001\000\200\177' >signalling.raw
printf '\001\000\300\177' >quiet.raw
expect 0 "$zmpi" compare -t f32 signalling.raw signalling.raw
expect 1 "$zmpi" compare -t f32 signalling.raw quiet.raw

group="streams"
expect 0 bash -c "cat f32.raw | '$zmpi' compress -t f32 -e abs=0.01 -d 20x30x40 - piped.zmpi"
expect 0 "$zmpi" cat piped.zmpi
check cmp out back.raw
expect 0 bash -c "cat a.zmpi | '$zmpi' cat -"
check cmp out back.raw
expect 0 bash -c "'$zmpi' cat - <a.zmpi"
check cmp out back.raw
expect 0 "$zmpi" decompress a.zmpi -
check cmp out back.raw
expect 0 bash -c "cat a.zmpi | '$zmpi' decompress - streamed.raw"
check cmp streamed.raw back.raw
expect 0 bash -c "cat a.zmpi | '$zmpi' info --json -"
check json "d['logical_size'] == 96000"
expect 0 bash -c "cat a.zmpi | '$zmpi' compare -t f32 f32.raw -"

group="full disk"
expect 2 bash -c "'$zmpi' cat a.zmpi >/dev/full"
says "No space left on device"
expect 2 bash -c "'$zmpi' decompress a.zmpi - >/dev/full"
says "No space left on device"
expect 2 "$zmpi" decompress a.zmpi /dev/full
says "zmpi decompress: /dev/full: No space left on device"
for command in "info a.zmpi" options --help "compress --help" "verify a.zmpi" "compare -t f32 f32.raw a.zmpi"; do
    expect 2 bash -c "'$zmpi' $command >/dev/full"
done
mkdir small
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=16k tmpfs small 2>/dev/null; then
    mounted=$work/small
    echo precious >small/out
    expect 2 "$zmpi" decompress a.zmpi small/out
    says "small/out: No space left on device"
    expect 2 $c -t f32 -e lossless f32.raw small/out
    says "small/out: No space left on device"
    check grep -qx precious small/out
    check test "$(ls -A small)" = out
fi

group="what is compressed already, and holes"
expect 0 $c -t f32 -e abs=0.01 f32.raw a.zmpi
expect 2 $c -t f32 -e abs=0.01 a.zmpi b.zmpi
says "a.zmpi: is compressed already"
check absent b.zmpi
python3 -c 'import os; f = open("holes.raw", "wb"); f.write(b"ab\0c" * 4096); f.truncate(9 << 20); f.seek(5 << 20); f.write(b"x" * 5)
f.truncate((9 << 20) + 4)'
expect 0 $c -t f32 -e lossless holes.raw holes.zmpi
expect 0 "$zmpi" decompress holes.zmpi holes.back
check cmp holes.raw holes.back
[ "$(du -k holes.raw | cut -f1)" -gt 1024 ] || check test "$(du -k holes.back | cut -f1)" -lt 1024
rm -f holes.*

group="output appears when it is complete"
echo precious >kept
expect 2 "$zmpi" decompress f32.raw kept
expect 2 $c -t f32 -e abs=1 -d 3 f32.raw kept
check grep -qx precious kept
umask 027
expect 0 "$zmpi" decompress a.zmpi mode.raw
check test "$(stat -c %a mode.raw)" = 640
umask 022
chmod 600 mode.raw # others' rights, and links, are those that were there
ln -s mode.raw link.raw
expect 0 "$zmpi" decompress a.zmpi link.raw
check test -L link.raw
check test "$(stat -c %a mode.raw)" = 600
check cmp mode.raw back.raw
mkdir ours && cp a.zmpi kept ours && chmod 444 ours/kept && chmod 777 ours
if [ "$(id -u)" -eq 0 ]; then # to root nothing is read-only
    chmod 755 . && chown -R 65534 ours
    other() { setpriv --reuid=65534 --clear-groups -- "$@"; }
else
    other() { "$@"; }
fi
if other test -r ours/a.zmpi && other test -x "$zmpi"; then
    expect 2 other "$zmpi" decompress ours/a.zmpi ours/kept
    says "ours/kept: Permission denied"
    check cmp kept ours/kept
fi
# A signal leaves what was there, and nothing else: at any time.
python3 -c 'import os; open("noise.raw", "wb").write(os.urandom(1 << 20) * 64)'
for delay in 0.01 0.03 0.1; do
    timeout --preserve-status -s TERM $delay "$zmpi" compress -t f32 -e lossless noise.raw signal.zmpi
done
rm -f noise.raw
check no_leftovers

group="where output goes"
closed() { "$@" <&- >&-; } # standard input and output
silent() { "$@" >&-; }
short() { (ulimit -f 8 && "$@"); }
expect 0 closed "$zmpi" compress -t f32 -e abs=1e-3 f32.raw closed.zmpi
expect 0 closed "$zmpi" decompress closed.zmpi closed.raw
check python3 "$field" within f32 f32.raw closed.raw 0.001
expect 2 silent "$zmpi" cat closed.zmpi
says "standard output"
expect 2 short "$zmpi" decompress closed.zmpi short.raw
says "File too large"
check absent short.raw
long=$(printf 'x%.0s' $(seq 250)).zmpi
expect 0 "$zmpi" compress -t f32 -e abs=1e-3 f32.raw "$long"
check cmp closed.raw <("$zmpi" cat "$long")
rm "$long"
ln -s nowhere dangling.zmpi
expect 2 "$zmpi" compress -t f32 -e abs=1e-3 f32.raw dangling.zmpi
says "dangling.zmpi: is a link to what is not there (No such file or directory)"
ln -s around around
expect 2 "$zmpi" compress -t f32 -e abs=1e-3 f32.raw around
says "Too many levels of symbolic links"
rm around
if [ -r /proc/self/maps ]; then
    expect 2 "$zmpi" compress -t f32 -e abs=1 /proc/self/maps maps.zmpi
    says "does not say how long it is"
fi
check no_leftovers

finish

#!/bin/bash
# convert.sh: zmpi convert to .npy, .vti and .h5: numbers, type and shape, by names, options and what a container holds; what cannot be.
set -u
zmpi=$ZMPI_TEST_BIN/zmpi
hdf5=$ZMPI_TEST_BIN/../lib/zmpi/convert/libzmpi_convert_hdf5.so
golden=$ZMPI_TEST_SOURCE/tests/golden/big_endian.zmpi
python=/usr/bin/python3
"$python" -c 'import numpy' 2>/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset "${!ZMPI_@}"

fail() {
    printf 'FAIL: %s\n' "$*"
    cat out
    exit 1
}

# refused TEXT ARGUMENT...: with this line, and no file.
refused() {
    local text=$1
    shift
    ! "$zmpi" convert "$@" >out 2>&1 || fail "$* is not refused"
    grep -qF -- "$text" out || fail "$*: the line does not say $text"
    [[ ! -e ${*: -1} ]] || fail "$*: a file was written"
}

: >out
"$python" - <<'P'
import numpy as np
z, y, x = np.meshgrid(np.arange(6), np.arange(70), np.arange(90), indexing="ij")
for t in "f4", "f8":
    (np.sin(x * 0.1) + y * 0.01 + z).astype(t).tofile(f"a_6x70x90.f{8 * int(t[1])}")
np.arange(1000, dtype="f4").tofile("row.raw")
P
# Big-endian numbers stay such; what compares them knows.
"$zmpi" decompress "$golden" big.raw >out 2>&1 || fail "decompress big-endian"
for out in big.npy big.vti; do
    "$zmpi" convert -t f32 "$golden" $out >out 2>&1 || fail "big-endian $out"
done
"$python" - <<'P' || fail "big-endian numbers"
import numpy as np
want = np.fromfile("big.raw", ">f4")
a = np.load("big.npy")
assert a.dtype == np.dtype(">f4") and a.tobytes() == want.tobytes(), a.dtype
head, data = open("big.vti", "rb").read().split(b'<AppendedData encoding="raw">\n_', 1)
assert b'byte_order="BigEndian"' in head and int.from_bytes(data[:8], "big") == want.nbytes
assert data[8:8 + want.nbytes] == want.tobytes()
want[10] += 128
want.tofile("changed.raw")
P
"$zmpi" compare -t f32 --json "$golden" changed.raw >out || fail "compare big-endian"
grep -q '"max_error": 128,' out || fail "compare: another error than 128"
rm -f ./*.npy ./*.vti

for type in f32 f64; do
    raw=a_6x70x90.$type
    "$zmpi" compress -e rel=1e-3 $raw a.z >out 2>&1 || fail compress
    "$zmpi" decompress a.z back.raw || fail decompress
    for out in a.npy a.vti; do
        "$zmpi" convert a.z z_$out >out 2>&1 || fail "a.z $out" # what it holds tells
        grep -qx "z_$out: 6x70x90 $type" out || fail "a.z $out: $(cat out)"
        "$zmpi" convert $raw raw_$out >out 2>&1 || fail "$raw $out"
    done
    "$python" - $type <<'P' || fail "$type: what was written"
import re, sys
import numpy as np
t = "f4" if sys.argv[1] == "f32" else "f8"
raw, back = np.fromfile("a_6x70x90." + sys.argv[1], t), np.fromfile("back.raw", t)
for name, want in ("raw_a", raw), ("z_a", back):
    a = np.load(name + ".npy")
    assert a.dtype == t and a.shape == (6, 70, 90) and np.array_equal(a.ravel(), want), name
    text = open(name + ".vti", "rb").read()
    head, data = text.split(b'<AppendedData encoding="raw">\n_', 1)
    assert b'WholeExtent="0 89 0 69 0 5"' in head and b'"Float%d"' % (8 * want.itemsize) in head, head
    n = int.from_bytes(data[:8], "little")
    assert n == want.nbytes and np.array_equal(np.frombuffer(data[8:8 + n], t), want), name
    import xml.etree.ElementTree as tree
    assert tree.fromstring(head + b'<AppendedData>' + data[8 + n:]).tag == "VTKFile"
P
    rm -f ./*.npy ./*.vti
done
"$zmpi" convert -t f32 row.raw row.npy >out 2>&1 && "$zmpi" convert -t f32 -d 10x100 row.raw two.npy >out 2>&1 || fail "shapes by -d"
"$python" -c 'import numpy as n; a, b = n.load("row.npy"), n.load("two.npy"); assert a.shape == (1000,) and b.shape == (10, 100) and (b.ravel() == a).all()' ||
    fail "shapes by -d"
refused 'no type' row.raw x.npy
refused '.npy, .vti or .h5' a.z x.raw
refused 'numbers have others' -t f32 -d 7x100 row.raw x.npy
head -c 1001 row.raw >odd.raw
refused 'no f32 numbers' -t f32 odd.raw x.npy
"$zmpi" convert -d 10x10 a.z x.npy >out 2>&1 && fail "a shape that does not fit"

# ---- HDF5, read by h5dump and h5py ----

if [[ ! -e $hdf5 ]]; then
    refused "HDF5" a.z x.h5
    echo "no HDF5 library: conversion to .h5 is left out"
else
    truncate -s 40000000 hole.raw # most of it is a hole, in the container and in what is made of it
    dd if=a_6x70x90.f64 of=hole.raw bs=1000 seek=20000 conv=notrunc status=none
    "$zmpi" compress -t f64 -d 5000000 -e pw_rel=1e-3 hole.raw hole.z >out 2>&1 || fail "compress hole"
    "$zmpi" convert a.z a.h5 >out 2>&1 || fail "a.z a.h5"
    grep -qx "a.h5: 6x70x90 f64" out || fail "a.z a.h5: $(cat out)"
    "$zmpi" convert a_6x70x90.f32 raw.h5 >out 2>&1 && "$zmpi" convert hole.z hole.hdf5 >out 2>&1 &&
        "$zmpi" convert -t f32 "$golden" big.h5 >out 2>&1 || fail "to .h5"
    if "$python" -c 'import h5py' 2>/dev/null; then
        "$python" - <<'P' || fail "h5py"
import h5py, numpy as np
for name, raw, t, shape in (("a.h5", "back.raw", "<f8", (6, 70, 90)), ("raw.h5", "a_6x70x90.f32", "<f4", (6, 70, 90)),
                            ("big.h5", "big.raw", ">f4", None)):
    d = h5py.File(name, "r")["values"]
    assert d.dtype == np.dtype(t) and shape in (None, d.shape), (name, d)
    assert d[...].tobytes() == np.fromfile(raw, t).tobytes(), name
d = h5py.File("a.h5", "r")["values"]
assert d.attrs["zmpi_error_bound"] in ("rel=0.001", b"rel=0.001"), dict(d.attrs)
assert 0 < d.attrs["zmpi_absolute_bound"] < 1e-1 and d.attrs["zmpi_source"] in ("a.z", b"a.z"), dict(d.attrs)
assert "zmpi_error_bound" not in h5py.File("raw.h5", "r")["values"].attrs
d = h5py.File("hole.hdf5", "r")["values"]
want = np.fromfile("hole.raw", "<f8")
assert d.shape == want.shape and "zmpi_absolute_bound" not in d.attrs and np.allclose(d[...], want, rtol=1.001e-3, atol=0)
P
    else
        echo "no h5py: what it reads is not compared"
    fi
    if command -v h5dump >/dev/null; then
        h5dump a.h5 >dump 2>&1 || fail "h5dump"
        for text in 'H5T_IEEE_F64LE' '( 6, 70, 90 )' 'zmpi_error_bound' 'zmpi_absolute_bound'; do
            grep -qF -- "$text" dump || fail "h5dump without $text"
        done
        h5dump -b LE -d values -o dumped a.h5 >out 2>&1 && cmp dumped back.raw || fail "h5dump: other numbers"
        h5dump -H big.h5 | grep -q H5T_IEEE_F32BE || fail "h5dump: byte order"
    else
        echo "no h5dump: what it reads is not compared"
    fi
fi

dd if=/dev/urandom of=a.z bs=1 seek=5000 count=400 conv=notrunc 2>/dev/null
for name in x.npy x.h5; do
    "$zmpi" convert a.z $name >out 2>&1 && fail "a damaged file"
    [[ ! -e $name ]] || fail "a damaged file was converted"
done
exit 0

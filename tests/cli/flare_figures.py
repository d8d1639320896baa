#!/usr/bin/env python3
"""zmpi-flare-model: what docs/flare.md says that it prints is what it prints; the ratios of made fields begin with zmpi's own files
by interp and end with those by interp:flare; wrong arguments are one line."""

import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys

BIN, SOURCE = os.environ["ZMPI_TEST_BIN"], os.environ["ZMPI_TEST_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "scripts/bench"))
import flare_plots  # noqa: E402

STEPS = 7


def model(*arguments, status=0):
    done = subprocess.run([os.path.join(BIN, "zmpi-flare-model"), *arguments], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == status, (arguments, done)
    return done


def numbers(text):
    return [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*\.?\d*", text)]


def documented(begin):
    """The column "ours" of the line of flare.md that begins so."""
    with open(os.path.join(SOURCE, "docs/flare.md"), encoding="utf-8") as page:
        for line in page:
            if line.startswith("| " + begin):
                return line.split("|")[3]
    raise AssertionError(f"flare.md has no line '{begin}'")


def same(begin, column, printed, digits):
    """The first numbers of a line of flare.md are those that are printed, rounded."""
    quoted = numbers(documented(begin))[column:column + len(printed)]
    assert [f"{n:.{digits}f}" for n in printed] == [f"{n:.{digits}f}" for n in quoted], (begin, printed, quoted)


def column(rows, i, only=None):
    return [flare_plots.number(row[i]) for row in rows if not only or row[0] in only]


def figures():
    text = model().stdout
    found = flare_plots.tables(text)
    shapes = flare_plots.table(found, "Buffers")
    assert column(shapes, 1, ["Nyx"]) == [512 * 512 * 32 * 4 / 2**20] and column(shapes, 2, ["Nyx"]) == [512 * 512 * 32 / 2**20]
    levels = flare_plots.table(found, "Look-ahead")
    assert column(levels, 4) == column(levels, 5), "counted from the order, and by the law"
    same("Fig. 5", 2, column(levels, 4, ["3"]), 4)

    powers, fitted = ["1", "2", "4", "8"], flare_plots.table(found, "as fitted")
    same("Fig. 10a, compression", 0, column(fitted, 1, powers), 2)
    same("Fig. 10a, decompression", 0, column(fitted, 2, powers), 2)
    assert column(fitted, 1, ["4"]) == [1.16] and column(fitted, 2, ["4"]) == [0.42], "what was fitted"
    sets = flare_plots.table(found, "Fig. 10b")
    same("Fig. 10b", 0, column(sets, 1) + column(sets, 2), 2)
    rtl = flare_plots.table(found, "Our RTL")
    same("our RTL", 0, column(rtl, 3), 3)
    same("the same, all codes 0", 0, column(rtl, 4), 3)
    saved = flare_plots.table(found, "FLARE reads the original")
    same("Fig. 11", 0, column(saved, 1)[1:2] + [n for i in range(2, 6) for n in column(saved[1:2], i)], 0)
    others = column(saved, 1)[2:]
    assert (min(others), max(others)) == (7.5, 11), others

    if shutil.which("gnuplot"):
        subprocess.run([os.path.join(SOURCE, "scripts/bench/flare_plots.py"), os.path.join(BIN, "zmpi-flare-model")], check=True)
        assert os.path.getsize("flare.png") > 10000


def field(name, code, extents, noise):
    draw = random.Random(1)
    values = []
    for i in range(math.prod(extents)):
        x, y, z = i % extents[-1], i // extents[-1] % extents[-2], i // extents[-1] // extents[-2]
        values.append(math.sin(x * 0.11 + z * 0.07) * math.cos(y * 0.09) + draw.gauss(0, noise))
    with open(name, "wb") as out:
        out.write(struct.pack(f"<{len(values)}{code}", *values))
    return name


def ratios(*files):
    """Each line's ratio."""
    rows = flare_plots.tables(model("--ratios", "1e-3", *files).stdout)
    (rows,) = rows.values()
    assert len(rows) == STEPS
    ratio, above, first = (column(rows, i) for i in (1, 2, 3))
    for i in range(1, STEPS):
        assert math.isclose(ratio[i] / ratio[i - 1], above[i], rel_tol=0.01), rows
        assert math.isclose(ratio[i] / ratio[0], first[i], rel_tol=0.01), rows
    return ratio


def stored(name, extents, codec):
    """Bytes of the record that zmpi makes of it."""
    subprocess.run([os.path.join(BIN, "zmpi"), "compress", "-t", name[-3:], "-d", "x".join(map(str, extents)), "-e", "rel=1e-3",
                    "--codec", codec, name, "out.z"], check=True)
    said = subprocess.run([os.path.join(BIN, "zmpi"), "info", "--json", "out.z"], check=True, capture_output=True, text=True).stdout
    (record,) = json.loads(said)["records"]
    return record["stored"]


def made_fields():
    singles, doubles = [40, 44, 48], [5, 8, 36, 40]  # more extents are folded
    a = field("a_40x44x48.f32", "f", singles, 0.002)
    b = field("b_5x8x36x40.f64", "d", doubles, 0.0)
    of_a, of_b, of_both = ratios(a), ratios(b), ratios(a, b)
    for i in range(STEPS):
        assert math.isclose(math.sqrt(of_a[i] * of_b[i]), of_both[i], rel_tol=0.01), "no geometric mean"
    for name, extents, of in ((a, singles, of_a), (b, [40, 36, 40], of_b)):
        for i, codec in ((0, "interp"), (STEPS - 1, "interp:flare")):
            stream = os.path.getsize(name) / of[i]
            assert 0.999 * stream < stored(name, extents, codec) < 1.001 * stream + 250, (name, codec, of)  # a record has a head


def mistakes():
    assert "Usage" in model("--help").stdout
    model("--nothing", status=2)
    for bound in "0", "1", "-1e-3", "x", "1e-3x", "":
        assert "a number above 0 and below 1" in model("--ratios", bound, "a_40x44x48.f32", status=2).stderr
    assert "files belong to --ratios" in model("a_40x44x48.f32", status=2).stderr
    for name in "a_40x44x49.f32", "a_40x44.f32", "a.f32", "a_0x4x4.f32", "a_x.f32", "a_40x44x48.raw":
        if not os.path.exists(name):
            shutil.copy("a_40x44x48.f32", name)
        assert f"{name}: not a file" in model("--ratios", "1e-3", name, status=2).stderr
    assert "not a file" in model("--ratios", "1e-3", "missing_4x4x4.f32", status=2).stderr
    model("--ratios", "1e-3", status=2)  # of no field there is no mean
    # What encoder 3 leaves to others is no part of the mean.
    with open("constant_16x16x16.f32", "wb") as out:
        out.write(struct.pack("<4096f", *(4096 * [1.0])))
    assert "left out" in model("--ratios", "1e-3", "constant_16x16x16.f32", status=2).stderr
    assert ratios("a_40x44x48.f32", "constant_16x16x16.f32") == ratios("a_40x44x48.f32")


figures()
made_fields()
mistakes()

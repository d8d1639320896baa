#!/usr/bin/env python3
"""flare_model.py - zmpi-flare-model: it prints the figures of docs/flare.md. Arrays of the paper's shapes
are made of fields, where these are, and lie within the bracket of all codes and no code 0. The ratios of made fields begin with
zmpi's own files by interp and end with those by interp:flare. Wrong arguments are one line."""

import array
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

BIN, SOURCE = os.environ["ZMPI_TEST_BIN"], os.environ["ZMPI_TEST_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "scripts/bench"))
import flare_plots  # noqa: E402

STEPS = 7
ROWS = {"Nyx": "nyx_baryon_density_32x32x32.f32", "Miranda": "les_wmag_91x91x91.f32", "Hurricane": "wrf_u_4x14x48x49.f32"}


def model(*arguments, status=0):
    done = subprocess.run([os.path.join(BIN, "zmpi-flare-model"), *arguments], capture_output=True, text=True, timeout=500, check=False)
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


def rows(text):
    """The rows of the table of arrays made of fields."""
    lines = text.split("made of fields")[1].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")][2:]


def check_rows(text):
    found = rows(text)
    assert [r[0] for r in found] == [name for name in ROWS for _ in range(4)], text
    for name, field, arrays, zeros, compress, bracket, decompress, network in found:
        least, most = (float(v) for v in bracket.split(" to "))
        assert ROWS[name].startswith(field) and arrays in "1248" and 0 <= float(zeros.split()[0]) <= 100
        assert least - .001 <= float(compress) <= most + .001, f"{name}, M = {arrays}: {compress}, not {bracket}"
        assert float(decompress) > 0 and float(network) > 0
    return found


def fill_shapes(folder):
    """The first is 0 but for one value; the others are noise of 75 steps beside it, so that few codes are 0, and few do not fit."""
    rng = random.Random(1)
    for k, name in enumerate(ROWS.values()):
        n = math.prod(int(extent) for extent in name.rsplit("_", 1)[1].split(".")[0].split("x"))
        with open(os.path.join(folder, name), "wb") as f:
            f.write(array.array("f", (1 if i == 0 else k and .15 * rng.random() for i in range(n))).tobytes())


def figures():
    text = model().stdout
    if not rows(text)[0][1].startswith("no "):
        check_rows(text)
    found = flare_plots.tables(text)
    buffers = flare_plots.table(found, "Buffers")
    assert column(buffers, 1, ["Nyx"]) == [512 * 512 * 32 * 4 / 2**20] and column(buffers, 2, ["Nyx"]) == [512 * 512 * 32 / 2**20]
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


def shapes():
    """Arrays of the paper's shapes, with no field and with made ones."""
    os.mkdir("fields")
    nothing = rows(model("--fields", "fields").stdout)
    assert [r[1] for r in nothing] == [f"no {name} in fields" for name in ROWS.values()], nothing
    fill_shapes("fields")
    made = check_rows(model("--fields", "fields").stdout)
    assert made[0][3] == "100 %" and made[4][3] in ("1 %", "2 %", "3 %"), made
    assert float(made[0][7]) < 4, "slices whose values are all the same take no time in the network"


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


def zeros():
    """Elements that are 0 are values like others."""
    values = [i * 2654435761 % 65521 / 65521 if i % 2 else 0 for i in range(40 ** 3)]
    for name, by in ("zeros_40x40x40.f32", 0), ("others_40x40x40.f32", 1e-5):
        with open(name, "wb") as out:
            out.write(array.array("f", (v + by for v in values)).tobytes())
    of, others = ratios("zeros_40x40x40.f32"), ratios("others_40x40x40.f32")
    assert all(math.isclose(a, b, rel_tol=0.01) for a, b in zip(of, others)), (of, others)


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


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    figures()
    shapes()
    made_fields()
    zeros()
    mistakes()

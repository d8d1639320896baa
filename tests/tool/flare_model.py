#!/usr/bin/env python3
"""flare_model.py - zmpi-flare-model without arguments: the paper's figures that are exact or fitted come out; arrays of its shapes are
made of fields, where these are, and lie within the bracket of all codes and no code 0; all of it takes less than a minute.
"""
import array
import math
import os
import random
import re
import resource
import shutil
import subprocess
import tempfile

MODEL = os.path.join(os.environ["ZMPI_TEST_BIN"], "zmpi-flare-model")
EXACT = ("(paper: 3.46) | 3.4595 |", "| Nyx | 32.0 (paper: SRAM 32, FIFO2 32) | 8.0 (paper: FIFO1 8) |", "are 8.64 and 3.13 cycles a point",
         "| Nyx | 1.160 (paper: 1.16) | 8.64 | 0.420 (paper: 0.42) | 3.13 |", "| 3 | 1.160 | 0.420 |", "| 4 | 1.160 | 0.420 |",
         "| each module reads and writes whole arrays of words | 10.0 | 56 % | 22 % | 11 % | 11 % |")
ROWS = {"Nyx": "nyx_baryon_density_32x32x32.f32", "Miranda": "les_wmag_91x91x91.f32", "Hurricane": "wrf_u_4x14x48x49.f32"}


def run(*arguments, status=0):
    done = subprocess.run([MODEL, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == status, f"{arguments}: status {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


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


def make_fields(folder):
    """The first is 0 but for one value; the others are noise of 75 steps beside it, so that few codes are 0, and few do not fit."""
    rng = random.Random(1)
    for k, name in enumerate(ROWS.values()):
        n = math.prod(int(extent) for extent in name.rsplit("_", 1)[1].split(".")[0].split("x"))
        with open(os.path.join(folder, name), "wb") as f:
            f.write(array.array("f", (1 if i == 0 else k and .15 * rng.random() for i in range(n))).tobytes())


def ratios(values):
    """Those of a field, line by line."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x_40x40x40.f32")
        with open(path, "wb") as f:
            f.write(array.array("f", values).tobytes())
        lines = [line.split("|") for line in run("--ratios", "1e-3", path).splitlines()]
    return [float(line[2]) for line in lines if len(line) == 6 and re.fullmatch(r" [0-9.]+ ", line[2])]


def check_zeros():
    """Elements that are 0 are values like others."""
    values = [i * 2654435761 % 65521 / 65521 if i % 2 else 0 for i in range(40 ** 3)]
    zeros, others = ratios(values), ratios(v + 1e-5 for v in values)
    assert len(zeros) == 7 and all(abs(a / b - 1) < .01 for a, b in zip(zeros, others)), (zeros, others)


def main():
    text = run()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert used.ru_utime + used.ru_stime < 60, used
    for line in EXACT:
        assert line in text, f"{line!r} is not in {text}"
    if not rows(text)[0][1].startswith("no "):
        check_rows(text)
    folder = tempfile.mkdtemp()
    try:
        nothing = rows(run("--fields", folder))
        assert [r[1] for r in nothing] == [f"no {name} in {folder}" for name in ROWS.values()], nothing
        make_fields(folder)
        made = check_rows(run("--fields", folder))
        assert made[0][3] == "100 %" and made[4][3] in ("1 %", "2 %", "3 %"), made
        assert float(made[0][7]) < 4, "slices whose values are all the same take no time in the network"
    finally:
        shutil.rmtree(folder)
    assert "a number above 0 and below 1" in run("--ratios", "2", status=2)
    check_zeros()


main()

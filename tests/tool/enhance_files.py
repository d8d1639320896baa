#!/usr/bin/env python3
"""enhance_files.py - zmpi enhance: values come nearer to the original ones and keep the bound, by the tool, by the library, by the
independent reader and by all instruction sets alike; the plain ones stay as they are; damage is one clear message.
"""
import array
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from kit import BIN, READER, TOP, outputs as run, read, write  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(BIN), "python"))
sys.path.insert(0, os.path.dirname(READER))
import zmpi  # noqa: E402
import zmpi_reader  # noqa: E402

DAMAGED = ("the network that enhances its values is damaged, or a program that wrote to the file took its space: read the values "
           "without it")
DATA, LONG = os.environ.get("ZMPI_DATA") or os.path.join(TOP, "..", "shared", "data"), "ZMPI_TEST_LONG" in os.environ
NZ, NY, NX = 2, 40, 45
SHAPE = f"{NZ}x{NY}x{NX}"


def decoded(path, *options, **environment):
    run("decompress", *options, path, "out", **environment)
    return read("out")


def values(data, code="f"):
    return array.array(code, data)


def field(seed, code="f", noise=0.004):
    rng = random.Random(seed)
    return array.array(code, [math.sin(x * .21 + z * .1 + seed) * math.cos(y * .17) + rng.gauss(0, noise)
                              for z in range(NZ) for y in range(NY) for x in range(NX)])


def error(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


def worst(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def bound_of(path):
    return json.loads(run("info", "--json", path)[0])["records"][0]["abs_bound"]


def make(name, seed=1, code="f", bound="rel=2e-2"):
    data = field(seed, code)
    write(name + ".raw", data.tobytes())
    run("compress", "-t", "f32" if code == "f" else "f64", "-d", SHAPE, "-e", bound, "--codec", "interp", name + ".raw",
        name + ".zmpi")
    return data


def says(text, *arguments):
    """It fails with one line, which has the text in it."""
    _, message = run(*arguments, status=2)
    assert text in message and message.count("\n") == 1, f"{text!r} is not {message!r}"


# ---- values ----


def test_values():
    for code in "fd":
        original = make("x", code=code)
        plain, limit = decoded("x.zmpi"), bound_of("x.zmpi")
        run("enhance", "--train", "x.raw", "--epochs", "30", "--always", "x.zmpi")
        assert decoded("x.zmpi") == plain, "a plain read is another"
        better = decoded("x.zmpi", "--enhance")
        assert worst(original, values(better, code)) < limit
        assert error(original, values(better, code)) < .9 * error(original, values(plain, code))
        for off in ("avx512vbmi", "avx512", "avx2", "neon"):
            assert decoded("x.zmpi", "--enhance", ZMPI_DISABLE=off) == better, off
        by_page = subprocess.run([sys.executable, READER, "--enhance", "cat", "x.zmpi"], capture_output=True, check=True)
        assert by_page.stdout == better, "the independent reader has other values"
        with zmpi.File("x.zmpi", enhance=True) as f:
            assert f.read() == better
            assert f.read(4000, 1234) == better[4000:5234], "a part is another"
        with zmpi.File("x.zmpi") as f:
            assert f.read() == plain
        network = json.loads(run("info", "--json", "x.zmpi")[0])["network"]
        assert network["bound_times"] == 1 and network["enhanced"] == network["chunks"] == 1
        assert "network" in run("info", "x.zmpi")[0]
        run("verify", "x.zmpi")
        run("fsck", "x.zmpi")


def test_twice_the_bound():
    original = make("two")
    limit = bound_of("two.zmpi")
    run("enhance", "--train", "two.raw", "--epochs", "30", "--always", "--bound", "2x", "two.zmpi")
    better = values(decoded("two.zmpi", "--enhance"))
    assert worst(original, better) < 2 * limit
    assert error(original, better) < .9 * error(original, values(decoded("two.zmpi")))
    assert "within 2 times the bound" in run("info", "two.zmpi")[0]


def test_stable():
    """What is decoded plainly is coded to the same again, with a network or without."""
    make("s")
    before = decoded("s.zmpi")
    run("enhance", "--train", "s.raw", "--epochs", "3", "--always", "s.zmpi")
    write("again.raw", decoded("s.zmpi"))
    limit = bound_of("s.zmpi")
    run("compress", "-t", "f32", "-d", SHAPE, "-e", f"abs={limit!r}", "--codec", "interp", "again.raw", "again.zmpi")
    assert decoded("again.zmpi") == before
    better = decoded("s.zmpi", "--enhance")
    run("trim", "s.zmpi")
    assert decoded("s.zmpi", "--enhance") == better and decoded("s.zmpi") == before


def test_weights():
    make("a", 1)
    make("b", 1.1)
    run("enhance", "--train", "a.raw", "--epochs", "30", "--always", "a.zmpi")
    run("enhance", "--train", "b.raw", "--weights", "a.zmpi", "--always", "-o", "c.zmpi", "b.zmpi")
    assert "network" not in run("info", "b.zmpi")[0]
    os.rename("a.zmpi", "elsewhere")  # the weights are in c.zmpi, too
    original, plain = values(read("b.raw")), values(decoded("c.zmpi"))
    better = values(decoded("c.zmpi", "--enhance"))
    assert error(original, better) < error(original, plain)
    assert worst(original, better) < bound_of("b.zmpi")
    says("has no network", "enhance", "--train", "b.raw", "--weights", "b.zmpi", "b.zmpi")


def test_nothing_is_gained():
    """A small file would become larger than by a smaller bound."""
    make("n")
    before = read("n.zmpi")
    out, _ = run("enhance", "--train", "n.raw", "--epochs", "2", "n.zmpi")
    assert "a smaller bound gains more than the network: nothing was written" in out
    assert read("n.zmpi") == before
    better, message = decoded("n.zmpi", "--enhance"), run("decompress", "--enhance", "n.zmpi", "out")[1]
    assert better == decoded("n.zmpi") and "has no network" in message


# ---- damage, and what cannot be ----


def section_of(path):
    return struct.unpack("<2Q", read(path)[440:456])


def test_damage():
    make("d")
    run("enhance", "--train", "d.raw", "--epochs", "3", "--always", "d.zmpi")
    plain, better, whole = decoded("d.zmpi"), decoded("d.zmpi", "--enhance"), read("d.zmpi")
    offset, length = section_of("d.zmpi")
    assert better != plain
    for at in (440, 447, 463, offset, offset + 4, offset + 9, offset + 16, offset + 40, offset + 999, offset + length - 1):
        data = bytearray(whole)
        data[at] ^= 16
        write("e.zmpi", data)
        says(f"e.zmpi: {DAMAGED}", "decompress", "--enhance", "e.zmpi", "out")
        assert decoded("e.zmpi") == plain, f"byte {at}: plain values are others"
        assert "the network that enhances its values is damaged" in run("verify", "e.zmpi", status=1)[0]
        assert "damaged" in run("info", "e.zmpi")[0]
        try:
            zmpi.File("e.zmpi", enhance=True)
            raise AssertionError("no exception")
        except zmpi.Error as problem:
            assert DAMAGED in str(problem)
        with zmpi.File("e.zmpi") as f:
            assert f.read() == plain
        got = subprocess.run([sys.executable, READER, "--enhance", "cat", "e.zmpi"], capture_output=True)
        assert got.returncode == 1 and b"network" in got.stderr


def test_newer():
    """A section of a later version, with the right hash."""
    make("v")
    run("enhance", "--train", "v.raw", "--epochs", "1", "--always", "v.zmpi")
    plain, data = decoded("v.zmpi"), bytearray(read("v.zmpi"))
    (offset, length), with_reader = section_of("v.zmpi"), zmpi_reader.Container(bytes(data))
    data[offset + 4] = 2
    section = data[offset:offset + length]
    struct.pack_into("<Q", data, offset + 16, zmpi_reader.xxh3(bytes(section[:16] + section[24:]), with_reader.seed(offset)))
    write("v.zmpi", data)
    says("v.zmpi: written by a newer version", "decompress", "--enhance", "v.zmpi", "out")
    assert decoded("v.zmpi") == plain
    got = subprocess.run([sys.executable, READER, "--enhance", "cat", "v.zmpi"], capture_output=True)
    assert got.returncode == 1 and b"newer version" in got.stderr


def test_refused():
    make("r")
    write("short.raw", read("r.raw")[4:])
    says("it is not its original", "enhance", "--train", "short.raw", "r.zmpi")
    says("is not a zmpi container", "enhance", "--train", "r.raw", "r.raw")
    write("stream", zmpi.compress(array.array("f", read("r.raw")), "rel=2e-2", encoder="interp"))
    says("stream: is not a zmpi container", "enhance", "--train", "r.raw", "stream")  # a stream by itself has no place for it
    says("--epochs x: a number", "enhance", "--train", "r.raw", "--epochs", "x", "r.zmpi")
    says("--bound 3x: 1x or 2x", "enhance", "--train", "r.raw", "--bound", "3x", "r.zmpi")
    run("compress", "-t", "f32", "-d", SHAPE, "-e", "lossless", "r.raw", "l.zmpi")
    says("nothing in it was coded by interp", "enhance", "--train", "r.raw", "l.zmpi")
    run("enhance", "r.zmpi", status=2)
    run("decompress", "--enhance", "-k", "r.zmpi", "out", status=2)


def test_real_fields():
    """Whole ones in long runs: so many dB more than a smaller bound gives for as many bytes, and the bound holds."""
    folder = DATA if LONG else ""
    for name, bound, least in (("ccm_trefht_2x110x64x128.f32", 1e-2, 0.9), ("xray_event_map_147x152x137.f32", 1e-3, 3)):
        path = os.path.join(folder, name)
        if not folder or not os.path.exists(path):
            continue
        run("compress", "-e", f"rel={bound}", "--codec", "interp", path, "x.zmpi")
        said, _ = run("enhance", "--train", path, "x.zmpi")
        after, smaller = (float(said.split(mark)[1].split(" dB")[0]) for mark in ("PSNR ", "bound gives "))
        assert after > smaller + least, said
        compared = json.loads(run("compare", "--json", "-t", "f32", path, enhanced("x.zmpi"))[0])
        assert compared["max_error_over_range"] <= bound, compared


def enhanced(path):
    run("decompress", "--enhance", path, "x.out")
    return "x.out"


def main():
    folder = tempfile.mkdtemp()
    try:
        os.chdir(folder)
        for name in [n for n in os.environ if n.startswith("ZMPI_") and not n.startswith("ZMPI_TEST")]:
            del os.environ[name]
        for name, test in sorted(globals().items()):
            if name.startswith("test_"):
                test()
                print("ok", name)
    finally:
        os.chdir("/")
        shutil.rmtree(folder)


main()

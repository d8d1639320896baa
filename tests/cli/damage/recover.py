#!/usr/bin/env python3
"""recover.py: zmpi recover gives back, bit for bit, all that was not damaged, names the rest, and invents nothing; files that
claim 2^60 bytes keep nobody busy."""
import array
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ZMPI_TEST_SOURCE"], "tests", "tool"))
sys.dont_write_bytecode = True
from kit import READER, ZMPI, fail, read, write  # noqa: E402

CHUNK = 32768


def run(*arguments, **more):
    return subprocess.run([ZMPI, *arguments], capture_output=True, check=False, timeout=60, **more)


def recover(path, *more):
    """(exit status, the report, the bytes)"""
    if os.path.exists("out.raw"):
        os.remove("out.raw")
    done = run("recover", "--json", *more, path, "out.raw")
    if done.returncode not in (0, 1, 2):
        fail(f"{path}: status {done.returncode}: {done.stderr}")
    if done.returncode == 2:
        if os.path.exists("out.raw") or not done.stderr.strip():
            fail(f"{path}: status 2, with a file or without a line")
        return 2, None, b""
    return done.returncode, json.loads(done.stdout), read("out.raw")


def check(what, should, fill=None):
    """What is not listed is right; returns the listed bytes."""
    status, report, data = recover("damaged.z", *(["--fill", str(fill)] if fill is not None else []))
    if status == 2:
        return len(should)
    if (status == 0) != report["whole"]:
        fail(f"{what}: status {status}: {report}")
    listed = bytearray(max(len(should), len(data)))
    for r in report["ranges"]:
        end = r["offset"] + r["length"]
        if end > report["size"]:
            fail(f"{what}: a range behind the end: {r}")
        listed[r["offset"]:end] = b"\1" * r["length"]
        if fill is not None and r["kind"] == "lost" and set(data[r["offset"]:end]) != {fill}:
            fail(f"{what}: bytes {r['offset']} to {end} are not filled")
    if status == 0 and (any(listed) or data != should):
        fail(f"{what}: status 0, and data are not the same")
    if not report["records_missing"] and len(data) != len(should):
        fail(f"{what}: {len(data)} bytes instead of {len(should)}")
    for at in range(0, min(len(data), len(should)), 4096):
        if data[at:at + 4096] != should[at:at + 4096]:
            for i in range(at, min(at + 4096, len(data), len(should))):
                if data[i] != should[i] and not listed[i]:
                    fail(f"{what}: byte {i} is wrong, and not listed")
    return sum(listed) + max(0, len(should) - len(data))


def records(path):
    return json.loads(run("info", "--json", path).stdout)["records"]


def damage_field(shape, n):
    """A field of several chunks: one damaged byte takes one chunk."""
    write("field.f32", array.array("f", [math.sin(i * 0.01) + (i % 97) * 0.003 for i in range(n)]).tobytes())
    if run("compress", "-t", "f32", "-e", "abs=1e-3", "-d", shape, "field.f32", "field.z").returncode:
        fail("zmpi compress")
    run("decompress", "field.z", "field.raw")
    should, whole = read("field.raw"), read("field.z")
    record = records("field.z")[0]
    begin, end = record["offset"], record["offset"] + record["stored"]
    chunks = begin + 64 + 80 + 8 * record["chunks"]
    rng = random.Random(n)
    shutil.copy("field.z", "damaged.z")
    if check(f"{shape}: nothing damaged", should):
        fail(f"{shape}: something is lost of a whole file")
    for k in range(12):
        at = rng.randrange(chunks, end - 8)
        write("damaged.z", whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1:])
        lost = check(f"{shape}: byte {at}", should, fill=170)
        if not 0 < lost <= CHUNK:
            fail(f"{shape}: byte {at}: {lost} bytes lost, not one chunk")
    for first in (0, 256, 384, begin, begin + 40, begin + 64, begin + 100, chunks - 8):
        write("damaged.z", whole[:first] + os.urandom(24) + whole[first + 24:])
        check(f"{shape}: 24 bytes at {first}", should)
    for size in (0, 8, 300, begin + 64, chunks + 100, (chunks + end) // 2, end - 8, end, len(whole) - 8):
        write("damaged.z", whole[:size])
        lost = check(f"{shape}: cut off at {size}", should)
        if size >= (chunks + end) // 2 and lost > len(should) * 2 // 3:
            fail(f"{shape}: cut off at {size}: {lost} bytes lost")
    write("damaged.z", bytes(512) + whole[512:])
    if check(f"{shape}: no header", should):
        fail(f"{shape}: something is lost with nothing but the header")
    at = (chunks + end) // 2
    write("damaged.z", bytes(512) + whole[512:at] + b"damage" + whole[at + 6:])
    lost = check(f"{shape}: no header, and a chunk", should)
    if not 0 < lost <= 2 * CHUNK:
        fail(f"{shape}: no header, and a chunk: {lost} bytes lost")
    at = (chunks + end) // 2
    write("damaged.z", whole[:at] + b"damage" + whole[at + 6:])
    done = run("decompress", "--keep-going", "damaged.z", "kept.raw")
    if done.returncode != 1 or b"lost" not in done.stderr or len(read("kept.raw")) != len(should):
        fail(f"--keep-going: {done}")


def damage_log():
    """Several records, overwritten ones and lists among them: any damage."""
    whole = read(os.path.join(os.environ["ZMPI_TEST_SOURCE"], "tests", "golden", "indexed.zmpi"))
    write("damaged.z", whole)
    run("decompress", "damaged.z", "log.raw")
    should = read("log.raw")
    if check("nothing damaged", should):
        fail("something is lost of a whole file")
    rng = random.Random(7)
    for k in range(300):
        at, n = rng.randrange(len(whole)), rng.choice((1, 1, 8, 24, 100))
        n = min(n, len(whole) - at)
        how = rng.randrange(4)
        if how == 0:
            bad = whole[:at] + rng.randbytes(n) + whole[at + n:]
        elif how == 1:
            bad = whole[:at] + bytes(n) + whole[at + n:]
        elif how == 2:
            bad = whole[:at]
        else:
            bad = whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1:]
        write("damaged.z", bad)
        status, report, _ = recover("damaged.z")
        if status != 2 and report["records_missing"]:
            continue  # older data may stand in their place: it says so
        check(f"case {k} (at {at}, {n} bytes, way {how})", should)
    for nothing in (b"", b"plain data" * 1000, bytes(5000)):
        write("damaged.z", nothing)
        if recover("damaged.z")[0] != 2:
            fail("something was recovered of nothing")


def claim(size):
    """A file of a few hundred bytes that says it has so many: one size record."""
    sys.path.insert(0, os.path.join(os.environ["ZMPI_TEST_SOURCE"], "scripts"))
    xxh3 = __import__("zmpi_reader").xxh3
    slot = b"\x89ZMPI\r\n\x1a" + struct.pack("<HHI16sQQQQQQ40x", 1, 0, 0, bytes(16), 1, 0, 0, 0, 512, 1)
    record = struct.pack("<IHHQQQQQII", 0x4345525A, 2, 0, 1 << 32, size, size, 0, 0, 0, 0)
    return (slot + struct.pack("<Q", xxh3(slot))).ljust(512, b"\0") + record + struct.pack("<Q", xxh3(record, 512))


def claims_compared():
    """Holes of both are as alike as zeros are; A's alone are no wrong values of B."""
    done = run("compare", "-t", "f64", "--json", "claim.z", "claim.z")
    result = json.loads(done.stdout)
    if done.returncode or result["elements"] != 1 << 57 or result["differing"] or result["ssim"] != 1:
        fail(f"compare: {done}")
    # Against as many zeros that are there, in slices and without.
    write("claim.z", claim(24 << 20))
    write("zeros.raw", bytes(24 << 20))
    for dims in ([], ["-d", "6x1024x1024"], ["-d", "1024x6144"]):
        want = run("compare", "-t", "f32", "--json", *dims, "zeros.raw", "zeros.raw")
        done = run("compare", "-t", "f32", "--json", *dims, "claim.z", "claim.z")
        want, done = json.loads(want.stdout), json.loads(done.stdout)
        if {k: want[k] for k in want if k != "size_ratio"} != {k: done[k] for k in done if k != "size_ratio"}:
            fail(f"compare {dims}: {done}, not {want}")
    write("claim.z", claim(1 << 60))
    os.remove("zeros.raw")


def claims_by_reader():
    for to in "claim.raw", os.devnull:
        with open(to, "wb") as out:
            done = subprocess.run([sys.executable, READER, "cat", "claim.z"], stdout=out, stderr=subprocess.PIPE, check=False,
                                  timeout=60)
        if done.returncode != 1 and not (done.returncode == 0 and os.path.getsize(to) == 1 << 60):
            fail(f"zmpi_reader.py: 2^60 bytes: {done}")
        if b"Traceback" in done.stderr:
            fail(f"zmpi_reader.py: 2^60 bytes: {done}")
    write("claim.z", claim(1 << 40))
    with open("claim.raw", "wb") as out:
        done = subprocess.run([sys.executable, READER, "cat", "claim.z"], stdout=out, stderr=subprocess.PIPE, check=False, timeout=60)
    if done.returncode == 0 and (os.path.getsize("claim.raw") != 1 << 40 or os.stat("claim.raw").st_blocks > 1024):
        fail("zmpi_reader.py: a hole of 2^40 bytes is none")
    write("claim.z", claim(1 << 60))


def claims():
    """The room is asked for at once, or the output is one hole; what cannot have holes gets a line."""
    write("claim.z", claim(1 << 40))
    done = run("decompress", "claim.z", "claim.raw")
    if done.returncode == 0 and (os.path.getsize("claim.raw") != 1 << 40 or os.stat("claim.raw").st_blocks > 1024):
        fail("a hole of 2^40 bytes is none")
    if done.returncode not in (0, 2):
        fail(f"2^40 bytes: {done}")
    write("claim.z", claim(1 << 60))
    for command in (["decompress", "claim.z", "claim.raw"], ["recover", "claim.z", "claim.raw"]):
        done = run(*command)
        if done.returncode not in (0, 2):
            fail(f"2^60 bytes: {done}")
    for command in (["cat", "claim.z"], ["decompress", "claim.z", "-"]):
        done = run(*command)
        if done.returncode != 2 or b"zeros are not written" not in done.stderr:
            fail(f"2^60 bytes to a pipe: {done}")
    for command in (["info", "claim.z"], ["fsck", "claim.z"], ["verify", "claim.z"], ["info", "--json", "claim.z"]):
        done = run(*command)
        if done.returncode not in (0, 1) or (command[0] == "info" and str(1 << 60).encode() not in done.stdout):
            fail(f"{command}: 2^60 bytes: {done}")
    claims_compared()
    claims_by_reader()
    if run("cat", "claim.z", "-o", str(1 << 59), "-n", "10").stdout != bytes(10):
        fail("10 bytes of 2^60")
    for name in ("claim.raw", "claim.z"):
        if os.path.exists(name):
            os.remove(name)


def fills():
    """Lost values become what the user names; -a lists all ranges; what has no sense is refused."""
    write("field.f32", array.array("f", [math.sin(i * 0.01) + (i % 97) * 0.003 for i in range(500000)]).tobytes())
    run("compress", "-t", "f32", "-e", "abs=1e-3", "field.f32", "field.z")
    whole, record = read("field.z"), records("field.z")[0]
    begin, end, chunks = record["offset"] + 144 + 8 * record["chunks"], record["offset"] + record["stored"], record["chunks"]
    damaged = bytearray(whole)
    for k in range(1, chunks, 2):
        damaged[begin + (end - begin) * k // chunks] ^= 1
    write("damaged.z", damaged)
    for more, text, value in ((["-t", "f32"], "1.5", struct.pack("<f", 1.5)), (["-t", "f64"], "-2e300", struct.pack("<d", -2e300)),
                              ([], "255", b"\xff"), ([], "0", b"\0")):
        _, report, data = recover("damaged.z", *more, "--fill", text)
        for r in report["ranges"]:
            if data[r["offset"]:r["offset"] + r["length"]] != value * (r["length"] // len(value)):
                fail(f"{more} --fill {text}: {r} is not filled")
    listed = [run("recover", *more, "damaged.z", "out.raw").stdout.count(b"lost ") for more in ([], ["-a"])]
    if not listed[0] < listed[1] == len(report["ranges"]):
        fail(f"{listed} ranges are listed, of {len(report['ranges'])}")
    os.remove("out.raw")
    for wrong in (["--fill", "256"], ["--fill", "-1"], ["--fill", "1x"], ["--fill", ""], ["-t", "f32", "--fill", "1e999"], ["-t", "f16"],
                  ["--size", "8"], ["--plain", "--json"], ["--plain", "--fill", "1"], ["--what"], ["damaged.z"]):
        done = run("recover", *wrong, "damaged.z", "out.raw")
        if done.returncode != 2 or not done.stderr or os.path.exists("out.raw"):
            fail(f"{wrong}: {done}")


def main():
    claims()
    fills()
    damage_field("700x100", 70000)
    damage_field("12x80x90", 86400)
    damage_field("90000", 90000)
    damage_log()
    print("all that is not damaged comes back, and the rest is listed")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""overwritten.py: a program without zmpi wrote over a container. What it wrote is a plain file, and every command says so, and
how many bytes it probably has; zmpi recover --plain gives these, zmpi recover what is left of the container."""
import array
import json
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ZMPI_TEST_SOURCE"], "tests", "tool"))
sys.path.insert(0, os.path.join(os.path.dirname(os.environ["ZMPI_TEST_BIN"]), "python"))
sys.dont_write_bytecode = True
from kit import READER, fail, read, run, write  # noqa: E402
import zmpi  # noqa: E402

PARTS = 4


def check_said(text, size, what):
    """The range that is told has what was written, and is no wider than a record."""
    found = re.search(r"(\d+)(?: to (\d+))? (?:bytes|of them)", text)
    if not found:
        fail(f"{what}: {text}")
    least, most = int(found[1]), int(found[2] or found[1])
    if not least <= size <= most:
        fail(f"{what}: {least} to {most} bytes, {size} were written: {text}")
    return most


def check_plain(good, should, starts, size):
    """`size` bytes over several records."""
    mine = random.Random(size).randbytes(size)
    write("bad.zmpi", mine + good[size:])
    what = f"{size} bytes over {len(good)}"
    most = 0
    for command in "info", "verify", "fsck":
        said = run(command, "bad.zmpi", status=2)
        if "is a plain file" not in said or "--plain" not in said:
            fail(f"{what}: {command}: {said}")
        most = check_said(said, size, f"{what}: {command}")
    if most not in starts + [len(good)] and most < starts[-1]:
        fail(f"{what}: {most} is no place where a record begins: {starts}")
    run("decompress", "bad.zmpi", "out.raw", status=2)
    run("fsck", "--repair", "bad.zmpi", status=2)
    if run("cat", "-n", "0", "bad.zmpi", status=2).find("plain file") < 0:
        fail(f"{what}: cat")
    run("recover", "--plain", "bad.zmpi", "out.raw")
    if read("out.raw") != read("bad.zmpi")[:most]:
        fail(f"{what}: recover --plain gives other bytes")
    run("recover", "--plain", "--size", str(size), "bad.zmpi", "out.raw")
    if read("out.raw") != mine:
        fail(f"{what}: recover --plain --size gives other bytes")
    run("recover", "--plain", "--size", str(most + 1), "bad.zmpi", "no.raw", status=2)
    if os.path.exists("no.raw"):
        fail(f"{what}: a wrong --size writes a file")
    # What is left of the container: its last variables.
    left = sum(start >= size for start in starts)
    report = json.loads(run("recover", "--json", "bad.zmpi", "out.raw", status=1).split("\n")[0])
    if report["size"] != len(should):
        fail(f"{what}: recover: {report}")
    out, want = array.array("f", read("out.raw")), array.array("f", should)
    for part in range(PARTS - left, PARTS):
        if out[part::PARTS] != want[part::PARTS]:
            fail(f"{what}: recover: variable {part}")
    if read("bad.zmpi") != mine + good[size:]:
        fail(f"{what}: somebody wrote to the file")
    with zmpi.File("bad.zmpi") as file:
        if file.read(0, size) != mine:
            fail(f"{what}: the reader's library")
    try:
        zmpi.File("bad.zmpi", plain=False)
        fail(f"{what}: the reader's library takes it for a container")
    except zmpi.Error as error:
        if "is a plain file: a program without zmpi" not in str(error):
            fail(f"{what}: the reader's library: {error}")
    check_python_reader(what, "cat")


def check_python_reader(what, *arguments):
    """It says that the file is, or may be, a plain one, and gives nothing."""
    done = subprocess.run([sys.executable, READER, *arguments, "bad.zmpi"], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode == 0 or done.stdout or "plain file" not in done.stderr:
        fail(f"{what}: the reader of the format: {done.returncode} {done.stderr}")


def check_doubtful(good, size):
    """It may be a header that was written over data of the container."""
    write("bad.zmpi", random.Random(size).randbytes(size) + good[size:])
    said = run("fsck", "bad.zmpi", status=1)
    if "was a zmpi container" not in said or "--plain" not in said:
        fail(f"{size} bytes: fsck: {said}")
    check_said(said, size, f"{size} bytes: fsck")
    run("recover", "--plain", "--size", str(size), "bad.zmpi", "out.raw")
    if read("out.raw") != read("bad.zmpi")[:size]:
        fail(f"{size} bytes: recover --plain --size")


def check_whole(mine, good):
    """Numbers or text over the one record: the file is a plain one."""
    what = f"{len(mine)} bytes over one record of {len(good)}"
    write("bad.zmpi", mine + good[len(mine):])
    said = run("info", "bad.zmpi", status=2)
    if "is a plain file" not in said:
        fail(f"{what}: {said}")
    most = check_said(said, len(mine), what)
    run("recover", "--plain", "bad.zmpi", "out.raw")
    if read("out.raw") != read("bad.zmpi")[:most]:
        fail(f"{what}: recover --plain gives other bytes")
    with zmpi.File("bad.zmpi") as file:
        if file.read(0, len(mine)) != mine:
            fail(f"{what}: the reader's library")
    if len(mine) == 150004:
        check_python_reader(what, "cat")
        check_python_reader(what, "info")


def check_one_record():
    """Where the only record begins nothing tells how much of it is gone, but the bytes that are there do."""
    numbers = random.Random(5)
    x, values = 0.0, array.array("d")
    for _ in range(60000):
        x += numbers.gauss(0, 1)
        values.append(x)
    write("field.raw", values.tobytes())
    plain = {"f64": values.tobytes(), "f32": array.array("f", values).tobytes() * 2}
    plain["text"] = " ".join(f"{v:.4f}" for v in values).encode()
    for bound in "lossless", "rel=1e-12":
        run("compress", "-t", "f64", "-e", bound, "field.raw", "good.zmpi")
        good = read("good.zmpi")
        records = json.loads(run("info", "--json", "good.zmpi"))["records"]
        if len(records) != 1 or len(good) < 200000:
            fail(f"{len(records)} records, {len(good)} bytes")
        for kind, data in plain.items():
            for size in 131072, 150004, 190000:
                for header in b"", b"HEAD" * 33:
                    check_whole((header + data)[:size], good)
        # A header of up to 64 KiB that was written to its data, and what is like no numbers.
        for size in 600, 4096, 65536:
            check_doubtful(good, size)
            write("bad.zmpi", plain["f64"][:size] + good[size:])
            if "was a zmpi container" not in run("fsck", "bad.zmpi", status=1):
                fail(f"{size} bytes of f64 over one record")
        check_doubtful(good, 190000)


def main():
    numbers = random.Random(1)
    values = array.array("f", (numbers.gauss(0, 1) for _ in range(PARTS * 40000)))
    write("field.raw", values.tobytes())
    run("compress", "-t", "f32", "-e", "rel=1e-6", "--components", str(PARTS), "field.raw", "good.zmpi")
    run("decompress", "good.zmpi", "should.raw")
    good, should = read("good.zmpi"), read("should.raw")
    starts = [r["offset"] for r in json.loads(run("info", "--json", "good.zmpi"))["records"]]
    if len(starts) != PARTS:
        fail(f"{len(starts)} records")
    for size in (starts[1] + 1, starts[1] + 12345, starts[2], starts[3] - 8, starts[3] + 100, len(good) - 2000, len(good) - 250,
                 len(good) - 136):
        check_plain(good, should, starts, size)
    for size in 600, 2000, 60000, starts[1]:
        check_doubtful(good, size)

    check_one_record()

    # What begins with zeros may be a container of which much never reached the disk: the user may say that it is not.
    write("bad.zmpi", bytes(1000) + random.Random(4).randbytes(starts[2] - 1000) + good[starts[2]:])
    run("verify", "bad.zmpi", status=1)
    run("recover", "--plain", "bad.zmpi", "out.raw")
    if read("out.raw") != read("bad.zmpi")[:starts[2]]:
        fail("recover --plain of what begins with zeros")
    write("bad.zmpi", bytes(512) + good[512:])
    run("recover", "--plain", "bad.zmpi", "out.raw", status=2)

    # All of it, but the last bytes, which tell nothing by themselves; and nothing.
    write("bad.zmpi", random.Random(2).randbytes(len(good) - 100) + good[-100:])
    if "nothing is left" not in run("recover", "--plain", "bad.zmpi", "out.raw", status=2):
        fail("recover --plain where nothing is left")
    if "nobody has written" not in run("recover", "--plain", "good.zmpi", "out.raw", status=2):
        fail("recover --plain of a good container")
    for wrong in "x", "-1", "", str(len(good) + 1), "99999999999999999999":
        write("bad.zmpi", bytes(1) + good[1:300] + random.Random(3).randbytes(300) + good[600:])
        run("recover", "--plain", "--size", wrong, "bad.zmpi", "out.raw", status=2)
    run("recover", "--size", "5", "bad.zmpi", "out.raw", status=2)
    run("recover", "--plain", "--json", "bad.zmpi", "out.raw", status=2)


if __name__ == "__main__":
    sys.exit(main())

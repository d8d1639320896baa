#!/usr/bin/env python3
"""list_damage.py: a record with a list over a megabyte is damaged (tests/mpi/failures/list_damage.c): the tools read all that it does not
cover, name what it does, and mend its head from the copy of it; zmpi trim keeps the copy."""
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ZMPI_TEST_SOURCE"], "tests", "tool"))
sys.dont_write_bytecode = True
from kit import BIN, check_reader, fail, flipped, read, run, write  # noqa: E402

PROGRAM = os.path.join(BIN, "tests", "list_damage")
PLACES, N = (0, 10000, 131071), 131072


def find_list(data):
    """Where the record with a list is, the sizes of its head and of all of it."""
    for at in range(512, len(data) - 64, 8):
        if data[at:at + 4] == b"ZREC" and data[at + 6:at + 8] == b"\xff\xff":
            payload, extents = struct.unpack("<QI", data[at + 40:at + 52])
            head = 64 + (extents + 7) // 8 * 8
            return at, head, head + (payload + 7) // 8 * 8
    return fail("no record with a list")


def check_copy(data):
    at, head, size = find_list(data)
    if data[at + size:at + size + head] != b"ZCPY" + data[at + 4:at + head]:
        fail("no copy of the head behind the record")


def check_lost(whole):
    """lost.z: the three values are lost, and nothing else."""
    run("decompress", "lost.z", "out", status=1)
    if "at offset" not in run("verify", "lost.z", status=1):
        fail("verify does not name the record")
    report = json.loads(run("recover", "--json", "lost.z", "out", status=1))
    lost = [(r["offset"], r["length"], r["kind"]) for r in report["ranges"]]
    if lost != [(8 * i, 8, "lost") for i in PLACES] or report["records_missing"]:
        fail(f"recover: {report}")
    run("decompress", "--keep-going", "lost.z", "kept", status=1)
    for name in "out", "kept":
        data = read(name)
        if any(data[8 * i:8 * i + 8] != whole[8 * i:8 * i + 8] for i in range(N) if i not in PLACES):
            fail(f"{name}: data that were not damaged are wrong")


def main():
    if not os.path.exists(PROGRAM):
        sys.exit(77)
    if os.path.exists("list.z"):
        os.remove("list.z")
    environment = dict(os.environ, LD_PRELOAD=os.environ["ZMPI_TEST_LIB"], ZMPI_ERROR_BOUND="lossless", ZMPI_REPORT_TEXT="off")
    subprocess.run([PROGRAM, "list.z"], env=environment, check=True, timeout=60)
    good = read("list.z")
    check_copy(good)
    run("decompress", "list.z", "whole")
    whole = read("whole")
    at, head, size = find_list(good)
    if "list of runs, " not in run("info", "-a", "list.z") or '"levels": "list"' not in run("info", "--json", "list.z"):
        fail("info does not tell of the list")

    # The head alone: all is read, and fsck mends it.
    for place in 0, 9, 30, 70, head - 9:
        write("head.z", flipped(good, at + place))
        run("decompress", "head.z", "out")
        if read("out") != whole:
            fail(f"byte {place} of the head: other data")
        run("verify", "head.z", status=1)
        if "copies" not in run("fsck", "head.z", status=1):
            fail("fsck does not tell of the head")
        if "repaired" not in run("fsck", "--repair", "head.z"):
            fail("fsck --repair does not mend the head")
        if read("head.z") != good:
            fail(f"byte {place} of the head: not mended")
        run("verify", "head.z")

    # The same by the reader in Python, and without the index.
    index = good.rindex(b"ZDIR")
    for places in (at + 70,), (at + 70, index + 30):
        write("head.z", flipped(good, *places))
        run("decompress", "head.z", "out")
        if read("out") != whole:
            fail("head and index: other data")
        check_reader("head.z", whole)

    # The payload, with the head or without: what the record covers is lost.
    for places in (head + 70,), (70, head + 70), range(size):
        write("lost.z", flipped(good, *(at + i for i in places)))
        check_lost(whole)
        run("trim", "lost.z", status=2)

    run("trim", "list.z")
    run("verify", "list.z")
    check_copy(read("list.z"))
    run("decompress", "list.z", "out")
    if read("out") != whole:
        fail("trim changes the data")


if __name__ == "__main__":
    sys.exit(main())

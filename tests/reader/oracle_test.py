#!/usr/bin/env python3
"""oracle_test.py: damaged containers whose checksums are right, read by the codec and by scripts/zmpi_reader.py.

    oracle_test.py ORACLE READER CORPUS [RUNS [SEED]]

ORACLE (oracle.c) makes them of the containers in CORPUS. Both readers give the same bytes, or both fail. Only the codec may
read a file with damage that nobody can see, since it decodes no chunk that newer data cover. A failure keeps the file.
"""
import importlib.util
import os
import struct
import subprocess
import sys

spec = importlib.util.spec_from_file_location("zmpi_reader", sys.argv[2])
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)
SIZE_MOST = 1 << 20  # READ_MAX of oracle.c
ERRORS = (reader.FormatError, struct.error)


def cases(path):
    """Containers, and their logical bytes as the codec reads them, None: it does not."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0

    def take():
        nonlocal at
        n = struct.unpack_from("<Q", data, at)[0]
        at += 8 + n
        return data[at - n:at]

    while at < len(data):
        file = take()
        at += 8
        yield file, take() if data[at - 8] else None


def open_whole(file):
    container = reader.Container(file)
    reader.require(container.whole and container.size <= SIZE_MOST, "not whole, or too large")
    return container


def read(file):
    try:
        container = open_whole(file)
        return bytes(container.read(0, container.size))
    except ERRORS:
        return None


def agrees(file, logical):
    """Does what can be read, of a file of which something cannot, agree? Newer data cover the rest, or parts of it."""
    try:
        container = open_whole(file)
        if container.size != len(logical):
            return False
        is_, unknown = bytearray(container.size), bytearray(container.size)
        for record in container.records:
            if record.kind == reader.SIZE:
                rest = max(container.size - record.lo, 0)
                is_[container.size - rest:] = unknown[container.size - rest:] = bytes(rest)
                continue
            try:
                container.overlay(record, is_, 0)
                listed = record.offset < container.indexed_to
                runs, mark = list((container.with_head(record) if listed else record).runs()), b"\0"
            except ERRORS:
                runs, mark = [(record.lo, record.hi - record.lo)], b"\1"
            for at, length in runs:
                n = max(min(at + length, container.size) - at, 0)
                unknown[at:at + n] = mark * n
    except ERRORS:
        return False
    return all(a == b or c for a, b, c in zip(is_, logical, unknown))


def main():
    runs, seed = (sys.argv[4:] + ["3000", "1"][len(sys.argv) - 4:])[:2]
    if os.path.exists("oracle.bin"):
        os.remove("oracle.bin")
    subprocess.run([sys.argv[1], f"-runs={runs}", f"-seed={seed}", sys.argv[3]], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, ZMPI_ORACLE="oracle.bin"))
    count = good = unseen = failed = 0
    for count, (file, logical) in enumerate(cases("oracle.bin"), 1):
        is_ = read(file)
        good += logical is not None
        if is_ == logical:
            continue
        if is_ is None and agrees(file, logical):
            unseen += 1
            continue
        failed += 1
        name = f"oracle_{seed}_{count}.z"
        with open(name, "wb") as f:
            f.write(file)
        says = ["fails" if b is None else "reads" for b in (logical, is_)]
        print(f"FAIL: seed {seed}, file {count}: the codec {says[0]}, zmpi_reader.py {says[1]}: kept as {os.path.abspath(name)}")
    print(f"{count} containers, {good} of which can be read; {unseen} with damage that nobody sees")
    if good < count // 10 or unseen > 1 + count // 1000:
        print("FAIL: too few can be read, or too much is passed over")
        return 1
    os.remove("oracle.bin")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

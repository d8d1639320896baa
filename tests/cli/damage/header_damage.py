#!/usr/bin/env python3
"""header_damage.py: a container whose header is damaged is read by the copy of it behind the index; zmpi fsck --repair writes it
anew. What another program wrote over it is said, and not written over."""
import json
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ZMPI_TEST_SOURCE"], "tests", "tool"))
sys.dont_write_bytecode = True
from kit import BIN, check_reader, fail, flipped, read, run, write  # noqa: E402

PROGRAM = os.path.join(BIN, "tests", "header_damage")
N = 30000
FIRST, COUNT = 4000, 3000  # doubles of the second session (tests/mpi/failures/header_damage.c)


def two_sessions():
    """The newer slot and a record damaged: no tool gives what the first session left, and says nothing."""
    environment = dict(os.environ, LD_PRELOAD=os.environ["ZMPI_TEST_LIB"], ZMPI_ERROR_BOUND="lossless", ZMPI_REPORT_TEXT="off",
                       ZMPI_EXACT_BELOW="0")
    subprocess.run([PROGRAM, "two.z"], env=environment, check=True, timeout=60)
    good = read("two.z")
    run("decompress", "two.z", "should.raw")
    should = read("should.raw")
    record = next(at for at in range(512, len(good), 8) if good[at:at + 4] == b"ZREC"
                  and struct.unpack("<Q", good[at + 16:at + 24])[0] == 8 * FIRST)
    copies = [at for at in range(512, len(good), 8) if good[at:at + 4] == b"ZHDR"]
    if len(copies) != 2 or copies[-1] + 136 != len(good):
        fail(f"copies of the header at {copies}")
    for bad, has_copy in (flipped(good, 40), True), (flipped(good, 40, copies[-1] + 50), False):
        # The slot alone: all is found, by the copy or by a scan.
        write("bad.z", bad)
        run("decompress", "bad.z", "out.raw")
        if read("out.raw") != should:
            fail("other data without the newer slot")
        check_reader("bad.z", should)
        write("repaired.z", bad)
        run("fsck", "--repair", "repaired.z")
        run("verify", "repaired.z")
        for places in (record + 20,), (record + 200,), range(record, record + 64):
            lost = flipped(bad, *places)
            write("bad.z", lost)
            said = run("decompress", "bad.z", "out.raw", status=1)
            if ("record" if has_copy else "missing") not in said:
                fail(f"decompress does not tell what is lost: {said}")
            check_reader("bad.z", should, (0, 1))  # it looks at no head that the index tells of
            run("verify", "bad.z", status=1)
            run("fsck", "bad.z", status=1)
            report = json.loads(run("recover", "--json", "bad.z", "out.raw", status=1))
            ranges = [(r["offset"], r["length"]) for r in report["ranges"] if r["kind"] == "lost"]
            if has_copy and (ranges != [(8 * FIRST, 8 * COUNT)] or report["records_missing"]):
                fail(f"recover: {report}")
            if not has_copy and not ranges and not report["records_missing"]:
                fail(f"recover: {report}")
            out = read("out.raw")
            if out[:8 * FIRST] != should[:8 * FIRST] or out[8 * (FIRST + COUNT):] != should[8 * (FIRST + COUNT):]:
                fail("recover: other data where nothing was lost")


def main():
    if os.path.exists(PROGRAM):
        two_sessions()
    rng = random.Random(5)
    write("field.raw", struct.pack(f"<{N}f", *(rng.random() for _ in range(N))))
    run("compress", "-t", "f32", "-d", str(N), "-e", "abs=0.001", "field.raw", "good.zmpi")
    run("decompress", "good.zmpi", "should.raw")
    good, should = read("good.zmpi"), read("should.raw")
    if good[-136:-132] != b"ZHDR":
        fail("no copy of the header at the end")

    # Lost: all is there, and it is said.
    for bad in bytes(512) + good[512:], flipped(good, 40), bytes(512) + good[512:] + b"behind" * 9000:
        write("bad.zmpi", bad)
        if "copy" not in run("decompress", "bad.zmpi", "out.raw"):
            fail("decompress does not tell of the header")
        if read("out.raw") != should:
            fail("other data by the copy of the header")
        check_reader("bad.zmpi", should)
        run("info", "bad.zmpi")
        if "copy" not in run("verify", "bad.zmpi", status=1) or "copy" not in run("fsck", "bad.zmpi", status=1):
            fail("verify or fsck does not tell of the header")
        report = json.loads(run("recover", "--json", "bad.zmpi", "out.raw"))
        if not report["whole"] or report["header_lost"] or read("out.raw") != should:
            fail(f"recover: {report}")
        run("fsck", "--repair", "bad.zmpi")
        run("fsck", "bad.zmpi")
        if len(bad) == len(good):
            run("verify", "bad.zmpi")
        run("decompress", "bad.zmpi", "out.raw")
        if read("out.raw") != should:
            fail("other data after fsck --repair")

    # Written over: status 1, and it stays as it is.
    over = b"plain text of another program\n" * 20
    bad = over[:512] + good[512:]
    write("bad.zmpi", bad)
    if "written over" not in run("decompress", "bad.zmpi", "out.raw", status=1) or read("out.raw") != should:
        fail("decompress of one that was written over")
    check_reader("bad.zmpi", should, (1,))
    run("recover", "bad.zmpi", "out.raw", status=1)
    if "recover" not in run("fsck", "--repair", "bad.zmpi", status=2) or read("bad.zmpi") != bad:
        fail("fsck --repair writes over another program's data")

    # Without the copy as before: nothing can be read but by zmpi recover.
    write("bad.zmpi", bytes(512) + flipped(good[512:], len(good) - 512 - 100))
    run("decompress", "bad.zmpi", "out.raw", status=2)
    run("recover", "bad.zmpi", "out.raw", status=1)
    if read("out.raw") != should:
        fail("recover without header and copy")


if __name__ == "__main__":
    sys.exit(main())

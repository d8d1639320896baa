#!/usr/bin/env python3
"""kill_trim.py: a program that writes a file anew dies while it closes it: when it writes the index, the index without what was
overwritten, a header, or gives room back (tests/faults/rewriting.c).

Each call of the close is the last one once: in the middle of it, or before it. Whatever was left:
  - zmpi decompress reads what was written last, as zmpi fsck and zmpi verify find it, and so it does after zmpi fsck --repair;
  - it does so by a scan, when the index is damaged too, though what was overwritten is found again, so that zmpi cannot tell
    whether something else is missing (status 1);
  - the next program writes it anew, and what was overwritten is given back.
ZMPI_TEST_BIN, ZMPI_TEST_LIB and MPIEXEC as in all cli tests.
"""
import array
import os
import re
import shutil
import struct
import subprocess
import sys

MASK = (1 << 64) - 1
ELEMENTS = 60000
KILL, TEAR = 4, 5  # enum fault_act of tests/faults/shim.h
WRITE, SYNC, PUNCH = 1, 4, 16  # enum fault_call
BIN = os.environ["ZMPI_TEST_BIN"]
PROGRAM = os.path.join(BIN, "tests", "rewriting")
MPIEXEC = os.environ.get("MPIEXEC", "mpiexec")
VERSION = subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True, check=False)
COMPONENTS = os.environ.get("ZMPI_TEST_IO", "").split() or ["ompio"]  # of Open MPI
OPEN_MPI = re.search("Open MPI|OpenRTE", VERSION.stdout + VERSION.stderr)


def fail(text):
    sys.exit(f"FAIL: {text}")


def write(ranks, path, session, act=0, calls=0, at=0):
    """True unless somebody was killed."""
    env = dict(os.environ, ZMPI_ERROR_BOUND="lossless", ZMPI_REPORT_TEXT="off", ZMPI_STAGING="1M")
    if OPEN_MPI:
        env["OMPI_MCA_io"] = COMPONENTS[at % len(COMPONENTS)]
    command = [MPIEXEC, *(["--oversubscribe"] if OPEN_MPI else []), "-n", str(ranks), "env",
               "LD_PRELOAD=" + os.environ["ZMPI_TEST_LIB"], PROGRAM, path, str(session), str(act), str(calls), str(at)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, errors="replace", check=False, timeout=120)
    if "FAIL" in done.stdout + done.stderr or (done.returncode and not act):
        fail(f"{command}: {done.stdout}{done.stderr}")
    return done.returncode == 0


def tool(status, *arguments):
    done = subprocess.run([os.path.join(BIN, "zmpi"), *arguments], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode not in status:
        fail(f"zmpi {' '.join(arguments)}: status {done.returncode}: {done.stdout}{done.stderr}")


def expect(session, path, what, status=(0,)):
    if os.path.exists("back.raw"):
        os.remove("back.raw")
    tool(status, "decompress", path, "back.raw")
    should = array.array("Q", ((session << 32 | i) * 0x9E3779B97F4A7C15 & MASK for i in range(ELEMENTS)))
    with open("back.raw", "rb") as f:
        if f.read() != should.tobytes():
            fail(f"{what}: not what was written last")


def damage_index(path):
    """The directories that the headers point to."""
    with open(path, "r+b") as f:
        for slot in (0, 256):
            f.seek(slot + 48)
            place, length = struct.unpack("<QQ", f.read(16))
            f.seek(place)
            if length and len(f.read(32)) == 32:
                f.seek(place + 24)
                f.write(b"damaged")


def examine(ranks, what):
    expect(2, "killed.z", what)
    shutil.copyfile("killed.z", "scanned.z")
    damage_index("scanned.z")
    expect(2, "scanned.z", what + ", scanned", (0, 1))
    shutil.copyfile("killed.z", "next.z")
    tool((0, 1), "fsck", "killed.z")
    tool((0,), "fsck", "--repair", "killed.z")
    tool((0,), "fsck", "killed.z")
    tool((0,), "verify", "killed.z")
    expect(2, "killed.z", what + ", repaired")
    write(ranks, "next.z", 3)
    expect(3, "next.z", what + ", written again")
    tool((0,), "fsck", "next.z")
    tool((0,), "trim", "killed.z")
    expect(2, "killed.z", what + ", trimmed")
    if os.path.getsize("killed.z") > 9 * ELEMENTS:
        fail(f"{what}: {os.path.getsize('killed.z')} bytes after zmpi trim")


def room(path):
    return os.stat(path).st_blocks * 512


def main():
    if not os.access(PROGRAM, os.X_OK):
        print("needs the MPI test programs")
        return 77
    kills = 0
    for ranks in (1, 2):
        for old in ("first.z", "killed.z"):
            if os.path.exists(old):
                os.remove(old)
        write(ranks, "first.z", 0)
        once = room("first.z")
        write(ranks, "first.z", 1)
        if room("first.z") > 3 * once // 2:
            print("this file system takes no room back")
            return 77
        for calls, act in ((WRITE, TEAR), (SYNC, KILL), (PUNCH, TEAR)) if ranks == 1 else ((WRITE, KILL), (PUNCH, KILL)):
            at = 1
            while True:
                subprocess.run(["cp", "--sparse=always", "first.z", "killed.z"], check=True)
                if write(ranks, "killed.z", 2, act, calls, at):
                    break
                examine(ranks, f"{ranks} ranks, act {act}, calls {calls}, at {at}")
                at += ranks
                kills += 1
            if at == 1 or room("killed.z") > 3 * once // 2:
                fail(f"calls {calls}: {kills} kills so far; {room('killed.z')} bytes of room, once {once}")
    print(f"{kills} kills survived")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""others.py ZMPI CONTAINER: zmpi trim and zmpi fsck --repair, and programs that write to the container just then.

A program's part are the locks of format.md 2.6: it holds the log's while it opens a file, and the writers' until it closes it.
CONTAINER needs repair, and zmpi trim takes it.
"""
import fcntl
import glob
import os
import shutil
import struct
import subprocess
import sys
import time

LOG, WRITERS = (1 << 63) - 2, (1 << 63) - 3
ZMPI, CONTAINER = sys.argv[1], sys.argv[2]


def lock(file, kind, byte):
    fcntl.fcntl(file, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, byte, 1, 0))


def read(path):
    with open(path, "rb") as f:
        return f.read()


def append(path):
    with open(path, "ab") as f:
        f.write(bytes(8))


def change_header(path):
    with open(path, "r+b") as f:
        f.seek(300)
        f.write(b"another")


def replace(path):
    shutil.copyfile(path, "new.z")
    append("new.z")
    os.rename("new.z", path)


def nothing(_):
    pass


def trim(meanwhile):
    """It has read the file, and cannot end."""
    shutil.copyfile(CONTAINER, "held.z")
    with open("held.z", "r+b") as f:
        lock(f, fcntl.F_WRLCK, LOG)
        with subprocess.Popen([ZMPI, "trim", "held.z"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while not glob.glob("held.z.??????") and process.poll() is None:
                time.sleep(0.001)
            meanwhile("held.z")
            should = read("held.z")
            lock(f, fcntl.F_UNLCK, LOG)
    if meanwhile is nothing:
        return process.returncode == 0
    return process.returncode == 2 and read("held.z") == should and not glob.glob("held.z.??????")


def refused(*command):
    """A program has it open for writing."""
    shutil.copyfile(CONTAINER, "held.z")
    with open("held.z", "r+b") as f:
        lock(f, fcntl.F_RDLCK, WRITERS)
        done = subprocess.run([ZMPI, *command, "held.z"], capture_output=True, check=False)
    return done.returncode == 2 and read("held.z") == read(CONTAINER)


def main():
    wrong = [f"trim, {meanwhile.__name__}" for meanwhile in (nothing, append, change_header, replace) if not trim(meanwhile)]
    wrong += [" ".join(command) for command in (("trim",), ("fsck", "--repair")) if not refused(*command)]
    return "FAIL: " + "; ".join(wrong) if wrong else 0


sys.exit(main())

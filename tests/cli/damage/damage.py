#!/usr/bin/env python3
"""damage.py: the tool reads a container with any byte damaged right, or refuses it with a line that names the file, and verify
finds every byte that makes a difference."""
import os
import random
import subprocess
import sys


def run(*arguments):
    return subprocess.run([os.path.join(os.environ["ZMPI_TEST_BIN"], "zmpi"), *arguments],
                          capture_output=True, text=True, errors="replace", check=False, timeout=60)


def read(path):
    """(what zmpi decompress makes of it or None, what it says)"""
    if os.path.exists("damaged.raw"):
        os.remove("damaged.raw")
    done = run("decompress", path, "damaged.raw")
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"FAIL: zmpi decompress ends with status {done.returncode}: {done.stderr}")
    if done.returncode:
        return None, done.stderr
    with open("damaged.raw", "rb") as f:
        return f.read(), done.stderr


def main():
    with open(os.path.join(os.environ["ZMPI_TEST_SOURCE"], "tests", "golden", "indexed.zmpi"), "rb") as f:
        whole = f.read()
    with open("damaged.z", "wb") as f:
        f.write(whole)
    should, _ = read("damaged.z")
    rng = random.Random(1)
    refused = 0
    for at, byte in enumerate(whole):
        with open("damaged.z", "r+b") as f:
            f.seek(at)
            f.write(bytes([byte ^ 1 << rng.randrange(8)]))
        data, said = read("damaged.z")
        if data is None:
            refused += 1
            if "damaged.z" not in said:
                raise SystemExit(f"FAIL: byte {at}: the file is not named: {said}")
            if run("verify", "damaged.z").returncode == 0:
                raise SystemExit(f"FAIL: byte {at}: zmpi verify finds nothing: {said}")
        elif data != should:
            raise SystemExit(f"FAIL: byte {at}: other data, and no error")
        with open("damaged.z", "r+b") as f:
            f.seek(at)
            f.write(bytes([byte]))
    if not refused or read("damaged.z")[0] != should:
        raise SystemExit(f"FAIL: {refused} refused, or the file did not come back")
    print(f"{len(whole)} bytes, {refused} of them refused, the others read right")


if __name__ == "__main__":
    sys.exit(main())

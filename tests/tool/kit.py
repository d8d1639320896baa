"""What tests of the tool in Python share: zmpi as a user runs it, files as bytes, damage, and the reader that needs no zmpi."""
import os
import subprocess
import sys

BIN = os.environ["ZMPI_TEST_BIN"]
TOP = os.environ["ZMPI_TEST_SOURCE"]
ZMPI = os.path.join(BIN, "zmpi")
READER = os.path.join(TOP, "scripts", "zmpi_reader.py")


def fail(text):
    raise SystemExit(f"FAIL: {text}")


def outputs(*arguments, status=0, **environment):
    """(stdout, stderr) of zmpi, which must end with this status."""
    done = subprocess.run([ZMPI, *arguments], capture_output=True, text=True, check=False, timeout=600,
                          env=dict(os.environ, **environment))
    if done.returncode != status:
        fail(f"zmpi {' '.join(arguments)}: status {done.returncode}, not {status}: {done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def run(*arguments, status=0):
    """All that zmpi says."""
    return "".join(outputs(*arguments, status=status))


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def flipped(data, *places):
    """The data with a bit changed at each place."""
    data = bytearray(data)
    for at in places:
        data[at] ^= 1
    return bytes(data)


def check_reader(path, whole, statuses=(0,)):
    """zmpi_reader.py ends with one of these statuses and, if with 0, gives these bytes."""
    done = subprocess.run([sys.executable, READER, "cat", path], capture_output=True, check=False, timeout=200)
    if done.returncode not in statuses or (done.returncode == 0 and done.stdout != whole):
        fail(f"zmpi_reader.py: status {done.returncode}, {done.stderr}")

#!/usr/bin/env python3
"""enhance_fields.py - zmpi enhance on real fields: what it stores is never worse than a smaller bound that takes as many bytes, as
zmpi compress and zmpi compare show it; the bound holds; where the tool says that nothing is gained, the file stays as it was.

Three fields by a few epochs; with ZMPI_TEST_LONG all of f32 and f64, at 1e-2 and 1e-3 of their ranges, by five.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ZMPI = os.path.join(os.environ["ZMPI_TEST_BIN"], "zmpi")
DATA, LONG = os.environ["ZMPI_DATA"], "ZMPI_TEST_LONG" in os.environ
FEW = ("galaxy_radeccz", "les_wmag", "wrf_w")
SEARCH = 14  # bounds that are tried


def run(*arguments):
    return subprocess.run([ZMPI, *arguments], capture_output=True, text=True, check=True).stdout


def compress(path, bound, out):
    run("compress", "-e", bound, "--codec", "interp", path, out)
    return os.path.getsize(out)


def compare(path, stream, *options):
    """PSNR and largest error of what a file is decoded to."""
    run("decompress", *options, stream, "out")
    got = json.loads(run("compare", "--json", "-t", path[-3:], path, "out"))
    return got["psnr"], got["max_error"]


def smaller_bound(path, limit, most):
    """The best PSNR of a plain file of at most so many bytes: by bisection, since a smaller bound nearly always takes more."""
    low, high, best = limit / 64, limit, compare(path, "x.zmpi")[0]
    for _ in range(SEARCH):
        bound = (low * high) ** .5
        if compress(path, f"abs={bound!r}", "y.zmpi") <= most:
            best, high = max(best, compare(path, "y.zmpi")[0]), bound
        else:
            low = bound
    return best


def check(path, rel):
    """What the network gained in dB over a smaller bound, or None."""
    plain_size = compress(path, f"rel={rel}", "x.zmpi")
    with open("x.zmpi", "rb") as f:
        before = f.read()
    record = json.loads(run("info", "--json", "x.zmpi"))["records"][0]
    if record["encoder"] != "interp":  # a field that it does not suit
        print(f"{os.path.basename(path)} at {rel}: not by interp", flush=True)
        return None
    said = run("enhance", "--train", path, "--epochs", "5" if LONG else "3", "x.zmpi")
    if "nothing was written" in said:
        with open("x.zmpi", "rb") as f:
            assert f.read() == before, f"{path}: was changed"
        print(f"{os.path.basename(path)} at {rel}: nothing is gained", flush=True)
        return None
    size, limit = os.path.getsize("x.zmpi"), record["abs_bound"]
    assert f" {size - plain_size} bytes more" in said, f"{path}: {plain_size} bytes, then {size}: {said}"
    psnr, worst = compare(path, "x.zmpi", "--enhance")
    assert worst <= limit, f"{path} at {rel}: off by {worst}, the bound is {limit}"
    other = smaller_bound(path, limit, size)
    print(f"{os.path.basename(path)} at {rel}: {plain_size} bytes, {size} with the network: {psnr:.2f} dB, a smaller bound {other:.2f} dB",
          flush=True)
    assert psnr >= other, f"{path} at {rel}: worse than a smaller bound"
    return psnr - other


def main():
    names = sorted(n for n in os.listdir(DATA) if re.search(r"\.f(32|64)$", n)) if os.path.isdir(DATA) else []
    names = [n for n in names if LONG or n.startswith(FEW)]
    if not names:
        sys.exit(77)
    folder = tempfile.mkdtemp()
    gains = []
    try:
        os.chdir(folder)
        for name in [n for n in os.environ if n.startswith("ZMPI_") and not n.startswith("ZMPI_TEST")]:
            del os.environ[name]
        for name in names:
            for rel in ("1e-2", "1e-3") if LONG else ("1e-2",):
                gains.append(check(os.path.join(DATA, name), rel))
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    some = [g for g in gains if g is not None]
    print(f"{len(some)} of {len(gains)} gain")
    assert some, "no field gains"


main()

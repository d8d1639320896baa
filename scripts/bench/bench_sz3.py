#!/usr/bin/env python3
"""A table of zmpi's encoders beside SZ3, whose command line tool SZ3 names; called by bench_codec.sh.

    SZ3=/path/to/sz3 bench_sz3.py [-e BOUNDS] [-r N] ZMPI FIELD...      FIELD: NAME_NZxNYxNX.f32 or .f64

Each field as it is (repeated, it would repeat in SZ3's last stage, which finds that), all with the same absolute bound:
that which zmpi makes of BOUNDS. SZ3's times are those that it prints, the least of N; zmpi's are medians of N; one thread
each. That SZ3 keeps the bound is checked.
"""

import argparse
import array
import json
import math
import os
import re
import subprocess
import sys
import tempfile


def zmpi_bench(zmpi, field, bound, codec, repetitions):
    run = [zmpi, "bench", "--json", "-e", bound, "--codec", codec, "--threads", "1",
           "--size", str(os.path.getsize(field)), "--repetitions", str(repetitions), field]
    result = json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)
    return result["results"][0] if "results" in result else result


def load(path, kind):
    values = array.array("f" if kind == "f32" else "d")
    with open(path, "rb") as f:
        values.frombytes(f.read())
    return values


def worst(field, back, kind):
    """The largest error of a finite value."""
    a, b = load(field, kind), load(back, kind)
    if len(a) != len(b):
        return math.inf
    return max((abs(x - y) if math.isfinite(y) else math.inf for x, y in zip(a, b) if math.isfinite(x)), default=0.0)


def printed(text, what):
    match = re.search(rf"^{what} *= *([0-9.eE+-]+)", text, re.MULTILINE)
    if not match:
        raise SystemExit(f"bench_sz3.py: {os.environ['SZ3']} does not print '{what}': is it SZ3's command line tool?")
    return float(match[1])


def sz3_bench(sz3, field, kind, extents, bound, repetitions):
    """Ratio, seconds to compress and to decompress, largest error over the bound."""
    while len(extents) > 4:
        extents = [extents[0] * extents[1]] + extents[2:]
    shape = [f"-{len(extents)}"] + [str(n) for n in reversed(extents)]
    kind_option = "-f" if kind == "f32" else "-d"
    with tempfile.TemporaryDirectory() as folder:
        packed, back = os.path.join(folder, "packed"), os.path.join(folder, "back")
        times = []
        for _ in range(repetitions):
            texts = [subprocess.run([sz3, kind_option, *files, *shape, *more],
                                    check=True, capture_output=True, text=True).stdout
                     for files, more in ((["-i", field, "-z", packed], ["-M", "ABS", repr(bound)]),
                                         (["-z", packed, "-o", back], []))]
            times.append((printed(texts[0], "compression time"), printed(texts[1], "decompression time")))
        return (os.path.getsize(field) / os.path.getsize(packed), min(t[0] for t in times), min(t[1] for t in times),
                worst(field, back, kind) / bound)


def row(sz3, zmpi, field, bound, repetitions):
    match = re.search(r"^(.*)_(\d+(?:x\d+)*)\.(f32|f64)$", os.path.basename(field))
    if not match:
        raise SystemExit(f"bench_sz3.py: {field}: no shape in its name, as in NAME_NZxNYxNX.f32")
    name, dims, kind = match.groups()
    cells = []
    for codec in ("fle", "huffman"):
        r = zmpi_bench(zmpi, field, bound, codec, repetitions)
        cells += [f"{r['ratio']:.2f}", f"{r['compress_gbps']:.2f}", f"{r['decompress_gbps']:.2f}"]
    ratio, compress, decompress, error = sz3_bench(sz3, field, kind, [int(n) for n in dims.split("x")], r["abs_bound"],
                                                   repetitions)
    size = os.path.getsize(field) / 1e9
    cells += [f"{ratio:.2f}", f"{size / compress:.2f}", f"{size / decompress:.2f}", f"{error:.4f}"]
    return "| " + " | ".join([name, bound, f"{r['memcpy_gbps']:.1f}"] + cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-e", "--bounds", default="rel=1e-3 rel=1e-4")
    parser.add_argument("-r", "--repetitions", type=int, default=5)
    parser.add_argument("zmpi")
    parser.add_argument("field", nargs="+")
    args = parser.parse_args()
    sz3 = os.environ.get("SZ3")
    if not sz3 or not os.access(sz3, os.X_OK):
        sys.exit("bench_sz3.py: SZ3 does not name SZ3's command line tool")
    print("GB/s of uncompressed data; error: largest over the bound.\n")
    print("| field | bound | memcpy | fle: ratio | compress | decompress | huffman: ratio | compress | decompress "
          "| SZ3: ratio | compress | decompress | error |\n| --- | --- |" + " --: |" * 11)
    for field in args.field:
        for bound in args.bounds.split():
            if bound.startswith("rel="):
                print(row(sz3, args.zmpi, field, bound, args.repetitions), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How small and how fast real fields become by each encoder: the first tables of docs/performance.md.

    bench_fields.py [--tool build/bin/zmpi] [--ratios] FOLDER      fields NAME_NZxNYxNX.f32 and .f64

Ratios are of files, each field as it is, rel=1e-3. Rates are compress and decompress as multiples of memcpy in the same
process: one thread, fields repeated to 128 MiB, without finding the range. --ratios leaves rates out. Standard library only.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import tempfile

ENCODERS = ("fle", "huffman", "interp")
FIELD_RUNS = (("fle", ["-e", "rel=1e-3"], {}), ("lossless", ["-e", "lossless"], {}),
              ("huffman", ["-e", "rel=1e-3", "--codec", "huffman"], {}))
OTHER_RUNS = (("fle, rel=1e-4", ["-e", "rel=1e-4"], {}), ("fle, AVX2", ["-e", "rel=1e-3"], {"ZMPI_DISABLE": "avx512"}),
              ("huffman, AVX2", ["-e", "rel=1e-3", "--codec", "huffman"], {"ZMPI_DISABLE": "avx512"}),
              ("interp, 64 MiB", ["-e", "rel=1e-3", "--codec", "interp", "--size", "64M", "--repetitions", "3"], {}))


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def ratio(tool, path, codec, out):
    extents = [int(n) for n in path.stem.rsplit("_", 1)[1].split("x")]
    shape = [math.prod(extents[:-2]), *extents[-2:]] if len(extents) > 2 else extents
    run(tool, "compress", "-t", path.suffix[1:], "-d", "x".join(map(str, shape)), "-e", "rel=1e-3", "--codec", codec,
        str(path), out)
    return path.stat().st_size / os.stat(out).st_size


def rates(tool, path, options, settings):
    r = json.loads(run(tool, "bench", "--json", "--threads", "1", "--size", "128M", "--repetitions", "5", *options,
                       str(path), env={**os.environ, **settings}))
    return r["compress_over_memcpy"], r["decompress_over_memcpy"]


def mean(values):
    logs = [math.log(v) for v in values]
    return math.exp(sum(logs) / len(logs))


def pair(values):
    return f"{mean(v[0] for v in values):.2f}, {mean(v[1] for v in values):.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="build/bin/zmpi")
    parser.add_argument("--ratios", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    o = parser.parse_args()
    paths = sorted(o.folder.glob("*_*.f??"), key=lambda p: (p.suffix, p.name))
    runs = () if o.ratios else FIELD_RUNS
    rows = []
    print("| field | type | " + " | ".join((*ENCODERS, *(name for name, _, _ in runs))) + " |")
    print("| --- | --- |" + " --: |" * (len(ENCODERS) + len(runs)))
    with tempfile.TemporaryDirectory() as folder:
        for p in paths:
            small = [ratio(o.tool, p, codec, folder + "/out.zmpi") for codec in ENCODERS]
            fast = [rates(o.tool, p, options, settings) for _, options, settings in runs]
            rows.append((small, fast))
            print(f"| {p.stem.rsplit('_', 1)[0]} | {p.suffix[1:]} | "
                  + " | ".join([f"{r:.2f}" for r in small] + [pair([r]) for r in fast]) + " |", flush=True)
    print("| **geometric mean** | | " + " | ".join(
        [f"**{mean([small[k] for small, _ in rows]):.2f}**" for k in range(len(ENCODERS))]
        + [f"**{pair([fast[k] for _, fast in rows])}**" for k in range(len(runs))]) + " |")
    if not o.ratios:
        print("\n| geometric mean | compress, decompress |\n| --- | --: |")
        for name, options, settings in OTHER_RUNS:
            print(f"| {name} | {pair([rates(o.tool, p, options, settings) for p in paths])} |", flush=True)


if __name__ == "__main__":
    main()

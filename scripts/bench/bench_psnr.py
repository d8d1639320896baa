#!/usr/bin/env python3
"""Ratios at equal PSNR of interp, huffman and zfp, as a table: geometric means over float32 fields.

    scripts/bench/bench_psnr.py [--tool build/bin/zmpi] [--fields] FOLDER

FOLDER has fields NAME_DIMS.f32; those with fill values or NaN are left out. `zmpi bench --peers` codes each field by a ladder
of bounds; ratios at 60 and 80 dB lie on the straight line, in decibels and log(ratio), between the bounds on both sides.
zfp is there if the tool was built with it. Standard library only.
"""
import argparse
import json
import math
import pathlib
import subprocess

BOUNDS = ("2e-1", "1e-1", "5e-2", "2e-2", "1e-2", "5e-3", "2e-3", "1e-3", "5e-4", "2e-4", "1e-4")
PSNR = (60, 80)


def bench(tool, path, bound, codec):
    """(name, PSNR, ratio) of the encoder, and of zfp."""
    out = subprocess.run([tool, "bench", "--json", "--peers", "--codec", codec, "-e", f"rel={bound}", "--threads", "1",
                          "--size", "4K", "--repetitions", "1", str(path)], check=True, capture_output=True,
                         text=True).stdout
    r = json.loads(out)
    return [(codec, r["psnr"], r["ratio"])] + [(p["name"], p["psnr"], p["ratio"]) for p in r["peers"] if p["name"] == "zfp"]


def ratio_at(points, psnr):
    """NaN: no bounds on both sides."""
    points = sorted((p, r) for p, r in points if p is not None)
    for (p, r), (q, s) in zip(points, points[1:]):
        if p <= psnr <= q:
            t = (psnr - p) / (q - p) if q > p else 0
            return math.exp((1 - t) * math.log(r) + t * math.log(s))
    return math.nan


def measure(tool, path):
    """Ratio of each name at each PSNR. From coarse bounds to fine ones, until all are beyond the last PSNR."""
    points = {}
    for bound in BOUNDS:
        for codec in ("interp", "huffman"):
            for name, psnr, ratio in bench(tool, path, bound, codec):
                points.setdefault(name, set()).add((psnr, ratio))
        if all(max(p or 0 for p, _ in of) > PSNR[-1] for of in points.values()):
            break
    return {name: [ratio_at(of, p) for p in PSNR] for name, of in points.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="build/bin/zmpi")
    parser.add_argument("--fields", action="store_true", help="each field too")
    parser.add_argument("folder", type=pathlib.Path)
    o = parser.parse_args()
    paths = [p for p in sorted(o.folder.glob("*_*.f32")) if "_fill" not in p.stem and "_nan" not in p.stem]
    found = {p: measure(o.tool, p) for p in paths}
    names = ("interp", "huffman", "zfp")
    print("| | " + " | ".join(f"{n}, {p} dB" for p in PSNR for n in names) + " |\n| --- |" + " --: |" * 6)
    rows = {p.stem.rsplit("_", 1)[0]: [f.get(n, [math.nan] * 2)[k] for k in range(2) for n in names]
            for p, f in found.items()}
    whole = [r for r in rows.values() if not any(map(math.isnan, r))]
    if o.fields:
        for name, row in rows.items():
            print(f"| {name} | " + " | ".join(f"{r:.2f}" for r in row) + " |")
    if whole:
        means = [math.exp(sum(math.log(r[k]) for r in whole) / len(whole)) for k in range(6)]
        print(f"| geometric mean of {len(whole)} | " + " | ".join(f"{m:.2f}" for m in means) + " |")


if __name__ == "__main__":
    main()

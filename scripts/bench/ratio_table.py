#!/usr/bin/env python3
"""What ratio=R comes to on real fields, as a table for docs/performance.md.

    scripts/bench/ratio_table.py [--tool build/bin/zmpi] FOLDER [RATIO...]

For each field NAME_DIMS.f32 or .f64 and each ratio: the ratio of the stream, and the largest error over the range of
the values. Ratios that were not reached within 5 % are marked *. Standard library only.
"""
import argparse
import json
import math
import pathlib
import subprocess
import tempfile


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def measure(tool, path, ratio, out):
    name, dims = path.stem.rsplit("_", 1)
    extents = [int(n) for n in dims.split("x")]
    shape = [math.prod(extents[:-2]), *extents[-2:]] if len(extents) > 2 else extents
    field = ("-t", path.suffix[1:], "-d", "x".join(map(str, shape)))
    run(tool, "compress", *field, "-e", f"ratio={ratio}", str(path), out)
    [record] = json.loads(run(tool, "info", "--json", out))["records"]
    got = record["bytes"] / (record["stored"] - 64)
    error = json.loads(run(tool, "compare", *field, "--json", str(path), out))["max_error_over_range"]
    missed = abs(got / ratio - 1) > 0.05 and not (record["abs_bound"] == 0 and got > ratio)
    return missed, f"{got:.2f}{'*' if missed else ''}, {error:.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="build/bin/zmpi")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("ratios", type=float, nargs="*", default=[4, 8, 16])
    o = parser.parse_args()
    print("| field | " + " | ".join(f"ratio={r:g}" for r in o.ratios) + " |")
    print("| --- |" + " --- |" * len(o.ratios))
    cases = missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(o.folder.glob("*_*.f??")):
            cells = []
            for ratio in o.ratios:
                off, cell = measure(o.tool, path, ratio, folder + "/out.zmpi")
                cells.append(cell)
                cases += 1
                missed += off
            print(f"| {path.stem.rsplit('_', 1)[0]} {path.suffix[1:]} | " + " | ".join(cells) + " |")
    print(f"\n{cases - missed} of {cases} reached.")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""How small encoder huffman makes real fields, as tables for docs/performance.md.

    scripts/bench/huffman_table.py [--tool build/bin/zmpi] [--bound rel=1e-3] [--sorts] FOLDER

For each field NAME_DIMS.f32 (with --sorts, of .f64 too): ratios of the stream and the file by fle, of the stream by
huffman, and what that would be with the residuals in their zero-order entropy and all else as by fle. --sorts: by
CEAZ's approximate sort instead, and what it loses. Standard library only.
"""
import argparse
import collections
import math
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import zmpi_reader  # noqa: E402


def coded(tool, path, codec, bound, out):
    """The only record's stream, its size, and that of the file."""
    parts = [int(n) for n in path.stem.rsplit("_", 1)[1].split("x")]
    shape = [math.prod(parts[:-2]), *parts[-2:]] if len(parts) > 2 else parts
    subprocess.run([tool, "compress", "--codec", codec, "-t", path.suffix[1:], "-e", bound,
                    "-d", "x".join(map(str, shape)), str(path), out], check=True)
    container = zmpi_reader.open_container(out)
    stream = container.stream(container.records[0])
    return stream, stream.length, os.path.getsize(out)


def entropy_bytes(stream):
    """Of a stream of encoder 1, without length bytes and planes: these in their entropy."""
    size = stream.starts[0]
    counts = collections.Counter()
    for k in range(stream.chunks):
        count = math.prod(stream.place(k)[1])
        reader = zmpi_reader.Reader(stream.chunk(k))
        kind, _, flags, _ = reader.take(4)
        if kind == zmpi_reader.STORED or flags & zmpi_reader.FLAG_ZERO:
            size += len(stream.chunk(k))
            counts[0] += 0 if kind == zmpi_reader.STORED else count
            continue
        reader.take((2 if kind == zmpi_reader.QUANTIZED else 1) * stream.width)
        head = reader.at
        counts.update(zmpi_reader.read_residuals(reader, stream.width, flags, count)[0])
        size += head + len(stream.chunk(k)) - reader.at
    total = sum(counts.values())
    return size + sum(n * math.log2(total / n) for n in counts.values() if n) / 8


def ratios(tool, path, bound, out, sorts):
    raw = path.stat().st_size
    _, huffman, _ = coded(tool, path, "huffman", bound, out)
    if sorts:
        _, other, _ = coded(tool, path, "huffman:approximate", bound, out)
        return [raw / huffman, raw / other, 100 * (other / huffman - 1)]
    stream, fle, file = coded(tool, path, "fle", bound, out)
    return [raw / fle, raw / file, raw / huffman, raw / entropy_bytes(stream)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="build/bin/zmpi")
    parser.add_argument("--bound", default="rel=1e-3")
    parser.add_argument("--sorts", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    o = parser.parse_args()
    heads = ["exact", "approximate", "loss, %"] if o.sorts else ["stream", "file", "huffman", "entropy"]
    print("| field | shape | " + " | ".join(heads) + " |\n" + "| --- " * (2 + len(heads)) + "|")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(o.folder.glob("*_*.f??" if o.sorts else "*_*.f32")):
            row = ratios(o.tool, path, o.bound, folder + "/out.zmpi", o.sorts)
            rows.append(row)
            print(f"| {path.stem.rsplit('_', 1)[0]} | "
                  f"{path.stem.rsplit('_', 1)[1]} | " + " | ".join(f"{r:.2f}" for r in row) + " |", flush=True)
    means = [math.exp(sum(map(math.log, column)) / len(rows)) for column in
             ([row[i] for row in rows] for i in range(2 if o.sorts else 4))]
    if o.sorts:
        means.append(100 * (means[0] / means[1] - 1))
    print("| **geometric mean** | | " + " | ".join(f"**{m:.2f}**" for m in means) + " |")


if __name__ == "__main__":
    main()

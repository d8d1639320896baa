#!/usr/bin/env python3
"""Rates of all fields from memory, as multiples of memcpy in the same process, as docs/performance.md has them.

    bench_memory.py PATH/zmpi FIELD... >table.md      fields: NAME_NZxNYxNX.f32 or .f64

Per field: compress, decompress for rel=1e-3, rel=1e-4 and lossless by fle, for rel=1e-3 by huffman, for rel=1e-3 by fle
without AVX-512; and by fle from the second-level cache, in GB/s.
"""
import json
import math
import os
import re
import subprocess
import sys

SIZE, REPETITIONS = "128M", "5"
RUNS = [("1e-3", ["-e", "rel=1e-3"], {}), ("1e-4", ["-e", "rel=1e-4"], {}), ("lossless", ["-e", "lossless"], {}),
        ("huffman", ["-e", "rel=1e-3", "--codec", "huffman"], {}),
        ("AVX2", ["-e", "rel=1e-3"], {"ZMPI_DISABLE": "avx512"})]


def measure(zmpi, field, options, settings):
    command = [zmpi, "bench", "--json", "--threads", "1", "--size", SIZE, "--repetitions", REPETITIONS, *options, field]
    return json.loads(subprocess.run(command, env={**os.environ, **settings}, check=True, stdout=subprocess.PIPE).stdout)


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    zmpi, fields = sys.argv[1], sys.argv[2:]
    columns = [name for name, _, _ in RUNS]
    print("| field | type | " + " | ".join(columns) + " | in L2, GB/s | ratio |")
    print("| --- | --- |" + " --: |" * (len(columns) + 2))
    rates = {name: ([], []) for name in columns}
    for field in fields:
        name = re.sub(r"_\d+(x\d+)*$", "", os.path.splitext(os.path.basename(field))[0])
        cells, first = [], None
        for column, options, settings in RUNS:
            r = measure(zmpi, field, options, settings)
            first = first or r
            pair = r["compress_over_memcpy"], r["decompress_over_memcpy"]
            for k in 0, 1:
                rates[column][k].append(pair[k])
            cells.append(f"{pair[0]:.2f}, {pair[1]:.2f}")
        cached = first.get("cached", {})
        cells.append(f"{cached.get('compress_gbps', 0):.0f}, {cached.get('decompress_gbps', 0):.0f}")
        print(f"| {name} | {first['type']} | " + " | ".join(cells) + f" | {first['ratio']:.2f} |", flush=True)
    cells = [f"**{mean(rates[c][0]):.2f}, {mean(rates[c][1]):.2f}**" for c in columns]
    print("| **geometric mean** | | " + " | ".join(cells) + " | | |")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Turn the JSON of `zmpi bench` into tables and gnuplot scripts; called by bench_codec.sh."""

import argparse
import array
import json
import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from pictures import COLOURS, PLAIN, Panel, block, count, pale, quoted, several, sheet  # noqa: E402


def load(folder, kind):
    """All results of raw/KIND-*.json, in the order in which they were measured."""
    names = [n for n in os.listdir(folder) if re.fullmatch(kind + r"-\d+\.json", n)]
    results = []
    for name in sorted(names, key=lambda n: int(re.findall(r"\d+", n)[0])):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            data = json.load(f)
        results += data.get("results", [data])
    return results


def short(field):
    """wrf_u for /data/wrf_u_4x14x48x49.f32"""
    return re.sub(r"_\d+(x\d+)*$", "", os.path.splitext(os.path.basename(field))[0])


def value(x, digits=2):
    return "-" if x is None else f"{x:.{digits}f}"


def table(results, machine):
    """Markdown: zmpi, then the peers at the first bound."""
    sizes = sorted({f"{r['bytes'] / 2**20:.0f} MiB" for r in results})
    lines = [
        f"Measured on: {machine}. Arrays of {' to '.join({sizes[0]: 0, sizes[-1]: 0})}; medians of "
        f"{results[0]['repetitions']} repetitions.",
        "GB/s are 1e9 uncompressed bytes a second.",
        "",
        "| field | type | bound | encoder | threads | memcpy | read | range | compress | / memcpy | with range | decompress "
        "| / memcpy | in L2: compress | decompress | ratio | PSNR dB | error / bound |",
        "| --- | --- | --- | --- | " + "--: | " * 14,
    ]
    for r in results:
        cached = r.get("cached", {})
        cells = [short(r["field"]), r["type"], r["bound"], r["encoder"], str(r["threads"])]
        cells += [value(r[k]) for k in ("memcpy_gbps", "read_gbps", "range_gbps", "compress_gbps",
                                        "compress_over_memcpy", "compress_with_range_gbps",
                                        "decompress_gbps", "decompress_over_memcpy")]
        cells += [value(cached.get(k)) for k in ("compress_gbps", "decompress_gbps")]
        cells += [value(r["ratio"]), value(r["psnr"], 1), value(r["max_error_over_bound"], 4)]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "Others on the same arrays, one thread (lz4 and zstd are exact, zfp has the same absolute bound):", "",
              "| field | bound | codec | compress | / memcpy | decompress | / memcpy | ratio | PSNR dB | error / bound |",
              "| --- | --- | --- | " + "--: | " * 7]
    for r in results:
        for p in r.get("peers", []):
            cells = [short(r["field"]), r["bound"], p["name"]]
            cells += [value(p[k]) for k in ("compress_gbps", "compress_over_memcpy", "decompress_gbps",
                                            "decompress_over_memcpy", "ratio")]
            cells += [value(p["psnr"], 1), value(p["max_error_over_bound"], 4) if p["name"] == "zfp" else "0"]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def bars(results):
    """What stands beside each other: name, colour, and the results by field and bound, of which a rate or a ratio is taken."""
    found = {}
    for r in results:
        at = r["field"], r["bound"]
        name = r["encoder"] + (f", {r['threads']} threads" if r["threads"] > 1 else "")
        found.setdefault((r["encoder"], r["threads"], name), {})[at] = r
        for p in r.get("peers", []):
            found.setdefault((p["name"], 1, p["name"]), {}).setdefault(at, p)
    colours = {base: COLOURS[i % len(COLOURS)] for i, base in enumerate(dict.fromkeys(base for base, _, _ in found))}
    ours = {r["encoder"] for r in results}
    return [(name, pale(colours[base]) if threads > 1 else colours[base], at)
            for (base, threads, name), at in sorted(found.items(), key=lambda s: s[0][0] not in ours)]


def throughput(results, machine):
    """For each bound two rows of clusters of bars, one for each field."""
    fields, bounds = (list(dict.fromkeys(r[k] for r in results)) for k in ("field", "bound"))
    series, rows = bars(results), []
    wide = 1 / (len(series) + 1)
    for b, bound in enumerate(bounds):
        for direction in "compress", "decompress":
            blocks, plots = [], []
            for k, (_, colour, at) in enumerate(series):
                points = []
                for i, field in enumerate(fields):
                    r = at.get((field, bound))
                    if r:
                        low, high = r[direction + "_limits_gbps"]
                        points.append([i + (k - (len(series) - 1) / 2) * wide, r[direction + "_gbps"], low, high, f"{r['ratio']:.1f}"])
                name = f"{direction}{b}_{k}"
                blocks.append(block(name, points))
                plots += [f"${name} using 1:2 with boxes fs solid noborder lc rgb '{colour}' notitle",
                          f"${name} using 1:3:(0):($4-$3) with vectors heads size screen 0.002,90 lc rgb '{PLAIN}' notitle",
                          f"${name} using 1:4:5 with labels rotate by 90 left offset 0,0.4 font ',7' notitle"] if points else []
            # A line over each cluster: what copying the same array takes.
            copy = {r["field"]: r["memcpy_gbps"] for r in results if r["threads"] == 1}
            blocks.append(block(f"{direction}{b}_copy", [[i - 0.45, copy[f]] for i, f in enumerate(fields) if f in copy]))
            plots.append(f"${direction}{b}_copy using 1:2:(0.9):(0) with vectors nohead lw 2 lc rgb '{PLAIN}' notitle")
            tics = ", ".join(f"{quoted(short(f))} {i}" for i, f in enumerate(fields))
            rows.append([Panel(f"{direction.capitalize()}, {bound}", plots, blocks + [
                f"set boxwidth {0.9 * wide}; set offsets 0,0,graph 0.25,0; set xrange [-0.6:{len(fields) - 0.4}]; set yrange [0:*]",
                f"set xtics nomirror out ({tics}); set ylabel 'GB/s'"])])
    least, most = min(r["bytes"] for r in results), max(r["bytes"] for r in results)
    size = f"{least / 1e6:.4g}" + (f" to {most / 1e6:.4g}" if most > least else "")
    said = (f"medians of {several(r['repetitions'] for r in results)} repetitions; bars: fastest and slowest; over them: ratio; "
            f"1e9 uncompressed bytes a second of {size} MB; {count(len(fields), 'field')}, bounds {several(bounds)}")
    if not any(r.get("peers") for r in results):
        said += "; zmpi bench was built without zfp, lz4 and zstd"
    return sheet("throughput", "Compressing and decompressing one array", [machine, said], rows,
                 [("memcpy", f"with lines lw 2 lc rgb '{PLAIN}'")] +
                 [(name, f"with boxes fs solid noborder lc rgb '{colour}'") for name, colour, _ in series],
                 size=(max(680, int(len(fields) * (len(series) + 1) * 17) + 100), 290))


def rate_distortion(results, machine):
    """A panel for each field, a line for each encoder, and for zfp."""
    fields = list(dict.fromkeys(r["field"] for r in results))
    series = [s for s in bars(results) if any(r["psnr"] is not None and math.isfinite(r["psnr"]) for r in s[2].values())]
    panels = []
    for n, field in enumerate(fields):
        blocks, plots = [], []
        for k, (name, colour, at) in enumerate(series):
            points = [[r["bits_per_value"], r["psnr"]] for (f, _), r in at.items() if f == field and r["psnr"] is not None]
            blocks.append(block(f"q{n}_{k}", points))
            plots += [f"$q{n}_{k} with linespoints lw 1.5 pt 7 ps 0.6 lc rgb '{colour}' notitle"] if points else []
        panels.append(Panel(short(field), plots, blocks + ["set xrange [0:*]; set xlabel 'bits per value'; set ylabel 'PSNR (dB)'"]))
    rows = [panels[i:i + 3] for i in range(0, len(panels), 3)]
    bounds = list(dict.fromkeys(r["bound"] for r in results))
    return sheet("rate_distortion", "Rate and distortion (more PSNR at fewer bits is better)",
                 [machine, f"bounds {bounds[0]} to {bounds[-1]}, {len(bounds)} of them; measured once, since no time is in it; exact ones "
                  "have no PSNR and are not drawn"], rows,
                 [(name, f"with linespoints lw 1.5 pt 7 lc rgb '{colour}'") for name, colour, _ in series])


def generated(path):
    """A smooth field, as far as plain Python makes one in a second."""
    nz, ny, nx = 4, 256, 256
    f = array.array("f", (
        math.sin(x / 19 + z / 5) * math.cos(y / 23) + 0.3 * math.sin(x / 7 + y / 11) + 0.05 * math.cos(x / 2.3 - y / 3.1)
        for z in range(nz) for y in range(ny) for x in range(nx)))
    with open(path, "wb") as out:
        f.tofile(out)


def slice_of(path, kind, dims, shape):
    """The middle plane of a raw field."""
    plane = shape[1] * shape[2]
    a = array.array("f" if kind == "f32" else "d")
    with open(path, "rb") as f:
        f.seek(shape[0] // 2 * plane * a.itemsize)
        a.fromfile(f, plane)
    return [x if math.isfinite(x) and abs(x) < 1e19 else math.nan for x in a]


def field_shape(dims):
    """z, y, x with the leading extents multiplied; a flat field is wrapped into rows."""
    e = [int(n) for n in dims.split("x")]
    while len(e) > 3:
        e[0:2] = [e[0] * e[1]]
    if len(e) == 2:
        e = [1] + e
    if len(e) == 1 or e[1] * e[2] < 64:
        n = math.prod(e)
        e = [1, max(1, int(math.sqrt(n))), max(1, int(math.sqrt(n)))]
    return e


def write_slice(folder, zmpi, field, machine):
    if not field:
        field = os.path.join(folder, "generated_4x256x256.f32")
        generated(field)
    match = re.search(r"_(\d+(?:x\d+)*)\.(f32|f64)$", field)
    if not match:
        raise SystemExit(f"bench_tables.py: {field}: no shape in its name, as in NAME_NZxNYxNX.f32")
    dims, kind = match.groups()
    shape = field_shape(dims)
    packed, back = os.path.join(folder, "slice.zmpi"), os.path.join(folder, "slice.raw")
    bound = "rel=1e-2"
    subprocess.run([zmpi, "compress", "-t", kind, "-d", dims, "-e", bound, field, packed], check=True)
    subprocess.run([zmpi, "decompress", packed, back], check=True)
    ratio = os.path.getsize(field) / os.path.getsize(packed)
    a, b = slice_of(field, kind, dims, shape), slice_of(back, kind, dims, shape)
    planes = {"original": a, "decoded": b, "error": [y - x for x, y in zip(a, b)]}
    for name, plane in planes.items():
        with open(os.path.join(folder, name + ".bin"), "wb") as f:
            array.array("d", plane).tofile(f)
    finite = [x for x in a if math.isfinite(x)] or [0, 1]
    worst = max((abs(x) for x in planes["error"] if math.isfinite(x)), default=0) or 1
    ny, nx = shape[1], shape[2]
    panels = []
    for name in planes:
        low, high = (-worst, worst) if name == "error" else (min(finite), max(finite))
        palette = "defined (-1 '#2166ac', 0 '#ffffff', 1 '#b2182b')" if name == "error" else \
            "defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725')"
        panels.append(Panel(name, [f"'{name}.bin' binary array=({nx},{ny}) format='%double' with image notitle"], [
            f"unset xtics; unset ytics; unset grid; unset border; set size ratio -1; set autoscale fix; set cbtics font ',8'; "
            f"set palette {palette}; set cbrange [{low:.9g}:{high:.9g}]"]))
    with open(os.path.join(folder, "slice.gp"), "w", encoding="utf-8") as f:
        f.write(sheet("slice", f"{short(field)}, {bound}, middle plane: before, after, and what is between them",
                      [machine, f"field {os.path.basename(field)}; bound {bound}; ratio of the file {ratio:.1f}; colours of the error "
                       f"to its largest, {worst:.3g}"], [panels], [], size=(500, 430), bottom=20, right=70))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--machine", required=True)
    p.add_argument("--zmpi", required=True, help="the tool")
    p.add_argument("folder", help="with raw/*.json")
    p.add_argument("field", nargs="?", help="raw field for the slice")
    args = p.parse_args()
    raw = os.path.join(args.folder, "raw")
    speed, quality = load(raw, "speed"), load(raw, "quality")
    with open(os.path.join(args.folder, "results.json"), "w", encoding="utf-8") as f:
        json.dump({"machine": args.machine, "speed": speed, "quality": quality}, f, indent=1)
    text = table(speed, args.machine)
    with open(os.path.join(args.folder, "table.md"), "w", encoding="utf-8") as f:
        f.write(text)
    for plot, results in (throughput, speed), (rate_distortion, quality):
        with open(os.path.join(raw, plot.__name__ + ".gp"), "w", encoding="utf-8") as f:
            f.write(plot(results, args.machine))
    write_slice(raw, args.zmpi, args.field, args.machine)


if __name__ == "__main__":
    main()

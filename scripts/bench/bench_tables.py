#!/usr/bin/env python3
"""Turn the JSON of `zmpi bench` into tables and gnuplot scripts; called by bench_codec.sh."""

import argparse
import array
import json
import math
import os
import re
import subprocess

GRID = "set grid ytics lc rgb '#dddddd'\nset border 3\nset tics nomirror out\n"
GAP = 1  # gnuplot takes whole bars only
CODECS = ["zmpi", "zmpi threads", "zfp", "lz4", "zstd-1"]
COLOURS = ["#1b6ca8", "#7db8e8", "#d1603d", "#7a9e3f", "#8e6bb0"]


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
        "| field | type | bound | threads | memcpy | read | range | compress | / memcpy | with range | decompress "
        "| / memcpy | in L2: compress | decompress | ratio | PSNR dB | error / bound |",
        "| --- | --- | --- | " + "--: | " * 14,
    ]
    for r in results:
        cached = r.get("cached", {})
        cells = [short(r["field"]), r["type"], r["bound"], str(r["threads"])]
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


def rates(results, field, bound, key):
    """One rate per entry of CODECS, None where there is none; then memcpy's."""
    of = [r for r in results if r["field"] == field and r["bound"] == bound]
    one = next(r for r in of if r["threads"] == 1)
    many = max(of, key=lambda r: r["threads"])
    found = {p["name"]: p[key] for p in one.get("peers", [])}
    found["zmpi"] = one[key]
    if many is not one:
        found["zmpi threads"] = many[key]
    return [found.get(c) for c in CODECS] + [one["memcpy_gbps"]]


def write_ratios(folder, results, fields, bound):
    """Labels over the bars: a rate says little without the ratio that it buys."""
    with open(os.path.join(folder, "ratios.dat"), "w", encoding="utf-8") as f:
        for i, field in enumerate(fields):
            ratios = rates(results, field, bound, "ratio")
            heights = [rates(results, field, bound, key) for key in ("compress_gbps", "decompress_gbps")]
            for k in range(len(CODECS)):
                if ratios[k] is not None:
                    # gnuplot's own place of the bar: a cluster is one wide, the gap between clusters GAP bars.
                    x = i + (k - (len(CODECS) - 1) / 2) / (len(CODECS) + GAP)
                    f.write(f"{x:.4f} {heights[0][k]:.4f} {heights[1][k]:.4f} {ratios[k]:.1f}\n")


def write_throughput(folder, results, machine):
    fields = list(dict.fromkeys(r["field"] for r in results))
    bound, threads = results[0]["bound"], max(r["threads"] for r in results)
    for key in ("compress_gbps", "decompress_gbps"):
        with open(os.path.join(folder, key + ".dat"), "w", encoding="utf-8") as f:
            for name in fields:
                row = [value(x, 4) if x is not None else "0" for x in rates(results, name, bound, key)]
                f.write(f'"{short(name)}" {" ".join(row)}\n')
    write_ratios(folder, results, fields, bound)
    titles = [c.replace("threads", f"{threads} threads") for c in CODECS]
    with open(os.path.join(folder, "throughput.gp"), "w", encoding="utf-8") as f:
        f.write("set terminal pngcairo size 1200,900 font 'DejaVu Sans,11'\nset output '../throughput.png'\n" + GRID)
        f.write(f"set style data histograms\nset style histogram clustered gap {GAP}\nset style fill solid noborder\n"
                "set boxwidth 0.9\nset yrange [0:*]\nset ylabel 'GB/s of uncompressed data'\n"
                f"set key outside right top noenhanced\nset xtics noenhanced\nset xrange [-0.6:{len(fields) - 0.4}]\n")
        f.write(f"set multiplot layout 2,1 title \"{bound}, one thread unless said otherwise; over the bars: ratio"
                f" - {machine}\" noenhanced\n")
        for column, (key, title) in enumerate((("compress_gbps", "Compress"), ("decompress_gbps", "Decompress"))):
            plots = [f"'{key}.dat' using {i + 2}:xtic(1) title '{t}' lc rgb '{COLOURS[i]}'"
                     for i, t in enumerate(titles)]
            # A line over each cluster: what copying the same array takes.
            plots.append(f"'{key}.dat' using ($0-0.42):{len(CODECS) + 2}:(0.84):(0) title 'memcpy' "
                         "with vectors nohead lw 2 lc rgb '#333333'")
            plots.append(f"'ratios.dat' using 1:{column + 2}:4 with labels offset 0,0.6 font ',8' notitle")
            f.write(f"set title '{title}'\nplot " + ", \\\n     ".join(plots) + "\n")
        f.write("unset multiplot\n")


def write_rate_distortion(folder, results):
    fields = list(dict.fromkeys(r["field"] for r in results))[:6]
    plots = []
    for i, field in enumerate(fields):
        name = f"rd{i}.dat"
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            for codec in ("zmpi", "zfp"):
                for r in (r for r in results if r["field"] == field):
                    c = r if codec == "zmpi" else next((p for p in r.get("peers", []) if p["name"] == codec), None)
                    if c and c["psnr"] is not None:
                        f.write(f"{c['bits_per_value']:.4f} {c['psnr']:.3f}\n")
                f.write("\n\n")
        plots.append(f"'{name}' index 0 with linespoints lc {i + 1} lw 2 pt 7 ps 0.8 title '{short(field)}: zmpi'")
        plots.append(f"'{name}' index 1 with linespoints lc {i + 1} lw 1.5 dt 2 pt 6 title '{short(field)}: zfp'")
    with open(os.path.join(folder, "rate_distortion.gp"), "w", encoding="utf-8") as f:
        f.write("set terminal pngcairo size 1000,700 font 'DejaVu Sans,11'\nset output '../rate_distortion.png'\n" + GRID)
        f.write("set grid xtics\nset xlabel 'bits per value'\nset ylabel 'PSNR (dB)'\nset xrange [0:*]\n"
                "set title 'Rate and distortion, bounds rel=3e-2 to 1e-6 (more PSNR at fewer bits is better)'\n"
                "set key outside right top noenhanced\nplot " + ", \\\n     ".join(plots) + "\n")


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


def write_slice(folder, zmpi, field):
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
    with open(os.path.join(folder, "slice.gp"), "w", encoding="utf-8") as f:
        f.write("set terminal pngcairo size 1500,560 font 'DejaVu Sans,11'\nset output '../slice.png'\n"
                "unset key\nunset tics\nset size ratio -1\nset cbtics\n"
                "set autoscale fix\n"
                f"set multiplot layout 1,3 title \"{short(field)}, {bound}, ratio of the file {ratio:.1f}\" noenhanced\n")
        for name in planes:
            low, high = (-worst, worst) if name == "error" else (min(finite), max(finite))
            palette = "defined (-1 '#2166ac', 0 '#ffffff', 1 '#b2182b')" if name == "error" else \
                "defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', 4 '#fde725')"
            f.write(f"set title '{name}'\nset palette {palette}\nset cbrange [{low:.9g}:{high:.9g}]\n"
                    f"plot '{name}.bin' binary array=({nx},{ny}) format='%double' with image\n")
        f.write("unset multiplot\n")


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
    write_throughput(raw, speed, args.machine)
    write_rate_distortion(raw, quality)
    write_slice(raw, args.zmpi, args.field)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Turn the JSON files of zmpi-perf into gnuplot scripts; called by plot_perf.sh."""

import argparse
import os

import perf_model

STYLE = """set terminal pngcairo size {width},{height} font 'DejaVu Sans,11' noenhanced
set output '{name}.png'
set grid ytics lc rgb '#dddddd'
set border 3
set tics nomirror out
"""
COLOURS = ["#1b6ca8", "#d1603d", "#7a9e3f", "#8e6bb0", "#c9a227", "#4aa3a2", "#8c564b", "#555555"]
PARTS = [("scan", "value range", "#c9a227"), ("compress", "compress", "#1b6ca8"),
         ("decode", "decode", "#7db8e8"), ("rest", "transfer, file access and waiting", "#bbbbbb")]


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def load(paths):
    """All results, each with what it needs of its file."""
    results = []
    for path in paths:
        data = perf_model.load(path)
        notes = data["notes"]
        for r in data["results"]:
            is_file = r["operation"].startswith(("read", "write"))
            place = notes.get("storage" if is_file else "link")
            r.update(ranks=data["parameters"]["ranks"], place=place or "", field=data["parameters"]["field"],
                     name=" ".join([r["variant"].split()[0]] + ([r["mode"]] if r["mode"] in ("auto", "measured") else [])))
            results.append(r)
    return results


def usual(results):
    """The results of one bound, the one that was measured most, and plain."""
    bounds = [r["bound"] for r in results if r["bound"]]
    bound = max(bounds, key=bounds.count, default=None)
    return [r for r in results if r["bound"] in (None, bound)]


def data_block(out, name, points):
    out.append(f"${name} << END")
    out += [f"{x} {y}" for x, y in points]
    out.append("END")


def by_operation(results):
    groups = {}
    for r in results:
        groups.setdefault(r["operation"], []).append(r)
    return groups


def mpi_name(operation):
    if operation.startswith(("read", "write")):
        return "MPI_File_" + operation
    return "MPI_" + operation.replace("_lossy", " (lossy)").capitalize()


def throughput(results):
    """Bytes a second against ranks, one picture of each operation, as CEAZ's Figure 15."""
    results = usual(results)
    groups = by_operation(results)
    columns = min(3, len(groups))
    rows = -(-len(groups) // columns)
    out = [STYLE.format(name="throughput", width=460 * columns, height=420 * rows + 30),
           f"set multiplot layout {rows},{columns} title 'Effective throughput (uncompressed bytes a second) against the number of ranks'",
           "set logscale y", "set ylabel 'MB/s'", "set key below font ',8' samplen 2"]
    least, most = min(r["ranks"] for r in results), max(r["ranks"] for r in results)
    if most > 8:
        out.append(f"set logscale x 2; set xrange [{least / 1.4}:{most * 1.4}]")
    else:
        out.append(f"set xtics 1; set xrange [{least - 0.5}:{most + 0.5}]")
    for n, (operation, group) in enumerate(groups.items()):
        out.append(f"set title {quoted(mpi_name(operation))}")
        lines = {}
        for r in group:
            title = r["name"] + (f", {r['place']}" if r["place"] else "")
            # Several files may have measured the same.
            lines.setdefault(title, {})[r["ranks"]] = r["rate"] / 1e6
        for i, points in enumerate(lines.values()):
            data_block(out, f"t{n}_{i}", sorted(points.items()))
        out.append("plot " + ", ".join(
            f"$t{n}_{i} with linespoints lw 2 pt 7 ps 0.9 dt {2 if title.startswith('plain') else 1} "
            f"lc rgb {quoted(COLOURS[i % len(COLOURS)])} title {quoted(title)}"
            for i, title in enumerate(lines)))
    out.append("unset multiplot")
    return out


def speedup(results):
    """Speed-up against ratio: on the line y = x all that compression saves on the link is won."""
    compressed = [r for r in results if r["bound"] and r["compressed"]]
    groups = {}
    for r in compressed:
        groups.setdefault(r["operation"] + (f", {r['place']}" if r["place"] else ""), []).append(r)
    top = max((r["ratio"] for r in compressed), default=1) * 1.5
    out = [STYLE.format(name="speedup", width=900, height=600),
           "set title 'Speed-up over plain MPI'", "set xlabel 'compression ratio'", "set ylabel 'speed-up'",
           "set logscale xy", f"set xrange [1:{top}]", "set key outside right Left reverse font ',9'",
           "set xtics (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500)",
           "set ytics (0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500)"]
    for i, points in enumerate(groups.values()):
        data_block(out, f"s{i}", sorted((r["ratio"], r["speedup"]) for r in points))
    marks = ["x with lines lc rgb '#888888' dt 2 title 'speed-up = ratio'",
             "1 with lines lc rgb '#cccccc' title 'as fast as plain'"]
    marks += [f"$s{i} with points pt {5 + 2 * (i // len(COLOURS))} ps 1.3 lc rgb "
              f"{quoted(COLOURS[i % len(COLOURS)])} title {quoted(name)}" for i, name in enumerate(groups)]
    out.append("plot " + ", ".join(marks))
    return out


def breakdown(results):
    """Where the busiest rank's time goes, as parts of the plain time."""
    plain = {}
    for r in results:
        if not r["bound"]:
            plain[r["operation"], r["place"], r["ranks"], r["field"]] = sum(r["seconds"]) / len(r["seconds"])
    # One bar for each operation and place: that of most ranks.
    bars = {}
    for r in usual(results):
        key = r["operation"], r["place"]
        if r["bound"] and r["compressed"] and r["mode"] not in ("auto", "measured") and r["ranks"] >= bars.get(key, r)["ranks"]:
            bars[key] = r
    out = [STYLE.format(name="breakdown", width=max(700, 60 * len(bars) + 300), height=620),
           "set title 'Time of the busiest rank, as part of the time without compression'",
           "set ylabel '% of plain'", "set style data histograms", "set style histogram rowstacked",
           "set style fill solid border rgb 'white'", "set boxwidth 0.75", "set key outside top horizontal Left reverse",
           "set xtics rotate by -40 left font ',9' nomirror", "set yrange [0:*]", "set rmargin 16", "$bars << END"]
    for key, r in sorted(bars.items()):
        whole = plain.get((r["operation"], r["place"], r["ranks"], r["field"]))
        if whole:
            label = " ".join(filter(None, key))
            out.append(" ".join([f'"{label}"'] + [f"{100 * r['busiest'][part] / whole:.3f}" for part, _, _ in PARTS]))
    out.append("END")
    out.append("plot 100 with lines lc rgb '#888888' dt 2 title 'plain', " + ", ".join(
        f"$bars using {i + 2}{':xtic(1)' if i == 0 else ''} lc rgb {quoted(colour)} title {quoted(title)}"
        for i, (_, title, colour) in enumerate(PARTS)))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", help="folder for the gnuplot scripts")
    parser.add_argument("json", nargs="+")
    arguments = parser.parse_args()
    results = load(arguments.json)
    for name, plot in (("throughput", throughput), ("speedup", speedup), ("breakdown", breakdown)):
        with open(os.path.join(arguments.out, name + ".gp"), "w", encoding="utf-8") as f:
            f.write("\n".join(plot(results)) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Turn the JSON files of zmpi-perf into gnuplot scripts; called by plot_perf.sh."""

import argparse
import os
import statistics

import perf_model
from pictures import COLOURS, FILLED, OPEN, PLAIN, Panel, block, count, quoted, several, sheet

PARTS = [("scan", "value range", "#c9a227"), ("compress", "compress", "#1b6ca8"),
         ("decode", "decode", "#7db8e8"), ("rest", "transfer, file access and waiting", "#bbbbbb")]
MODES = {None: (1, FILLED), "always": (1, FILLED), "measured": (2, OPEN), "auto": (4, OPEN)}  # dashes, marks
RATIOS = "1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000"
BARS = "bars: fastest and slowest repetition"


class Results:
    """All results of all files, and what tells them apart."""

    def __init__(self, paths):
        self.files = [perf_model.load(path) for path in paths]
        self.all, self.nothing = [], []
        for data in self.files:
            notes, parameters = data["notes"], data["parameters"]
            for r in data["results"]:
                is_file = r["operation"].startswith(("read", "write"))
                r.update(ranks=parameters["ranks"], place=notes.get("storage" if is_file else "link") or "",
                         field=parameters["field"], sync=is_file and parameters["sync"])
                if r["bytes"]:
                    self.all.append(r)
                else:
                    self.nothing.append(f"{r['operation']} on {count(r['ranks'], 'rank')}")
        self.bounds = list(dict.fromkeys(r["bound"] for r in self.all if r["bound"]))
        coders = dict.fromkeys((r["codec"], r["device"]) for r in self.all if r["bound"])
        devices = {device for _, device in coders}
        self.coders = {c: (c[0] + (f" on {c[1]}" if len(devices) > 1 else ""), COLOURS[i % len(COLOURS)])
                       for i, c in enumerate(coders)}
        self.modes = list(dict.fromkeys(r["mode"] for r in self.all if r["bound"] and r["mode"]))

    def what(self):
        """Lines for every picture: machine, date, field; how often."""
        machines = several(f"{d['machine']['cpu']}, {count(d['machine']['cores'], 'core')}, "
                           f"{count(d['machine']['nodes'], 'node')}, {d['machine']['mpi']}" for d in self.files)
        loads = [d["machine"]["load"] for d in self.files]
        dates = sorted(d.get("date") or "no date" for d in self.files)
        when = dates[0] if dates[0][:16] == dates[-1][:16] else f"{dates[0]} to {dates[-1]}"
        sizes = {}
        for d in self.files:
            sizes.setdefault(f"{d['parameters']['field']} ({d['parameters']['type']})", []).append(d["parameters"]["bytes_per_rank"] / 1e6)
        fields = "; ".join(f"{name}, {span(of)} MB of each rank" for name, of in sizes.items())
        counts = several(d["parameters"]["repetitions"] for d in self.files)
        notes = several(f"{k}={v}" for d in self.files for k, v in d["notes"].items())
        return [f"zmpi {several(d['zmpi'] or 'none' for d in self.files)} on {machines}; load {span(loads)}; {when}",
                f"field {fields}; {counts} repetitions" + (f"; {notes}" if notes else "")
                + (f"; nothing is moved, or drawn, by {several(self.nothing)}" if self.nothing else "")]

    def groups(self):
        """Operation, place, field: those of a group differ by ranks and variant alone."""
        found = {}
        for r in self.all:
            found.setdefault((r["operation"], r["place"], r["field"], r["sync"]), []).append(r)
        return found

    def title(self, group):
        operation, place, field, sync = group
        several_fields = len({r["field"] for r in self.all}) > 1
        return ", ".join(filter(None, [mpi_name(operation), "with sync" if sync else "", place,
                                       field if several_fields else ""]))

    def key(self, marks):
        """What colours and dashes mean. marks: also bounds, as marks."""
        how = "with linespoints pt 7" if not marks else "with lines"
        key = [(name, f"{how} lw 2 lc rgb '{colour}'") for name, colour in self.coders.values()]
        if marks:
            key += [(b, f"with points pt {FILLED[i % len(FILLED)]} ps 1.2 lc rgb '#666666'") for i, b in enumerate(self.bounds)]
            if set(self.modes) - {"always"}:
                key.append(("open: mode " + " or ".join(m for m in self.modes if m != "always"),
                            "with points pt 6 ps 1.2 lc rgb '#666666'"))
        elif self.modes:
            key += [(f"mode {m}", f"with linespoints lw 2 dt {MODES[m][0]} pt {MODES[m][1][0]} lc rgb '#666666'") for m in self.modes]
        return key


def span(numbers):
    low, high = f"{min(numbers):.3g}", f"{max(numbers):.3g}"
    return low if low == high else f"{low} to {high}"


def mpi_name(operation):
    if operation.startswith(("read", "write")):
        return "MPI_File_" + operation
    return "MPI_" + operation.replace("_lossy", " (lossy)").capitalize()


def label(r):
    return " ".join([r["bound"], r["codec"]] + ([r["mode"]] if r["mode"] in ("auto", "measured") else []))


def rates(pooled):
    """Of like results of one or more files: median, slowest and fastest in MB/s."""
    seconds = [s for r in pooled for s in r["seconds"]]
    size = pooled[0]["bytes"] / 1e6
    return size / statistics.median(seconds), size / max(seconds), size / min(seconds)


def throughput(results):
    """Bytes a second against ranks, as CEAZ's Figure 15: a row for each operation, a column for each bound."""
    rows, pooled = [], 0
    for n, (group, of) in enumerate(results.groups().items()):
        ranks = sorted({r["ranks"] for r in of})
        ends = [rates([r])[i] for r in of for i in (1, 2)]
        commands = [f"set logscale y; set yrange [{min(ends) / 1.3:.6g}:{max(ends) * 1.3:.6g}]",
                    f"set xrange [-0.5:{len(ranks) - 0.5}]; set xlabel 'ranks'; set ylabel 'MB/s' offset 1",
                    "set xtics nomirror out (" + ", ".join(f"'{r}' {i}" for i, r in enumerate(ranks)) + ")"]
        row = []
        for k, bound in enumerate(results.bounds or [None]):
            lines = {}
            for r in of:
                if r["bound"] in (None, bound):
                    lines.setdefault((r["codec"], r["device"], r["mode"]) if r["bound"] else None, {}).setdefault(r["ranks"], []).append(r)
            plots, blocks = [], []
            for i, (line, at) in enumerate(lines.items()):
                pooled += sum(len(same) > 1 for same in at.values()) if line or k == 0 else 0
                shift = (i - (len(lines) - 1) / 2) * min(0.08, 0.6 / len(lines))
                blocks.append(block(f"t{n}_{k}_{i}", [[ranks.index(r) + shift, *rates(same)] for r, same in sorted(at.items())]))
                colour = results.coders[line[:2]][1] if line else PLAIN
                dash, marks = MODES[line[2]] if line else (3, [1])
                plots += [f"$t{n}_{k}_{i} with lines lw 1.5 dt {dash} lc rgb '{colour}' notitle",
                          f"$t{n}_{k}_{i} with yerrorbars pt {marks[0]} ps 0.8 lc rgb '{colour}' notitle"]
            row.append(Panel(f"{results.title(group)}: {bound or 'plain'}",
                             plots if bound is None or any(lines) else [], blocks + commands))
        rows.append(row)
    said = [f"{BARS}; a row of panels has one scale"]
    if pooled:
        said.append(f"{count(pooled, 'point')} of several files: their repetitions together")
    return sheet("throughput", "Effective throughput: uncompressed bytes a second, against the number of ranks",
                 results.what() + ["; ".join(said)], rows,
                 [("plain", f"with linespoints lw 2 dt 3 pt 1 lc rgb '{PLAIN}'")] + results.key(False))


def speedup(results):
    """Speed-up against ratio: on the line y = x all that compression saves on the link is won."""
    top = max((r["ratio"] for r in results.all), default=1) * 1.5
    panels, raw = [], 0
    for n, (group, of) in enumerate(results.groups().items()):
        plots = ["x with lines lc rgb '#888888' dt 2 notitle", "1 with lines lc rgb '#bbbbbb' notitle"]
        blocks, series = [], {}
        for r in of:
            if r["bound"]:
                series.setdefault((r["codec"], r["device"], r["bound"], r["mode"]), []).append(r)
                raw += not r["compressed"]
        for i, ((codec, device, bound, mode), points) in enumerate(series.items()):
            rows = []
            for r in points:
                plain = r["speedup"] * r["median"]
                rows.append([r["ratio"], r["speedup"], plain / max(r["seconds"]), plain / min(r["seconds"]), r["ranks"]])
            name = f"s{n}_{i}"
            mark = MODES[mode][1][results.bounds.index(bound) % len(FILLED)]
            colour = results.coders[codec, device][1]
            blocks.append(block(name, rows))
            plots += [f"${name} with yerrorbars pt {mark} ps 1.1 lc rgb '{colour}' notitle",
                      f"${name} using 1:2:5 with labels left offset 0.7,0 font ',7' textcolor rgb '#555555' notitle"]
        panels.append(Panel(results.title(group), plots if series else [], blocks + [
            f"set logscale xy; set xrange [0.8:{top}]; set yrange [*:*]; set xlabel 'ratio'; set ylabel 'speed-up'",
            f"set xtics nomirror out ({RATIOS}); set ytics nomirror out (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, {RATIOS})"]))
    columns = min(3, len(panels))
    rows = [panels[i:i + columns] for i in range(0, len(panels), columns)]
    said = f"{BARS}, over plain's median; numbers: ranks"
    if raw:
        said += f"; {count(raw, 'result')} at ratio 1: sent as they are"
    return sheet("speedup", "Speed-up over plain MPI against the compression ratio", results.what() + [said], rows,
                 [("speed-up = ratio", "with lines lc rgb '#888888' dt 2"), ("as fast as plain", "with lines lc rgb '#bbbbbb'")]
                 + results.key(True), size=(460, 380))


def breakdown(results):
    """Where the busiest rank's time goes, as parts of the plain time: a row for each operation, a column for each number of ranks."""
    all_ranks = sorted({r["ranks"] for r in results.all})
    rows, without = [], []
    most = max((sum(r["ranks"] == n for r in of) for of in results.groups().values() for n in all_ranks), default=1)
    longest = max((len(label(r)) for r in results.all if r["bound"]), default=0)
    for n, (group, of) in enumerate(results.groups().items()):
        row = []
        for ranks in all_ranks:
            here = [r for r in of if r["ranks"] == ranks]
            plain = [s for r in here if not r["bound"] for s in r["seconds"]]
            bars = [r for r in here if r["bound"]]
            if not plain:
                without += bars
                bars = []
            table, tics = [], []
            for i, r in enumerate(bars):
                whole, heights = statistics.mean(plain) / 100, []
                for part, _, _ in PARTS:
                    heights.append((heights[-1] if heights else 0) + r["busiest"][part] / whole)
                table.append([i, *heights, statistics.mean(r["seconds"]) / whole, min(r["seconds"]) / whole, max(r["seconds"]) / whole])
                tics.append(f"{quoted(label(r))} {i}")
            # The highest first: each covers what is not its own.
            plots = [f"$b{n}_{ranks} using 1:{i + 2} with boxes fs solid noborder lc rgb '{PARTS[i][2]}' notitle"
                     for i in reversed(range(len(PARTS)))]
            plots += [f"$b{n}_{ranks} using 1:7:(0):($8-$7) with vectors heads size screen 0.003,90 lc rgb '{PLAIN}' notitle",
                      "100 with lines lc rgb '#888888' dt 2 notitle"]
            row.append(Panel(f"{results.title(group)}, {count(ranks, 'rank')}", plots if bars else [], [
                block(f"b{n}_{ranks}", table), f"unset xlabel; set ylabel '% of plain'; set yrange [0:*]; set boxwidth 0.75; "
                f"set xrange [-0.7:{len(bars) - 0.3}]; set xtics nomirror out rotate by 90 right font ',8' ({', '.join(tics)})"]))
        rows.append(row)
    said = BARS
    if without:
        said += f"; not drawn, since nothing plain was measured beside them: {several(r['operation'] + ' ' + label(r) for r in without)}"
    return sheet("breakdown", "Time of the busiest rank, as part of the time without compression", results.what() + [said], rows,
                 [("plain", "with lines lc rgb '#888888' dt 2")] +
                 [(title, f"with boxes fs solid noborder lc rgb '{colour}'") for _, title, colour in PARTS],
                 size=(max(360, 26 * most + 100), 250 + int(6.5 * longest)), bottom=24 + int(6.5 * longest))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", help="folder for the gnuplot scripts")
    parser.add_argument("json", nargs="+")
    arguments = parser.parse_args()
    results = Results(arguments.json)
    for plot in (throughput, speedup, breakdown):
        with open(os.path.join(arguments.out, plot.__name__ + ".gp"), "w", encoding="utf-8") as f:
            f.write(plot(results))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""flare_plots.py [-o FOLDER] [MODEL]: pictures of FLARE's Figures 10a, 10b and 11 beside what zmpi-flare-model prints (docs/flare.md).

MODEL is the program, build/bin/zmpi-flare-model. The paper prints no numbers under its bars: what its text says of them stands
beside ours, its 1.16 s and 0.42 s as lines.
"""

import argparse
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from pictures import COLOURS, PLAIN, Panel, block, quoted, sheet  # noqa: E402

PARTS = ["normalization", "prediction", "network", "codec"]


def tables(text):
    """Each table's rows of cells, by the first words of the paragraph before it."""
    found, before, rows = {}, "", None
    for line in text.splitlines() + [""]:
        if line.startswith("|"):
            rows = [] if rows is None else rows
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        else:
            if rows:
                found[before] = rows[2:]
            rows = None
            before = line if line and not before.startswith(line) else before if line else before
    return found


def table(found, begin):
    for name, rows in found.items():
        if begin in name:
            return rows
    raise SystemExit(f"flare_plots.py: zmpi-flare-model prints no table '{begin}'")


def number(cell):
    return float(cell.split()[0])


def bars(title, axis, rows, column, paper, colour, says):
    """Seconds by a number of arrays or cores, with the paper's one as a line."""
    name = f"{axis}{column}"
    data = block(name, [(row[0], number(row[column])) for row in rows])
    return Panel(f"{title}: {says}",
                 [f"${name} using 1:2 with boxes lc rgb {quoted(colour)}", f"{paper} with lines lw 2 dt 2 lc rgb {quoted(PLAIN)}"],
                 [data, "set style fill solid 0.8 noborder; set boxwidth 0.6", f"set xlabel {quoted(axis)}; set ylabel 's'",
                  f"set yrange [0:*]; set xrange [0.4:{len(rows)}.6]; set xtics 1 norotate"])


def traffic(rows):
    """Shares of what is saved, stacked: the paper's, and those of each baseline."""
    data = block("traffic", [[i, *(number(c) for c in row[2:6])] for i, row in enumerate(rows)])
    labels = ["paper", "plain", "rereads", "bytes", "sweep", "all"]
    tics = ", ".join(f"{quoted(f'{name} ({row[1]}x)')} {i}" for i, (name, row) in enumerate(zip(labels, rows)))
    plots = []
    for k in reversed(range(4)):
        total = "+".join(f"${c + 2}" for c in range(k + 1))
        plots.append(f"$traffic using 1:({total}) with boxes lc rgb {quoted(COLOURS[k])}")
    return Panel("Fig. 11: bytes off the chip that are saved", plots,
                 [data, "set style fill solid 0.8 noborder; set boxwidth 0.6", "unset xlabel; set ylabel '%'; set yrange [0:105]; set xrange [-0.6:5.6]",
                  f"set xtics ({tics}) rotate by -30"])


def script(text):
    found = tables(text)
    a, b = table(found, "as fitted"), table(found, "Fig. 10b")
    nyx = ["Times in seconds of Nyx' shape, 1 GHz. Dashed: the paper's 1.16 s and 0.42 s, to which two parameters were fitted at M = 4.",
           "Fig. 11: the first bar is the paper's; the baselines of the others are in docs/flare.md."]
    rows = [[bars("Fig. 10a, compressed", "M", a, 1, 1.16, COLOURS[4], "flat from M = 4 in the paper"),
             bars("Fig. 10a, decompressed", "M", a, 2, 0.42, COLOURS[4], "falls up to M = 8 there"), traffic(table(found, "FLARE reads the original"))],
            [bars("Fig. 10b, compressed", "N", b, 1, 1.16, COLOURS[5], "no gain from N = 3 on there"),
             bars("Fig. 10b, decompressed", "N", b, 2, 0.42, COLOURS[5], "no gain from N = 3 on there"),
             rtl(table(found, "Our RTL"))]]
    key = [(f"saved: {name}", f"with boxes lc rgb {quoted(COLOURS[i])}") for i, name in enumerate(PARTS)]
    return sheet("flare", "FLARE's figures by zmpi-flare-model", nyx, rows, key, size=(400, 310), bottom=70)


def rtl(rows):
    data = block("rtl", [(row[0], number(row[1]), number(row[2])) for row in rows])
    return Panel("Our RTL: predicting (o), and coding (x)",
                 [f"$rtl using 1:2 with linespoints pt 7 lc rgb {quoted(COLOURS[6])}", f"$rtl using 1:3 with linespoints pt 2 lc rgb {quoted(COLOURS[7])}"],
                 [data, "set xlabel 'M'; set ylabel 'cycles a point'; set yrange [0:*]; set xrange [0.5:8.5]; set xtics 1 norotate"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-o", metavar="FOLDER", default=".", help="where flare.png goes (.)")
    parser.add_argument("model", nargs="?", default="build/bin/zmpi-flare-model")
    given = parser.parse_args()
    text = subprocess.run([given.model], check=True, capture_output=True, text=True).stdout
    pathlib.Path(given.o).mkdir(parents=True, exist_ok=True)
    subprocess.run(["gnuplot"], check=True, input=script(text), text=True, cwd=given.o)


if __name__ == "__main__":
    main()

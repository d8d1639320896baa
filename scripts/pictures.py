"""Sheets of panels for gnuplot: what perf_plots.py and bench/bench_tables.py share.

A sheet has a title, lines that say what was measured where and when, rows of panels, and one key for all of them.
"""

import textwrap

COLOURS = ["#1b6ca8", "#d1603d", "#7a9e3f", "#8e6bb0", "#c9a227", "#4aa3a2", "#8c564b", "#b0447f"]
PLAIN = "#333333"
FILLED, OPEN = [7, 5, 9, 13, 11, 15], [6, 4, 8, 12, 10, 14]  # gnuplot's marks, in pairs
NOTHING = "set autoscale; unset logscale; unset border; unset tics; unset grid; unset xlabel; unset ylabel"
LINE, LETTER = 19, 6.4  # pixels of a line of text, and of a letter in it


def quoted(text):
    return "'" + str(text).replace("'", "''") + "'"


def count(n, noun):
    return f"{n} {noun}" + ("s" if n != 1 else "")


def several(values):
    """What differs, each once, as text."""
    return "; ".join(dict.fromkeys(str(v) for v in values))


def pale(colour):
    """A colour half way to white."""
    return "#" + "".join(f"{(int(colour[i:i + 2], 16) + 255) // 2:02x}" for i in (1, 3, 5))


def block(name, rows):
    """A data block of gnuplot."""
    return "\n".join([f"${name} << END"] + [" ".join(str(x) for x in row) for row in rows] + ["END"])


class Panel:
    """title; commands before the plot (also data blocks); what is plotted. Nothing is plotted: a word says why."""

    def __init__(self, title, plots, commands=(), missing="not measured"):
        self.title, self.plots, self.commands, self.missing = title, plots, list(commands), missing


def head(title, caption, width):
    """Lines over the panels: what the picture shows, then all that it depends on."""
    lines = [(title, 12)]
    for paragraph in caption:
        lines += [(line, 9) for line in textwrap.wrap(paragraph, int((width - 40) / LETTER))]
    return lines


def rows_of_key(names, width):
    """How the key is laid out: columns and rows."""
    wide = max(len(n) for n in names) * LETTER + 60
    columns = max(1, min(len(names), int((width - 40) / wide)))
    return columns, -(-len(names) // columns)


def sheet(name, title, caption, rows, key, size=(360, 310), bottom=58, right=18):
    """The script for NAME.png. rows: lists of panels; key: (name, how it is drawn); bottom, right: pixels for what is beside axes."""
    columns = max(len(row) for row in rows)
    width = max(700, columns * size[0] + 20)
    lines = head(title, caption, width)
    axes = "set border 3; set xtics nomirror out; set ytics nomirror out; set grid ytics lc rgb '#dddddd'"
    key_columns, key_rows = rows_of_key([n for n, _ in key], width) if key else (1, 0)
    top, below = LINE * len(lines) + 24, (LINE + 2) * key_rows + 16
    height = top + len(rows) * size[1] + below
    out = [f"set terminal pngcairo size {width},{height} font 'DejaVu Sans,9' noenhanced", f"set output '{name}.png'",
           "set multiplot", "unset key"]
    for i, (line, points) in enumerate(lines):
        out.append(f"set label {i + 1} {quoted(line)} at screen {20 / width:.4f},{1 - (18 + LINE * i) / height:.4f} "
                   f"font 'DejaVu Sans,{points}'")
    # The labels belong to the first plot alone: this one, which shows nothing else.
    out += [area(0.1, 0.9, 0.1, 0.9), NOTHING, "plot [0:1][0:1] NaN notitle"]
    out += [f"unset label {i + 1}" for i in range(len(lines))]
    for y, row in enumerate(rows):
        for x, panel in enumerate(row):
            left, high = x * size[0] + 76, height - top - y * size[1] - 26
            out.append(area(left / width, (left + size[0] - 76 - right) / width, (high - size[1] + 26 + bottom) / height, high / height))
            out += [f"set title {quoted(panel.title)}"]
            if panel.plots:
                out += ["set autoscale; unset logscale; " + axes, *panel.commands, "plot " + ", ".join(panel.plots)]
            else:
                out += [NOTHING,
                        f"set label 1 {quoted(panel.missing)} at graph 0.5,0.5 center textcolor rgb '#888888'",
                        "plot [0:1][0:1] NaN notitle", "unset label 1"]
    if key:
        out += ["unset title; " + NOTHING,
                area(20 / width, 1 - 20 / width, 4 / height, below / height),
                f"set key center center horizontal maxcols {key_columns} Left reverse samplen 3",
                "plot [0:1][0:1] " + ", ".join(f"NaN {how} title {quoted(n)}" for n, how in key)]
    return "\n".join(out + ["unset multiplot"]) + "\n"


def area(left, right, low, high):
    return (f"set lmargin at screen {left:.4f}; set rmargin at screen {right:.4f}; "
            f"set bmargin at screen {low:.4f}; set tmargin at screen {high:.4f}")

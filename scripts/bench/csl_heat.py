#!/usr/bin/env python3
"""csl_heat.py COUNTERS [FIELD...] > heat.svg: where wavelets and cycles go, one picture of the PEs for each field.

COUNTERS is what zmpi-csl --counters=FILE (csl_write_counters) writes: one JSON object per PE and line. Without FIELD:
cycles, wait_cycles, wavelets_hops and wavelets_stall."""
import json
import sys

DEFAULT = ["cycles", "wait_cycles", "wavelets_hops", "wavelets_stall"]
WIDTH = 360  # pixels of one picture


def color(share):
    """White to red to black, as paper gets hot."""
    if share < 0.5:
        level = round(255 * (1 - 2 * share))
        return f"#ff{level:02x}{level:02x}"
    return f"#{round(255 * (2 - 2 * share)):02x}0000"


def picture(pes, field, left):
    columns = max(pe["x"] for pe in pes) + 1
    rows = max(pe["y"] for pe in pes) + 1
    size = WIDTH / max(columns, rows)
    most = max(pe[field] for pe in pes)
    yield f'<g transform="translate({left},24)">'
    yield f'<text y="-8">{field}: {min(pe[field] for pe in pes)} to {most}</text>'
    for pe in pes:
        share = pe[field] / most if most else 0
        yield (f'<rect x="{pe["x"] * size:.2f}" y="{pe["y"] * size:.2f}" width="{size:.2f}" height="{size:.2f}" '
               f'fill="{color(share)}" stroke="#ccc" stroke-width="0.5">'
               f'<title>PE({pe["x"]},{pe["y"]}): {pe[field]}</title></rect>')
    yield "</g>"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            pes = [json.loads(line) for line in file]
    except (OSError, ValueError) as error:
        sys.exit(f"csl_heat.py: {sys.argv[1]}: {error}")
    fields = sys.argv[2:] or DEFAULT
    if not pes or any(field not in pe for pe in pes for field in fields):
        sys.exit(f"csl_heat.py: {sys.argv[1]}: no counters with {', '.join(fields)}")
    columns, rows = (1 + max(pe[axis] for pe in pes) for axis in "xy")
    height = WIDTH * rows // max(columns, rows) + 40
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{len(fields) * (WIDTH + 20)}" height="{height}" '
          'font-family="sans-serif" font-size="13">')
    for i, field in enumerate(fields):
        print("\n".join(picture(pes, field, 10 + i * (WIDTH + 20))))
    print("</svg>")


if __name__ == "__main__":
    main()

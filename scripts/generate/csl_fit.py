#!/usr/bin/env python3
"""csl_fit.py BENCH_WSE: the column "fitted" of csl/sim/costs.h, from what CereSZ's sub-stages take (its tables 1 to 3).

`bench_wse counts` says how many operations of each class csl/kernels/stages.csl executes for a block in each sub-stage. Three
factors are fitted to the seven published figures: the square sum of the relative errors is least, and no operation is cheaper
than its estimate. Exit status 1 if costs.h has other numbers.
"""
import itertools
import pathlib
import re
import subprocess
import sys

PUBLISHED = {"multiply": 5074, "add": 1040, "lorenzo": 975, "sign": 1044, "max": 1037, "get_length": 1380, "shuffle": 1976}
# What is slower by one factor: whatever goes on elsewhere; shifts of more than a word; multiplication of floats.
GROUPS = [("JUMP", "BRANCH", "CALL", "RETURN"), ("SHIFT32", "SHIFT64"), ("FMUL",)]
# Not in the sub-stages, and not cheaper than a multiplication.
LIKE_FMUL = ("FDIV", "MATH")


def table(path):
    """Estimated and fitted cycles of each class."""
    rows = re.findall(r"X\((\w+), (\d+), (\d+), \d+\)", path.read_text())
    return {name: int(a) for name, a, _ in rows}, {name: int(b) for name, _, b in rows}


def counts(bench):
    """Operations by sub-stage and class."""
    lines = subprocess.run([bench, "counts"], check=True, capture_output=True, text=True).stdout.split("\n")
    stages = lines[0].split()[1:]
    of = {stage: {} for stage in stages}
    for line in lines[1:]:
        name, *numbers = line.split() or [""]
        for stage, number in zip(stages, numbers):
            of[stage][name] = int(number)
    return of


def cycles(count, costs):
    return sum(n * costs[name] for name, n in count.items())


def solve(a, b):
    """Gauss and Jordan; None if it is singular."""
    m = [row + [y] for row, y in zip(a, b)]
    for i in range(len(m)):
        p = max(range(i, len(m)), key=lambda r: abs(m[r][i]))
        if abs(m[p][i]) < 1e-12:
            return None
        m[i], m[p] = m[p], m[i]
        for r in range(len(m)):
            if r != i:
                m[r] = [x - m[r][i] / m[i][i] * y for x, y in zip(m[r], m[i])]
    return [m[i][-1] / m[i][i] for i in range(len(m))]


def factors(of, estimated, published):
    """What is added to each factor of 1: not negative, so all subsets of the factors are tried."""
    rows = [[sum(of[s].get(k, 0) * estimated[k] for k in group) / y for group in GROUPS] for s, y in published.items()]
    rest = [1 - cycles(of[s], estimated) / y for s, y in published.items()]
    best = None
    for size in range(len(GROUPS) + 1):
        for chosen in itertools.combinations(range(len(GROUPS)), size):
            part = solve([[sum(r[i] * r[j] for r in rows) for j in chosen] for i in chosen],
                         [sum(r[i] * y for r, y in zip(rows, rest)) for i in chosen])
            if part is None or min(part, default=0) < 0:
                continue
            whole = [part[chosen.index(i)] if i in chosen else 0 for i in range(len(GROUPS))]
            error = sum((sum(x * p for x, p in zip(r, whole)) - y) ** 2 for r, y in zip(rows, rest))
            if best is None or error < best[0]:
                best = error, whole
    return best[1]


def fit(of, estimated, published):
    """Whole cycles of each class."""
    fitted = dict(estimated)
    for group, more in zip(GROUPS, factors(of, estimated, published)):
        for name in group:
            fitted[name] = round(estimated[name] * (1 + more))
    for name in LIKE_FMUL:
        fitted[name] = max(fitted[name], fitted["FMUL"])
    return fitted


def main():
    path = pathlib.Path(__file__).resolve().parents[2] / "csl/sim/costs.h"
    estimated, present = table(path)
    of = counts(sys.argv[1])
    fitted = fit(of, estimated, PUBLISHED)
    square = 0
    print("sub-stage    published estimated  error fitted  error  fitted without it  error")
    for stage, published in PUBLISHED.items():
        others = {name: y for name, y in PUBLISHED.items() if name != stage}
        a, b, c = (cycles(of[stage], costs) for costs in (estimated, fitted, fit(of, estimated, others)))
        square += (b / published - 1) ** 2
        print(f"{stage:12}{published:10}{a:10}{100 * (a / published - 1):+6.0f} %{b:7}{100 * (b / published - 1):+6.0f} %"
              f"{c:19}{100 * (c / published - 1):+6.0f} %")
    print(f"{len(GROUPS)} factors for {len(PUBLISHED)} figures, root of the mean square error "
          f"{100 * (square / len(PUBLISHED)) ** 0.5:.1f} %")
    other = {name: value for name, value in fitted.items() if value != present[name]}
    print("fitted:", ", ".join(f"{k} {v}" for k, v in fitted.items() if v != estimated[k]))
    if other:
        sys.exit("csl/sim/costs.h has other numbers: " + ", ".join(f"{k} {present[k]}" for k in other))


if __name__ == "__main__":
    main()

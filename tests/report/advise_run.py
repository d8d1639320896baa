#!/usr/bin/env python3
"""advise_run.py: a program runs dry, zmpi advise makes rules of its report, and by these it keeps what was asked, with the ratio expected."""
import array
import glob
import json
import math
import os
import re
import shutil
import subprocess
import sys

import dry_run
from dry_run import DATA, FIELDS, ZMPI, fail, run

NEVER = ["--max-error", "1e-30"]  # lossless, or plain where that gains nothing


def floats(data):
    values = array.array("f")
    values.frombytes(data)
    return values


def errors(path, field):
    """Decibels and the largest error of a file that the program wrote of a field."""
    back = floats(subprocess.run([ZMPI, "cat", path], check=True, stdout=subprocess.PIPE).stdout)
    with open(field, "rb") as f:
        original = floats(f.read(4 * len(back)))
    squares = sum((a - b) ** 2 for a, b in zip(original, back)) / len(back)
    decibels = 20 * math.log10((max(original) - min(original)) / math.sqrt(squares)) if squares else math.inf
    return decibels, max(abs(a - b) for a, b in zip(original, back))


def expected(rules):
    """Of each rule its ratio and bound."""
    found = {}
    for part in re.split(r"^\[", rules, flags=re.M)[1:]:
        ratio, bound = re.search(r"^; expected ratio (\S+)$", part, re.M), re.search(r"^error_bound = (\S+)$", part, re.M)
        found[part.split("]")[0]] = float(ratio[1]), bound[1]
    return found


def advise(asked):
    return subprocess.run([ZMPI, "advise", *asked, "dry.json"], check=True, stdout=subprocess.PIPE, text=True).stdout


def by_rules(name, program, asked):
    """One run by the advice of what is asked: --psnr or --max-error, and a number."""
    rules = advise(asked)
    with open("rules.conf", "w", encoding="utf-8") as out:
        out.write(rules)
    advice = expected(rules)
    paths = [f"{name}_all.z", f"{name}_at.z"]
    plain = rules.count("; left plain: the ratio would be 1.0")
    if sorted(advice) != paths and not (len(advice) + plain == 2 and asked is NEVER):
        fail(asked, "rules for", sorted(advice), rules)
    for path in paths:
        os.path.exists(path) and os.unlink(path)
    os.environ["ZMPI_CONFIG"] = os.path.abspath("rules.conf")
    run("--report", "real.json", programs=[program])
    del os.environ["ZMPI_CONFIG"]
    with open("real.json", encoding="utf-8") as text:
        report = json.load(text)
    rows = {row["path"]: row for row in report["files"]}
    if rows and min(row[f"seconds_{part}"] for row in rows.values() for part in ("compress", "wait", "write")) <= 0 or \
            (sum(report["timeline"]["bytes_written_plain"]) > 0) != (len(advice) < 2) or \
            asked[0] == "--psnr" and min((row["seconds_range"] for row in rows.values()), default=1) <= 0:
        fail("seconds", rows)
    for path, (ratio, bound) in advice.items():
        decibels, worst = errors(path, program[4])
        print(path, asked, bound, "expected", ratio, "real", rows[path]["ratio"], f"{decibels:.1f} dB, largest error {worst:.4g}")
        if asked[0] == "--psnr" and decibels < float(asked[1]) or asked[0] == "--max-error" and worst > float(asked[1]):
            fail(path, asked, "not kept")
        if not 0.9 < ratio / rows[path]["ratio"] < 1.1:
            fail(path, asked, "expected ratio", ratio, "real", rows[path]["ratio"])
    return {bound for _, bound in advice.values()}


def main():
    fields = [f for f in FIELDS[:2] if os.path.exists(os.path.join(DATA, f[0]))]
    if not fields or not shutil.which("mpicc.openmpi"):
        print("no fields, or no Open MPI")
        return 77
    if "without cJSON" in subprocess.run([ZMPI, "advise", "no.json"], stderr=subprocess.PIPE, text=True, check=False).stderr:
        print("no libcjson")
        return 77
    dry_run.build()
    for field in fields:
        name, path = field[0].split("_")[0], os.path.join(DATA, field[0])
        program = (name, *map(str, field[1:]), path)
        for _ in range(9):  # a dry run takes 2 % of the time, which is little on a busy machine
            for made in glob.glob("*.z"):
                os.unlink(made)
            run("--dry-run", "--report", "dry.json", programs=[program])
            if not any("too few samples to decide" in advise(asked) for asked in (["--psnr", "60"], ["--psnr", "100"], NEVER)):
                break
        with open(f"{name}_all.z", "rb") as f:
            data = floats(f.read())
        spread = max(data) - min(data)
        bounds = [by_rules(name, program, asked) for asked in (["--psnr", "60"], ["--psnr", "100"], ["--max-error", f"{2e-3 * spread:.6g}"],
                                                               NEVER)]
        if bounds[:3] != [{"rel=0.001"}, {"rel=1e-05"}, {"rel=0.001"}] or bounds[3] - {"lossless"}:
            fail(name, "bounds", bounds)
    return 0


if __name__ == "__main__":
    sys.exit(dry_run.in_a_folder(main))

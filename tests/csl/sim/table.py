#!/usr/bin/env python3
"""table.py TABLE CASES...: every line of the language's table has conformance cases that exist.

A table whose last column is "cases" names them there. A line that says "refused" needs one that is
refused, others need one that runs or, where they are about errors, fails. Each builtin of the tables
is in some case's program.
"""
import re
import sys

OTHER_TESTS = {"csl.command", "csl.api"}  # what a case cannot give: options of the command, the host's calls


def read_cases(paths):
    """Names of the cases: whether they must run; and all their text."""
    runs, text = {}, ""
    for path in paths:
        for case in re.split(r"^=== ", open(path, encoding="utf-8").read(), flags=re.M)[1:]:
            name, body = case.split("\n", 1)
            if name in runs:
                sys.exit(f"{path}: two cases have the name '{name}'")
            directives = re.findall(r"^--- (.*)$", body, flags=re.M)
            runs[name] = all(d == "layout" or d.startswith("only ") for d in directives)
            text += body
    return runs, text


def rows(path):
    """Number, cells and header of the lines of tables whose last column is "cases"."""
    header = None
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if not line.startswith("|"):
            header = None
            continue
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if header is None:
            header = cells
        elif header[-1] == "cases" and not re.fullmatch(r"[-| ]+", line.strip()):
            yield number, cells, header


def main():
    runs, text = read_cases(sys.argv[2:])
    errors, count = [], 0
    for number, cells, header in rows(sys.argv[1]):
        count += 1
        named = re.findall(r"`([^`]+)`", cells[-1])
        missing = [n for n in named if n not in runs and n not in OTHER_TESTS]
        errors += [f"{number}: there is no case '{n}'" for n in missing]
        known = [runs.get(n, True) for n in named]
        wants_refusal = "message" in header or cells[1].endswith("refused")
        if not any(k != wants_refusal for k in known):
            errors.append(f"{number}: no case that {'is refused' if wants_refusal else 'runs'}")
        for builtin in re.findall(r"@\w+", " ".join(cells[:-1])):
            if not re.search(builtin + r"\b", text):
                errors.append(f"{number}: no case has {builtin}")
    if count == 0:
        errors.append("no table has cases")
    for error in errors:
        print(f"{sys.argv[1]}:{error}", file=sys.stderr)
    print(f"{count} lines, {len(runs)} cases, {len(errors)} errors")
    sys.exit(bool(errors))


main()

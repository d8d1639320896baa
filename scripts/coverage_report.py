#!/usr/bin/env python3
"""coverage_report.py JSON [NAME]: what gcovr counted, by library; with NAME, each line of files whose path has NAME in it
that nothing ran (L), or that has branches that nothing took (B: how many that are no exceptions, all, of how many).

Branches are counted again without those of exceptions, taken or not. An operand of a condition is one, by kind, if it asks

memory   whether the line, or one of the two before it, got the memory that it asked for
failed   whether a call failed, there or before: of the system (a file that is open cannot be read, written, locked, its
         size not be had), of MPI, of HDF5, of libfabric, or a function that passes such an error on; whether there is the
         descriptor or handle that such a call gave; or which of several errors is the first (rc ? rc : told)

A line whose branches are not two for each operand is no exception. But in a header, whose functions the compiler copies into
their callers before it counts, a line with a multiple of them is one that was copied: a branch counts once there, as taken if
one of its copies was.
"""
import collections
import json
import re
import sys

GETS = re.compile(r"\b(malloc|calloc|realloc|aligned_alloc|strn?dup|asprintf|\w*_alloc|\w*_take|\w*reserve\w*)\(")
GOT = re.compile(r"^!?\*?[\w>.-]+( [!=]= NULL)?$|\(")
ERROR = re.compile(r"^!?\*?(\w+(->|\.))*(rc|status|error|failed|told|worst|wrong|bad|good|ok)( [!=]= (0|ZMPI_OK|MPI_SUCCESS))?$|"
                   r"\b(fd|file|list|type|space|access|member|native|opened|copy|again) (>=|<) 0$|^(n|got|done) <=? 0$|errno [!=]= E")
CALL = re.compile(r"\b(P?MPI_\w+|H5[A-Z]\w+|fi_\w+|fstat|statvfs|close|fcntl|fsync|fdatasync|getcwd|getrlimit|dladdr|realpath|"
                  r"zfd_\w+|zsession_lock|nic_random)\(|\b(rc|error|status) = \w+\(")
CONDITION = re.compile(r"\b(if|for|while) \(|\breturn .* (<|>|<=|>=|==|!=|&&|\|\||\?) ")


def operands(line):
    """Of the conditions on a line, in order; None in place of what is no condition."""
    parts = re.split(r"(&&|\|\||\?)", re.sub(r'"[^"]*"', '""', line))
    found = []
    for i in range(0, len(parts), 2):
        behind = parts[i + 1] if i + 1 < len(parts) else ""
        before = parts[i - 1] if i else ""
        text = parts[i].rsplit(" : ", 1)[-1] if before == "?" else parts[i]
        is_last = not behind and (before == "?" or not text.strip())
        if is_last or not text.strip():
            continue
        text = re.sub(r"^[\s({]*(\} else )?(if|while|return|for|\w+ =)?[\s(]*", "", text)
        text = re.sub(r"[\s){;]*$", "", text) if text.count("(") < text.count(")") else text.strip(" {;")
        again = behind == "?" and parts[i + 2].strip().startswith(text + " :")
        found.append((text, again))
    return found


def kinds_of(source, number, count):
    """Of each of a line's branches: "" or the exception's kind."""
    asked = operands(source[number - 1])
    if count != 2 * len(asked):
        return [""] * count
    gets = any(GETS.search(text) for text in source[max(0, number - 3):number])
    kinds = []
    for text, again in asked:
        kind = "failed" if again or ERROR.search(text) or CALL.search(text) else ""
        kinds += 2 * ["memory" if not kind and gets and GOT.search(text) else kind]
    return kinds


def counted_once(name, source, line):
    """How often each of a line's branches was taken, in all copies together."""
    counts = [b["count"] for b in line.get("branches", [])]
    text = source[line["line_number"] - 1]
    each = 2 * len(operands(text)) if name.endswith(".h") and CONDITION.search(text) else 0
    return [sum(counts[i::each]) for i in range(each)] if each and len(counts) % each == 0 else counts


def share(taken, of):
    return f"{100 * taken / max(of, 1):5.1f} % of {of:6,}"


def show(name, lines, source):
    print(name)
    for line in lines:
        number, branches = line["line_number"], counted_once(name, source, line)
        missed = branches.count(0)
        if line["count"] == 0:
            print(f"  L       {number:4} {source[number - 1].strip()}")
        elif missed:
            kinds = kinds_of(source, number, len(branches))
            plain = sum(b == 0 and not kind for b, kind in zip(branches, kinds))
            print(f"  B {plain:2}/{missed:2}/{len(branches):<2} {number:4} {source[number - 1].strip()}")


def main():
    with open(sys.argv[1], encoding="utf-8") as text:
        files = json.load(text)["files"]
    sums = collections.defaultdict(collections.Counter)
    least = []
    for f in files:
        name = f["file"]
        with open(name, encoding="utf-8") as text:
            source = text.read().split("\n")
        lines = [line for line in f["lines"] if not line["gcovr/noncode"]]
        if len(sys.argv) > 2 and sys.argv[2] in name:
            show(name, lines, source)
        ran = sum(line["count"] > 0 for line in lines)
        least.append((ran / max(len(lines), 1), len(lines), name))
        for line in lines:
            branches = line.get("branches", [])
            taken = sum(b["count"] > 0 for b in branches)
            once = counted_once(name, source, line)
            for s in (sums[name.split("/")[0]], sums["all"]):
                s.update(lines=1, ran=line["count"] > 0, branches=len(branches), taken=taken)
                for count, kind in zip(once, kinds_of(source, line["line_number"], len(once))):
                    s.update({"kind " + kind: 1, "taken " + kind: count > 0})
    if len(sys.argv) > 2:
        return
    print("          lines              branches           without exceptions    of memory            of failed calls")
    for name, s in sorted(sums.items()):
        print(f"{name:9} {share(s['ran'], s['lines'])}  {share(s['taken'], s['branches'])}  "
              f"{share(s['taken '], s['kind '])}     {share(s['taken memory'], s['kind memory'])}   "
              f"{share(s['taken failed'], s['kind failed'])}")
    print("least:")
    for part, count, name in sorted(least)[:15]:
        print(f"  {share(100 * part, 100).split(' of')[0]} of {count:4} lines  {name}")


if __name__ == "__main__":
    main()

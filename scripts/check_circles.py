#!/usr/bin/env python3
"""Do source files call each other in a circle? A file may use what stands below it, never what stands above.

    check_circles.py BUILD      by the symbols of the object files there; prints circles; exit status 1 if there are any
"""
import os
import re
import subprocess
import sys

# The front end of the CSL simulator follows the language, in which expressions, statements and builtins contain each other. A circle
# within these folders is allowed.
FRONT_END = ("csl/sim/parse/", "csl/sim/front/", "csl/sim/builtins/")


# Functions that a file defines in place of another library's: open, PMIx_Commit.
OURS = re.compile(r"(zmpi|z[a-z]+|gpu|zd|nic|nicd|wse|csl|tool|elf|bench)_|znext$")


def objects(build):
    """Of each source file one object."""
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    found = {}
    for path, _, names in os.walk(build):
        match = re.search(r"^(.*?)/?CMakeFiles/[^/]+\.dir/?(.*)$", os.path.relpath(path, build))
        for name in names if match else []:
            source = os.path.normpath(os.path.join(match[1], match[2], name[:-2]))
            if name.endswith(".c.o") and not source.startswith("tests/"):
                if os.path.exists(os.path.join(top, source)):
                    found.setdefault(source, os.path.join(path, name))
    return found


def symbols(paths):
    """Of each object, what it defines for others, and what it takes from them."""
    found = {path: (set(), set()) for path in paths}
    lines = subprocess.run(["nm", "-g", "-A", *paths], check=True, text=True, stdout=subprocess.PIPE).stdout
    for match in re.finditer(r"^(.*\.o):\s*[0-9a-f]* (\w) (\S+)$", lines, re.M):
        if OURS.match(match[3]):
            found[match[1]][match[2] in "Uw"].add(match[3])
    return found


def graph(found):
    uses, of = {}, {}
    of_object = symbols(list(found.values()))
    for source, path in sorted(found.items()):
        defined, uses[source] = of_object[path]
        for name in defined:
            of.setdefault(name, source)
    return {source: {of[n]: n for n in sorted(names) if of.get(n, source) != source} for source, names in uses.items()}


def circles(arrows):
    """Strongly connected components of more than one file (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in arrows[node]:
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1 and not all(source.startswith(FRONT_END) for source in stack[at:]):
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in arrows:
        if node not in index:
            visit(node)
    return found


def main():
    arrows = graph(objects(sys.argv[1]))
    found = circles(arrows)
    for circle in found:
        print(f"a circle of {len(circle)} files:")
        for source in circle:
            for other in sorted(set(arrows[source]) & set(circle)):
                print(f"  {source} uses {arrows[source][other]} of {other}")
    print(f"{len(arrows)} files, {len(found)} circles")
    sys.exit(1 if found or not arrows else 0)


main()

#!/usr/bin/env python3
"""Is every MPI_File_* function of the installed MPI either wrapped by libzmpi.so or passed on purpose?

    gen_wrappers_test.py wrappers.txt libzmpi.so MPI_LIBRARY...
"""
import re
import subprocess
import sys


def defined(library):
    """The functions a shared library exports."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, text=True, stdout=subprocess.PIPE)
    return {match[1] for match in re.finditer(r" [TWi] (\w+)", lines.stdout)}


def main():
    table, ours, *libraries = sys.argv[1:]
    with open(table, encoding="utf-8") as lines:
        passed = {words[1] for words in map(str.split, lines) if words[:1] == ["pass"]}
    mpi = set().union(*map(defined, libraries))
    files = {name for name in mpi if name.startswith("MPI_File_")}
    wrapped = defined(ours)

    if not files:
        sys.exit(f"no MPI_File_* function in {libraries}")
    slipping = sorted(files - wrapped - passed)
    foreign = sorted(name for name in wrapped if name.startswith(("MPI_", "PMPI_")) and name not in mpi)
    one_door = sorted(name for name in wrapped if name.startswith("MPI_") and "P" + name not in wrapped)
    for name in slipping:
        print(f"{name}: neither wrapped nor passed: it would touch a container's raw bytes")
    for name in foreign:
        print(f"{name}: wrapped, but the MPI library has no such function")
    for name in one_door:
        print(f"P{name}: not wrapped, as {name} is: Fortran and tools in front of us would go past it")
    print(f"{len(files)} MPI_File_* functions: {len(files & wrapped)} wrapped, {len(files & passed)} passed")
    sys.exit(1 if slipping or foreign or one_door else 0)


if __name__ == "__main__":
    main()

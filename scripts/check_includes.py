#!/usr/bin/env python3
"""Does each folder of codec/, pmpi/ and smartnic/ include only what stands below it, and hold every folder few enough files?

    check_includes.py [TOP]     prints what is wrong; exit status 1 if anything is
"""
import collections
import os
import re
import subprocess
import sys

# From the bottom up. A folder may include itself, folders before it, and the public headers.
CODEC = ["base", "layout", "kernels", "kernels/vector", "kernels/avx2", "kernels/avx512", "kernels/neon", "huffman", "interp",
         "interp/flare", "enhance", "options", "bound", "judge", "stream", "device", "format", "container", "reader", "view", "tool", "tool/bench",
         "tool/program", "tool/convert", "tool/mount", "tool/report", "tool/enhance", "hosts/hdf5"]
PMPI = ["mpi", "dry", "datatype", "hdf5", "file", "staging", "index", "close", "collective", "report", "transfer", "calls", "", "perf"]
SMARTNIC = ["rtl/sim", "model", "common", "plugin", "daemon", "bench"]
PUBLIC = {"zmpi_codec.h", "zmpi_reader.h", "device.h", "zmpi.h"}
MOST = 25  # files of a folder
# Each has a file for each version that wrote it, or for each input that fuzzing found: sets that grow, and that nobody reads by name.
SETS = ("tests/golden", "tests/fuzz/corpus")


def sources(top, folder):
    path = os.path.join(top, folder)
    return sorted(n for n in os.listdir(path) if n.endswith((".c", ".h")))


def includes(path):
    with open(path, encoding="utf-8") as text:
        return re.findall(r'^\s*#\s*include [<"]([^">]+)[">]', text.read(), re.M)


def level(order, folder):
    """The templates of kernels/vector/ and the instruction sets include each other, encoder 3 and its profile FLARE too."""
    together = {"kernels": "kernels/vector", "interp": "interp"}
    return order.index(together.get(os.path.dirname(folder), folder))


def check(top, order, wrong):
    """order: the folders of `top`; what it may include of others is checked by whoever calls."""
    for folder in order:
        for name in sources(top, folder):
            path = os.path.join(top, folder, name)
            for include in includes(path):
                target = os.path.dirname(include)
                if include in PUBLIC or not os.path.exists(os.path.join(top, include)):
                    continue
                if target not in order or level(order, target) > level(order, folder):
                    wrong.append(f"{path} includes {include}, which stands above it")
    known = {os.path.join(top, folder) for folder in order} | {top}
    for path, _, names in os.walk(top):
        if path not in known and any(n.endswith((".c", ".h")) for n in names):
            wrong.append(f"{path}: not in the order of folders (scripts/check_includes.py)")


def project_files():
    """Paths of the files that git knows; without git, of all that are there but builds."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True).stdout
        return [path for path in listed.split("\0") if path]
    except (OSError, subprocess.CalledProcessError):
        found = []
        for path, folders, names in os.walk("."):
            folders[:] = [f for f in folders if not f.startswith((".", "build")) and f != "__pycache__"]
            found += [os.path.join(path, name)[2:] for name in names]
        return found


def check_sizes(wrong):
    for folder, count in collections.Counter(os.path.dirname(path) for path in project_files()).items():
        if count > MOST and not folder.startswith((".", *SETS)):
            wrong.append(f"{folder or 'the top folder'}: {count} files, {MOST} are enough")


def check_no_mpi(top, wrong):
    for path, _, names in os.walk(top):
        for name in names:
            if name.startswith("bench"):
                continue
            if name.endswith((".c", ".h", ".cu")) and "mpi.h" in includes(os.path.join(path, name)):
                wrong.append(f"{path}/{name} includes mpi.h")


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
    wrong = []
    check("codec", CODEC, wrong)
    check("pmpi", PMPI, wrong)
    check("smartnic", SMARTNIC, wrong)
    check_sizes(wrong)
    for top in ("codec", "gpu", "csl", "smartnic"):
        check_no_mpi(top, wrong)
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()

#!/bin/bash
# coverage.sh [CTEST OPTION...]: build with gcov, run the tests, print which share of lines and branches of codec, pmpi and smartnic
# they execute, and the files with the least. build-coverage/coverage.txt has every file.
#
# Vector kernels are left out: they are compared with the scalar ones value by value (tests/unit/kernels/).
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

need_packages gcovr
cmake --preset coverage --log-level=WARNING -DMPI_C_COMPILER=mpicc.openmpi
cmake --build build-coverage --parallel "$(nproc)"
find build-coverage -name '*.gcda' -delete
ctest --test-dir build-coverage --parallel $(($(nproc) * 2)) --timeout 600 "$@" | tail -20 || true

report() {
    gcovr --root . --object-directory build-coverage --filter 'codec/' --filter 'pmpi/' --filter 'smartnic/' \
        --exclude '.*/(avx|hash_avx|neon|vector_|huffman_avx).*' --exclude '.*/bench.*' --exclude-throw-branches \
        --gcov-ignore-parse-errors "$@" 2>build-coverage/gcovr.log
}
report --txt build-coverage/coverage.txt --json-summary build-coverage/coverage.json
python3 - build-coverage/coverage.json <<'PYTHON'
import collections
import json
import sys

sums = collections.defaultdict(lambda: [0, 0, 0, 0])
with open(sys.argv[1], encoding="utf-8") as text:
    files = json.load(text)["files"]
for f in files:
    for name in (f["filename"].split("/")[0], "all"):
        for i, key in enumerate(("line_covered", "line_total", "branch_covered", "branch_total")):
            sums[name][i] += f[key]
for name, (lines, of_lines, branches, of_branches) in sorted(sums.items()):
    print(f"{name:10} lines {100 * lines / of_lines:5.1f} %   branches {100 * branches / of_branches:5.1f} %")
print("least:")
for f in sorted(files, key=lambda f: f["line_covered"] / max(f["line_total"], 1))[:15]:
    print(f"  {f['line_percent']:5.1f} % of {f['line_total']:4} lines  {f['filename']}")
PYTHON

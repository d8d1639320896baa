#!/bin/bash
# coverage.sh [CTEST OPTION...]: build with gcov, run the tests, print which share of lines and branches of codec, pmpi and smartnic
# they execute, and the files with the least. build-coverage/coverage.txt has every file.
#
# Vector kernels are left out: they are compared with the scalar ones value by value (tests/unit/kernels/). Branches are counted
# twice: all of them, and without those of the lines that ask whether the call before failed (asks, below). These are the
# work of no_memory*, failing_* and cli.no_memory, which make each fail in turn, and take too long under gcov.
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
failed='(rc|status|failed|error)'
asks=".*(if \(!?$failed( [!=]= \w+)?\)|[ (]$failed \? |!$failed &&|if \(\w+ == NULL\))"
report --txt build-coverage/coverage.txt --json-summary build-coverage/coverage.json
report --exclude-branches-by-pattern "$asks" --json-summary build-coverage/coverage_calls.json
python3 - build-coverage/coverage.json build-coverage/coverage_calls.json <<'PYTHON'
import collections
import json
import sys

def files_of(path):
    with open(path, encoding="utf-8") as text:
        return json.load(text)["files"]


sums = collections.defaultdict(lambda: [0] * 6)
files = files_of(sys.argv[1])
for of_calls, f in [(False, f) for f in files] + [(True, f) for f in files_of(sys.argv[2])]:
    keys = ("branch_covered", "branch_total") if of_calls else ("line_covered", "line_total", "branch_covered", "branch_total")
    for name in (f["filename"].split("/")[0], "all"):
        for i, key in enumerate(keys):
            sums[name][i + 4 * of_calls] += f[key]
for name, (lines, of_lines, branches, of_branches, others, of_others) in sorted(sums.items()):
    print(
        f"{name:10} lines {100 * lines / of_lines:5.1f} %   branches {100 * branches / of_branches:5.1f} %, "
        f"without those of failed calls {100 * others / of_others:5.1f} % of {of_others}"
    )
print("least:")
for f in sorted(files, key=lambda f: f["line_covered"] / max(f["line_total"], 1))[:15]:
    print(f"  {f['line_percent']:5.1f} % of {f['line_total']:4} lines  {f['filename']}")
PYTHON

#!/bin/bash
# check.sh: checks that need no build: format of C, shell scripts, includes, links between documents. It takes seconds.
#
#     check.sh                  these
#     check.sh --tidy [COMMIT]  and clang-tidy on the C files that differ from COMMIT (main), as build/ compiles them: seconds a file
#
# Only clang-format 14 counts, which Debian 12 has: other versions format differently.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
failed=0
if ! git ls-files >/dev/null 2>&1; then
    echo "-- git does not tell what belongs to the project: nothing is checked"
    exit 0
fi

# check NAME COMMAND...: run it, with its output if it fails.
check() {
    local name=$1 out
    shift
    if out=$("$@" 2>&1); then
        echo "ok      $name"
    else
        printf '%s\n' "$out"
        echo "FAILED  $name"
        failed=1
    fi
}

formatted() {
    git ls-files '*.c' '*.h' | grep -v '^tests/fortran/' |
        xargs -n 64 -P "$(nproc)" clang-format --dry-run -Werror
}

scripts() {
    git ls-files '*.sh' .ci/run |
        xargs -n 8 -P "$(nproc)" shellcheck -x -S warning -e SC2034,SC2178,SC2128 # names that other scripts use
}

# .clang-tidy says what is checked. Files that build/ does not compile are left out.
tidied() {
    local database bad=0
    database=$(mktemp -d)
    ninja -C build -t compdb >"$database/compile_commands.json" || return 1
    git diff --name-only --diff-filter=d "$1" -- '*.c' | while read -r file; do
        grep -qF "/$file\"" "$database/compile_commands.json" && printf '%s\0' "$file"
    done | xargs -0 -r -n 1 -P "$(nproc)" clang-tidy -p "$database" --quiet || bad=1
    rm -r "$database"
    return "$bad"
}

if command -v clang-format >/dev/null && clang-format --version | grep -q 'version 14\.'; then
    check clang-format formatted
else
    echo "-- no clang-format 14: format is not checked"
fi
if command -v shellcheck >/dev/null; then
    check shellcheck scripts
else
    echo "-- no shellcheck: scripts are not checked"
fi
check includes python3 scripts/check_includes.py
check links python3 scripts/check_links.py
if [ "${1:-}" != --tidy ]; then
    :
elif command -v clang-tidy >/dev/null && [ -e build/build.ninja ]; then
    check clang-tidy tidied "${2:-$(git merge-base HEAD main)}"
else
    echo "-- no clang-tidy, or no build/: it is not asked"
fi
exit "$failed"

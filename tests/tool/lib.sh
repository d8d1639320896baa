# shellcheck shell=bash
# lib.sh - what the scripts of this folder share: a scratch folder, and checks that are counted. Sourced with the path of zmpi.
set -u
zmpi=${1:?path of zmpi}
[ -x "$zmpi" ] || { echo "$zmpi: not a program"; exit 1; }
field=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/field.py
work=$(mktemp -d)
mounted=
trap '[ -n "$mounted" ] && umount "$mounted"; rm -rf "$work"' EXIT
cd "$work" || exit 1
# Settings in the environment of the caller must not count.
for name in $(compgen -e ZMPI_); do unset "$name"; done

checks=0 failures=0
group=
fail()
{
    failures=$((failures + 1))
    echo "FAIL $group: $*"
    sed 's/^/    stderr: /' err 2>/dev/null | head -3
}
# expect STATUS COMMAND...: output in `out`, messages in `err`
expect()
{
    local wanted=$1 got
    shift
    checks=$((checks + 1))
    "$@" >out 2>err
    got=$?
    [ $got -eq "$wanted" ] || fail "status $got, not $wanted: ${*/#$zmpi/zmpi}"
}
says() # TEXT: what was said on stderr
{
    checks=$((checks + 1))
    grep -qF -- "$1" err || fail "stderr does not say \"$1\""
}
check() # COMMAND...: must succeed
{
    checks=$((checks + 1))
    "$@" >/dev/null 2>check_err || fail "$* ($(head -1 check_err))"
}
one_line() { [ "$(wc -l <err)" -eq 1 ]; }
absent() { [ ! -e "$1" ]; }
no_leftovers() { [ -z "$(find . -name '*.??????' -newer marker -not -name '*.zmpi')" ]; }
json() { python3 "$field" json out "$1"; } # EXPRESSION about d
payload() # FILE: offset and stored size of its first record
{
    "$zmpi" info --json "$1" | python3 -c "import json,sys; r=json.load(sys.stdin)['records'][0]; print(r['offset'], r['stored'])"
}
finish() # at the end of a script
{
    echo "$checks checks, $failures failures"
    [ $failures -eq 0 ]
}
touch marker

#!/bin/sh
# man_pages.sh: man pages are good troff and there is one for each command; bash completes commands, options, values, settings.
set -eu
share=$(dirname "$ZMPI_TEST_BIN")/share/man

pages=$(ls "$share"/*.[1-9])
for command in $("$ZMPI_TEST_BIN/zmpi" --help | sed -n 's/^  zmpi \([a-z]*\).*/\1/p'); do
    [ -s "$share/zmpi-$command.1" ] || { echo "FAIL: no page for zmpi $command"; exit 1; }
done
for one in zmpi.1 libzmpi.7 zmpi.conf.5 zmpi.h.3 zmpi_codec.h.3 zmpi_reader.h.3; do
    [ -s "$share/$one" ] || { echo "FAIL: no page $one"; exit 1; }
done
# Every setting and every function is there.
for one in $("$ZMPI_TEST_BIN/zmpi" options | sed -n 's/^\(ZMPI_[A-Z0-9_]*\).*/\1/p'); do
    grep -q "^.B $one\$" "$share/libzmpi.7" || { echo "FAIL: libzmpi(7) lacks $one"; exit 1; }
done
for one in $(grep -ho 'ZMPI_API [^(]*(' "$ZMPI_TEST_SOURCE/pmpi/zmpi.h" | sed 's/.*[ *]\(zmpi_[a-z_]*\)(/\1/'); do
    grep -q "$one(" "$share/zmpi.h.3" || { echo "FAIL: zmpi.h(3) lacks $one"; exit 1; }
done

if command -v bash >/dev/null; then
    # offered WORD...: what bash offers for the last one.
    offered() {
        bash -c '. "$0"; COMP_WORDS=(zmpi "$@"); COMP_CWORD=$#; _zmpi; printf "%s\n" "${COMPREPLY[@]}"' "$share/zmpi.bash" "$@" | sort | tr '\n' ' '
    }
    # expect WHAT WORD...
    expect() {
        wanted=$1
        shift
        got=$(offered "$@")
        [ "$got" = "$wanted " ] || { echo "FAIL: zmpi $*: '$got', not '$wanted'"; exit 1; }
    }
    expect "decompress" de
    expect "view" help vi
    expect "--json" info --j
    expect "huffman" compress --codec h
    expect "error_bound" options err
    : >some.file
    expect "some.file" info some
fi

if ! command -v mandoc >/dev/null; then
    echo "no mandoc: pages are not checked"
    exit 77
fi
# shellcheck disable=SC2086 # several words are meant
mandoc -Tlint -Wwarning $pages "$ZMPI_TEST_SOURCE/docs/zmpi-nicd.1"

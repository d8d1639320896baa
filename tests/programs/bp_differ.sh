#!/bin/bash
# bp_differ.sh DELTA PLAIN OTHER: do two files of ADIOS differ, in any value by more than DELTA?
set -euo pipefail
values() {
    ln -sf "$(realpath "$1")" "$2"
    bpls -d -y -n 1 -f %.17g "$2"
}
paste <(values "$2" first.bp) <(values "$3" second.bp) |
    awk -v delta="$1" 'NF == 2 && $1 + 0 == $1 { d = $1 - $2; if (d < 0) d = -d; if (d > most) most = d; n++ }
        END { print n + 0, "values, largest difference", most + 0; exit n == 0 || most > delta }'

#!/bin/sh
# costs.sh: one line says that compressed gathers cost time, where messages take far longer than the MPI library's own gathers, and
# none does where those take longer: of calls that are always compressed (tests/mpi/collectives/costs.c, damage/late.c).
set -eu
# shellcheck source=tests/mpi/launch.sh
. "$ZMPI_TEST_SOURCE/tests/mpi/launch.sh"
with_late costs

# run LATE CALLS SETTING...: what was said, in `said`.
run() {
    late=$1
    calls=$2
    shift 2
    # shellcheck disable=SC2086 # none or several words
    timeout 200 "$MPIEXEC" $flags -n 2 env ZMPI_TEST_LATE="$late" ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_COLLECTIVE_MIN=1K \
        ZMPI_REPORT_TEXT=off "$@" LD_PRELOAD="$preload" \
        "$program" "$calls" >said 2>&1 || { cat said; exit 1; }
}

# lines N: so many say that it costs time, each with the setting that ends it.
lines() {
    found=$(grep -c 'MPI_Gather on 2 ranks: compression has cost about .*ZMPI_COLLECTIVES=none.*ends that' said || true)
    [ "$found" = "$1" ] || { echo "FAIL: $found lines, not $1"; cat said; exit 1; }
}

for codec in fle huffman auto; do
    echo "== $codec: messages are late"
    run 20000 160 ZMPI_CODEC=$codec
    lines 1
    echo "== $codec: the MPI library's gathers are later"
    run 20000 160 ZMPI_CODEC=$codec ZMPI_TEST_LATE_RAW=200000
    lines 0
done
echo '== not of exact data, nor where the user asks for it'
run 20000 160 ZMPI_ERROR_BOUND=lossless
lines 0
run 20000 160 ZMPI_COLLECTIVE_MODE=always
lines 0

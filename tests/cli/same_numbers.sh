#!/bin/sh
# same_numbers.sh: the same run gives the same numbers, bit for bit, whatever the machine is busy with: messages and collectives
# that are late, ranks that are, threads, other programs (tests/mpi/collectives/same.c, each rank as on a node of its own).
set -eu
# shellcheck source=tests/mpi/launch.sh
. "$ZMPI_TEST_SOURCE/tests/mpi/launch.sh"
with_late same

# run OUT SEED SETTING...: digests to OUT, what was said to OUT.said.
run() {
    out=$1
    seed=$2
    shift 2
    # shellcheck disable=SC2086 # none or several words
    timeout 200 "$MPIEXEC" $flags -n 3 env ZMPI_TEST_LATE="$seed" ZMPI_COLLECTIVE_MIN=64 ZMPI_COLLECTIVE_PIECE=16K \
        ZMPI_REPORT_TEXT=off "$@" LD_PRELOAD="$preload" \
        "$program" >"$out" 2>"$out.said" || { cat "$out" "$out.said"; exit 1; }
}

every=ZMPI_COLLECTIVES=gather,scatter,alltoall,allgather,bcast_lossy
for bound in abs=1e-3 rel=1e-4 ratio=3; do
    for codec in fle auto; do
        echo "== $bound, $codec"
        set -- ZMPI_ERROR_BOUND=$bound ZMPI_CODEC=$codec $every
        run first 0 "$@" ZMPI_THREADS=1
        run late 1 "$@" ZMPI_THREADS=3
        cmp first late || { diff first late; exit 1; }
        run late 2 "$@" ZMPI_THREADS=2
        cmp first late || { diff first late; exit 1; }
    done
done
[ "$(grep -c 'floats are sent within' first.said)" = 1 ] || { cat first.said; exit 1; }

echo '== beside other programs'
set -- ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_CODEC=auto $every
run first 0 "$@"
busy=
for _ in 1 2 3 4; do
    while :; do :; done &
    busy="$busy $!"
done
run late 3 "$@"
# shellcheck disable=SC2086 # several
kill $busy
cmp first late || { diff first late; exit 1; }

echo '== measured: the report says what that means'
run first 0 ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_COLLECTIVE_MODE=measured ZMPI_REPORT_TEXT=on
grep -q '^zmpi MPI_Gather: .*numbers vary from run to run, within the bound' first.said || { cat first.said; exit 1; }

echo '== by default gathers alone may lose anything'
run first 0 ZMPI_ERROR_BOUND=abs=1e-3
run exact 0 ZMPI_ERROR_BOUND=lossless
for op in scatter allgather alltoall bcast; do
    [ "$(grep "^$op " first)" = "$(grep "^$op " exact)" ] || { echo "FAIL: $op"; exit 1; }
done
[ "$(grep '^gather ' first)" != "$(grep '^gather ' exact)" ]
grep -q 'MPI_Gather on MPI_COMM_WORLD (3 ranks): floats are sent within abs=0.001.*ZMPI_COLLECTIVES=none' first.said
grep -q 'floats are sent within' exact.said && exit 1
rm -f first first.said late late.said exact exact.said

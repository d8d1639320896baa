# shellcheck shell=bash disable=SC2154
# cases_faults.sh: cases of test.sh: daemons and clients that lie, stop, crash and die.

# One client with many threads does not keep another one waiting: each has its turn.
case_fair() {
    ZMPI_TEST_NICD=nap serve tests/nicd_faulty --timeout 30 --threads 1 --verbose
    "$client" same 1000 32 >"$work/said" 2>&1 &
    greedy=$!
    until grep -q welcome "$work/daemon.log"; do sleep 0.05; done
    by_daemon 48 48 same 1 4
    until grep -q ' bye;' "$work/daemon.log"; do sleep 0.05; done
    kill -KILL "$greedy"
    wait "$greedy" 2>/dev/null || true
    read -r own all < <(sed -n 's/.* bye; \([0-9]*\) of \([0-9]*\) requests.*/\1 \2/p' "$work/daemon.log")
    # Half of all, and a few while it has nothing to ask; one of nine where who asks first is served first.
    ((own >= 48 && all > own && all <= 4 * own)) || fail "$own of $all requests"
    echo "$own of $all requests"
    slay
}

# At any moment, for good; and the next daemon works.
case_killed() {
    for n in 1 2 3 6 14 25; do
        ZMPI_TEST_NICD=kill:$n serve tests/nicd_faulty --timeout 0.5
        right any
        says 'using the CPU'
        slay
    done
    serve zmpi-nicd --timeout 30
    by_daemon 12 12 any
    for victim in 0 0.05 0.1; do # clients that die, too, are no harm to others
        "$client" same 50 >"$work/said" 2>&1 &
        sleep "$victim"
        kill -KILL $!
        wait $! 2>/dev/null || true
        [[ $provider == shm ]] || by_daemon 12 12 any
    done
    if [[ $provider != shm ]]; then stop; fi
}

# The thread of the plug-in spins for ever, as in a lock that a dead peer holds.
case_stuck() {
    serve zmpi-nicd --timeout 1
    ZMPI_TEST_STUCK=5 right any 0.5
    says 'stuck'
    stop
}

# For a while: answers that come late.
case_stopped() {
    for n in 2 4 9; do
        rm -f "$work/log"
        ZMPI_TEST_NICD=stop:$n serve tests/nicd_faulty --timeout 0.3
        (
            for ((i = 0; i < 1000; i++)); do # until the client has given up
                ! grep -qs 'using the CPU' "$work/log" || break
                sleep 0.05
            done
            kill -CONT "$server"
        ) &
        right any 2
        says 'using the CPU'
        wait $!
        slay
    done
}

case_lies() {
    declare -A words=([noise]='something else' [other]='something else' [hash]='something else' [lost]='something else'
        [forged]='silent' [version]='version 7' [codec]='of zmpi' [garbled]='something else than the CPU'
        [refused]='inconsistent data' [stranger]='no answer' [astray]='fallen silent')
    for lie in "${!words[@]}"; do
        ZMPI_TEST_NICD=$lie serve tests/nicd_faulty --timeout 2
        right any
        says "${words[$lie]}"
        grep -q '^[01] of .* 0 back' "$work/said" || fail "$lie: taken: $(cat "$work/said")"
        [[ $lie == garbled || $lie == refused ]] || grep -q '^0 of' "$work/said" || fail "$lie: taken: $(cat "$work/said")"
        stop
    done
    ZMPI_TEST_NICD=large serve tests/nicd_faulty
    [[ $("$client" any) == '0 of 12 by the daemon, 12 back' ]] || fail "large: not only the engine's mistake"
    stop
    ZMPI_TEST_NICD=full serve tests/nicd_faulty
    by_daemon 0 12 any
    [[ ! -s $work/log ]] || fail "something was said of a daemon without a place"
    stop
    ZMPI_TEST_NICD=slow serve tests/nicd_faulty --timeout 1.5 # signs of life are waited for
    by_daemon 1 1 large 100000
    stop
}

# A daemon that crashes starts again; its clients find the new one by their second try.
case_crash() {
    serve zmpi-nicd --timeout 5 # on a crowded machine greetings take 4 s, starting 14
    sleep 1.2
    "$client" same 60 >"$work/said" 2>&1 &
    pid=$!
    by_daemon 12 12 any
    kill -SEGV "$server"
    wait "$pid" || fail "the client found no other daemon: $(cat "$work/said")"
    grep -q 'starting it again' "$work/daemon.log" || fail "it did not start again"
    if grep -q starting "$ZMPI_NIC"; then fail "its file still says that it is being started"; fi
    by_daemon 12 12 any
    stop
}

# shellcheck shell=bash disable=SC2154
# cases_service.sh: cases of test.sh: the daemon and its clients, strangers among them: places, memory, secrets, options.

# The few seconds of scripts/bench/bench_nic.sh.
case_bench() {
    env -u ZMPI_NIC ZMPI_BUILD="$(dirname "$bin")" "$ZMPI_TEST_SOURCE/scripts/bench/bench_nic.sh" -p "$provider" >"$work/said" 2>"$work/log" || fail "bench_nic.sh failed"
    (($(awk '$3 == "daemon" && NF == 9' "$work/said" | wc -l) == 12)) || fail "$(cat "$work/said")"
    (($(awk '$3 == "daemon," && NF == 10' "$work/said" | wc -l) == 12)) || fail "$(cat "$work/said")"
}

case_service() {
    serve zmpi-nicd --timeout 30
    by_daemon 24 24 same 2
    by_daemon 48 48 same 1 4 # threads of one process
    by_daemon 12 12 any
    right edges
    pids=()
    for i in 1 2 3 4 5 6; do
        "$client" same 1 2 >"$work/said.$i" 2>&1 &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || fail "one of several clients failed: $(cat "$work"/said.*)"
    done
    stop
}

# Greetings that somebody recorded take no place from a client.
case_replay() {
    serve zmpi-nicd --timeout 30 --clients 1
    "$bin/tests/nic_raw" replay "$ZMPI_NIC" >"$work/log" 2>&1 || fail "nic_raw failed"
    by_daemon 12 12 any
    stop
}

# What no plug-in of ours sends.
case_refused() {
    serve zmpi-nicd --timeout 30 --memory 2M --queue 1 --clients 1 --threads 1 --verbose
    timeout 120 "$bin/tests/nic_raw" refused "$ZMPI_NIC" >"$work/log" 2>&1 || fail "nic_raw failed"
    for words in 'greeted, and never came' 'a request that makes no sense' 'a place that makes no sense' refused; do
        grep -q "$words" "$work/daemon.log" || fail "the daemon did not say '$words'"
    done
    by_daemon 1 1 large 100000
    stop
}

# Clients that keep a place, or data, and say nothing.
case_silent() {
    head -c 400000 /dev/zero >"$work/raw.f32"
    "$bin/zmpi" compress -t f32 -e abs=1 "$work/raw.f32" "$work/kept" >"$work/said"
    serve zmpi-nicd --timeout 0.1 --clients 1 --memory 4M --verbose --sync --files "$work"
    timeout 60 "$bin/tests/nic_raw" silent "$ZMPI_NIC" "$work/kept" >"$work/log" 2>&1 || fail "nic_raw failed"
    grep -q 'takes and gives no data' "$work/daemon.log" || fail "a client that gives no data was kept"
    stop
}

# Connections of strangers take all descriptors: no core is burnt, and a client is served when they go.
case_idle() {
    ulimit -n 100
    serve zmpi-nicd --timeout 30 --clients 4
    port=$((16#$(sed -n 's/^address ....\(....\).*/\1/p' "$ZMPI_NIC")))
    python3 -c '
import socket, sys, time
held = []
try:
    while True:
        held.append(socket.create_connection(("127.0.0.1", int(sys.argv[1]))))
except OSError:
    pass # as many as this process may have, which is more than the daemon can take
time.sleep(600)' "$port" &
    strangers=$!
    sleep 1
    before=$(cut -d' ' -f14,15 "/proc/$server/stat")
    sleep 2
    after=$(cut -d' ' -f14,15 "/proc/$server/stat")
    kill "$strangers"
    used=$((${after% *} + ${after#* } - ${before% *} - ${before#* })) # of about 200 ticks
    ((used < 60)) || fail "the daemon takes $used of 200 ticks for nothing"
    by_daemon 12 12 any
    stop
}

# What there is no room for is the CPU's, and no failure.
case_limits() {
    serve zmpi-nicd --timeout 30 --memory 1M --queue 1 --clients 2 --threads 1
    by_daemon 0 1 large 4000000
    [[ ! -s $work/log ]] || fail "something was said"
    by_daemon 1 1 large 100000
    pids=()
    for i in 1 2 3 4; do # more than there is room for: refused, or served, but right
        "$client" any >"$work/said.$i" 2>&1 &
        pids+=($!)
    done
    for pid in "${pids[@]}"; do
        wait "$pid" || fail "a client failed: $(cat "$work"/said.*)"
    done
    by_daemon 1 1 large 100000
    stop
}

# Each allocation of the plug-in, and many of the daemon, fail: the CPU's, and right.
case_memory() {
    lack=(env "LD_PRELOAD=$ZMPI_TEST_MEMORY" "LACK_COUNT=$work/count")
    serve zmpi-nicd --timeout 30 --threads 1
    for ((at = 0, all = 0; at <= all; at += 1 + at / 8)); do
        rm -f "$work/count"
        timeout 60 "${lack[@]}" LACK=$at:1 LACK_OF=libzmpi_smartnic "$client" any >"$work/said" 2>"$work/log" || fail "allocation $at of the plug-in"
        ((at > 0)) || all=$(cat "$work/count")
    done
    ((all > 20)) || fail "only $all allocations"
    stop
    for at in 1 2 3 4 5 6 7 8 9 11 13 16 20 25 31; do
        rm -f "$ZMPI_NIC"
        "${lack[@]}" LACK=$at:1 LACK_OF=program "$bin/zmpi-nicd" --timeout 1 "$ZMPI_NIC" 2>"$work/daemon.log" &
        daemon=$!
        until [[ -e $ZMPI_NIC ]] || ! kill -0 "$daemon" 2>/dev/null; do sleep 0.02; done
        if [[ -e $ZMPI_NIC ]]; then
            right any
            stop
        else
            wait "$daemon" && fail "allocation $at failed, and the daemon ends well"
            daemon=
            [[ -s $work/daemon.log ]] || fail "allocation $at: nothing is said"
        fi
    done
}

case_secret() {
    serve zmpi-nicd --timeout 30
    cp -p "$ZMPI_NIC" "$work/other"
    export ZMPI_NIC=$work/other
    sed -i 's/^secret ./secret /; s/^secret .*/&0/; s/^timeout .*/timeout 0.5/' "$work/other"
    right any
    says 'no answer'
    grep -q '^0 of' "$work/said" || fail "served with a wrong secret"
    # A daemon that crashed and is being started again: waited for, but not for ever.
    printf 'starting again\n' >>"$work/other"
    (sleep 2 && cp -p "$work/nic" "$work/next" && mv "$work/next" "$work/other") &
    by_daemon 12 12 any
    wait $!
    sed -i 's/^timeout .*/timeout 0.05/; $astarting again' "$work/other"
    right any
    says 'takes too long'
    chmod 0640 "$work/other"
    if "$client" any >"$work/said" 2>"$work/log"; then fail "a secret that others can read was used"; fi
    says 'has mode 0640'
    rm "$work/other"
    if "$client" any >"$work/said" 2>"$work/log"; then fail "went on without a file"; fi
    says 'No such file'
    export ZMPI_NIC=$work/nic
    [[ $(stat -c %a "$ZMPI_NIC") == 600 ]] || fail "mode of the file"
    by_daemon 12 12 any # it does not mind
    # Loopback only.
    port=$((16#$(sed -n 's/^address ....\(....\).*/\1/p' "$ZMPI_NIC")))
    ip=$(sed -n 's/^address ........\(........\).*/\1/p' "$ZMPI_NIC")
    [[ $ip == 7f000001 ]] || fail "listens on $ip"
    head -c 100000 /dev/urandom >"/dev/tcp/127.0.0.1/$port" 2>/dev/null || true # a stranger
    by_daemon 12 12 any
    stop
}

case_options() {
    bad() {
        if "$bin/zmpi-nicd" "$@" 2>"$work/log"; then fail "zmpi-nicd $* is taken"; fi
        (($(wc -l <"$work/log") == 1)) || fail "not one line"
    }
    bad
    bad a b
    for option in '-m 0' '-m 1K' '-q 0' '-q x' '-c 0' '-j 0' '-j 1e9' '-t 0' '-t nan' '-t 1x' '-t 9999' '-q 5x' '-q 99999999999999999999' '-q a' '-e warp' '-f /nonexistent' '-f /etc/passwd' '-p none' '-l 192.0.2.1'; do
        # shellcheck disable=SC2086 # two words
        bad $option "$work/nic"
    done
    bad --frobnicate "$work/nic"
    bad --listen '' "$work/nic"
    bad --timeout '' "$work/nic"
    bad --queue '' "$work/nic"
    bad --provider $'tcp\nstarting again' "$work/nic"
    # shellcheck disable=SC2046 # so many options
    bad $(printf -- '-f /tmp %.0s' {1..17}) "$work/nic"
    bad "$work/missing/nic"
    echo precious >"$work/nic"
    bad "$work/nic"
    [[ $(cat "$work/nic") == precious ]] || fail "a foreign file was overwritten"
    "$bin/zmpi-nicd" --help | grep -q -- --engine
    "$bin/zmpi-nicd" --version | grep -q '^zmpi-nicd [0-9]'
    for option in $("$bin/zmpi-nicd" --help | grep -o -- '--[a-z]*'); do
        grep -q -- "\\\\-\\\\-${option#--}" "$ZMPI_TEST_SOURCE/docs/zmpi-nicd.1" || fail "the manual lacks $option"
    done
}

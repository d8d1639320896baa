#!/bin/bash
# test.sh CASE [PROVIDER]: zmpi-nicd and processes that compress by it. ZMPI_TEST_BIN has the programs, ZMPI_PLUGIN_PATH the plug-in.
set -euo pipefail

case=$1
provider=${2:-tcp;ofi_rxm}
bin=$ZMPI_TEST_BIN
client=$bin/tests/nic_client
work=$(mktemp -d)
daemon='' server=''
export ZMPI_NIC=$work/nic
unset ZMPI_DEVICE

finish() {
    [[ -z $daemon ]] || slay
    rm -rf "$work"
}
trap finish EXIT

fail() {
    printf '%s\n' "$*" >&2
    [[ ! -s $work/daemon.log ]] || sed 's/^/daemon: /' "$work/daemon.log" >&2
    [[ ! -s $work/log ]] || sed 's/^/client: /' "$work/log" >&2
    exit 1
}

# serve PROGRAM [OPTION...]: start a daemon, wait for its file.
serve() {
    rm -f "$ZMPI_NIC"
    "$bin/$1" --provider "$provider" "${@:2}" "$ZMPI_NIC" 2>"$work/daemon.log" &
    daemon=$!
    local i
    for ((i = 0; i < 600; i++)); do
        if [[ -e $ZMPI_NIC ]]; then
            server=$(pgrep -P "$daemon") || true
            return 0
        fi
        kill -0 "$daemon" 2>/dev/null || fail "the daemon did not start"
        sleep 0.05
    done
    fail "the daemon does not come up"
}

# stop: as init does; the daemon must end well and leave nothing.
stop() {
    local status=0
    kill "$daemon"
    wait "$daemon" || status=$?
    daemon=
    ((status == 0)) || fail "the daemon ended with $status"
    [[ ! -e $ZMPI_NIC ]] || fail "the daemon left its file"
}

# cut short whatever state it is in.
slay() {
    server+=" $(pgrep -P "$daemon")" || true
    local pid
    kill -KILL "$daemon" 2>/dev/null || true
    wait "$daemon" 2>/dev/null || true
    for pid in $server; do # what shm leaves of a daemon that was killed
        rm -f "/dev/shm/zmpi-nicd-$pid:"*
    done
    daemon=
}

# by_daemon COUNT TOTAL ARGUMENT...: the client's results are right, and so many came from the daemon, and back.
by_daemon() {
    local said
    said=$("$client" "${@:3}" 2>"$work/log") || fail "nic_client ${*:3} failed"
    [[ $said == "$1 of $2 by the daemon, $1 back"* ]] || fail "nic_client ${*:3}: $said, not $1 of $2"
}

# right ARGUMENT...: the client's results are right.
right() {
    timeout 60 "$client" "$@" >"$work/said" 2>"$work/log" || fail "nic_client $* failed"
}

says() {
    grep -q -- "$1" "$work/log" || fail "nothing says '$1'"
    (($(wc -l <"$work/log") == 1)) || fail "more than one line"
}

# mpi RANKS ARGUMENT...: nic_mpi_files, by the daemon.
mpi() {
    # shellcheck disable=SC2086 # MPIEXEC may have arguments
    timeout 120 $MPIEXEC -n "$1" env LD_PRELOAD="$ZMPI_TEST_LIB:$ZMPI_TEST_FIXED" ZMPI_ERROR_BOUND="${bound:-abs=1e-3}" ZMPI_LOG=info \
        ZMPI_DEVICE="${device:-smartnic}" ZMPI_NIC_WRITE="${nic_write:-on}" ZMPI_REPORT_TEXT=off "$bin/tests/nic_mpi_files" "${@:2}" >"$work/log" 2>&1 ||
        fail "nic_mpi_files ${*:2} failed on $1 ranks"
}

# holds FILE: both files of nic_mpi_files hold what they must, without the daemon too.
holds() {
    local kind
    for kind in w rw; do
        "$bin/zmpi" fsck "$1.$kind" >"$work/said" || fail "$1.$kind: $(cat "$work/said")"
        "$bin/zmpi" cat "$1.$kind" | cmp - "$work/must" || fail "$1.$kind holds something else"
    done
}

case $case in
files)
    mkdir "$work/in" "$work/out"
    serve zmpi-nicd --timeout 30 --files "$work/in"
    timeout 60 "$bin/tests/nic_files" "$work/in" "$work/out" 2>"$work/log" || fail "nic_files failed"
    stop
    ;;
network) # FLARE's network, by the simulated engine
    cd "$work"
    python3 -c "
import array, math, random
random.seed(1)
array.array('f', (math.sin(x * .21 + z * .1) * math.cos(y * .17) + random.gauss(0, .004)
                  for z in range(2) for y in range(40) for x in range(46))).tofile(open('x.raw', 'wb'))"
    "$bin/zmpi" compress -t f32 -d 2x40x46 -e rel=2e-2 --codec interp:flare x.raw x.zmpi
    "$bin/zmpi" decompress x.zmpi plain
    "$bin/zmpi" enhance --train x.raw --epochs 30 --always x.zmpi
    "$bin/zmpi" decompress --enhance x.zmpi want
    ! cmp -s plain want || fail "the network changes nothing"
    for network in '' x.zmpi; do
        ZMPI_FLARE_NETWORK=$network serve zmpi-nicd --timeout 100 --engine flare-sim
        "$client" decode x.raw >got 2>log || fail "nic_client decode failed"
        cmp got "$([[ $network ]] && echo want || echo plain)" || fail "other values, network '$network'"
        stop
    done
    ;;
writes) # from rank to file by the daemon
    mkdir "$work/in" "$work/out"
    serve zmpi-nicd --timeout 30 --files "$work/out/." --files "$work/in"
    # What the daemon writes leaves no space for data that grow, and takes no gaps.
    ZMPI_TRIM=off device=cpu nic_write=off mpi 1 write "$work/in/cpu"
    "$bin/zmpi" cat "$work/in/cpu.rw" >"$work/must"
    mpi 1 write "$work/in/one"
    cmp "$work/in/cpu.rw" "$work/in/one.rw" || fail "other bytes than without the daemon"
    holds "$work/in/one"
    mpi 3 write "$work/in/three"
    (($(grep -c 'written by the device' "$work/log") == 6)) || fail "not by the daemon"
    holds "$work/in/three"
    mpi 2 read "$work/in/three"
    ln -s "$work/in" "$work/link" # leads there, after all
    mpi 2 write "$work/link/linked"
    (($(grep -c 'written by the device' "$work/log") == 4)) || fail "not by the daemon, by way of a link"
    holds "$work/in/linked"
    mpi 2 write "$work/outside"
    grep -q 'not below a folder' "$work/log" || fail "nothing said of a file outside"
    if grep -q 'written by the device' "$work/log"; then fail "written outside"; fi
    holds "$work/outside"
    # Rounds that the process encodes itself, which do not fit where independent calls write.
    ZMPI_STAGING=1M device=cpu mpi 2 write "$work/in/here"
    holds "$work/in/here"
    stop
    serve zmpi-nicd --timeout 30 --files "$work/in" --sync --memory 6M --queue 3 # not enough for all
    mpi 2 write "$work/in/narrow"
    holds "$work/in/narrow"
    stop
    ;;
reads) # from file to rank by the daemon, which then lies, dies and stops in the middle
    device=cpu nic_write=off mpi 1 write "$work/file"
    serve zmpi-nicd --timeout 30
    export ZMPI_REPORT=$work/report.json nic_write=off
    mpi 2 read "$work/file"
    # Nearly all of two files of 40 MB.
    (($(sed -n 's/.*"bytes_decoded_offloaded": \([0-9]*\).*/\1/p' "$work/report.json" | awk '{ n += $1 } END { print (n > 64e6) }'))) ||
        fail "not by the daemon: $(cat "$work/report.json")"
    "$bin/zmpi" cat "$work/file.w" >"$work/must"
    ZMPI_DEVICE=smartnic "$bin/zmpi" decompress -v "$work/file.w" "$work/is" | grep -q '^device smartnic (ZMPI_DEVICE=smartnic)' ||
        fail "not decoded by the daemon"
    cmp "$work/must" "$work/is" || fail "other values than the CPU's"
    stop
    for fault in garbled kill:$((RANDOM % 60 + 2)) stop:$((RANDOM % 60 + 2)); do
        ZMPI_TEST_NICD=$fault serve tests/nicd_faulty --timeout 0.5
        mpi 2 read "$work/file"
        grep -q 'using the CPU' "$work/log" || fail "$fault: nothing said"
        slay
    done
    ;;
measured) # ZMPI_CODEC=auto by what the daemon takes, which is more than the process would
    device=cpu nic_write=off mpi 1 write "$work/cpu"
    "$bin/zmpi" cat "$work/cpu.rw" >"$work/must"
    export ZMPI_CODEC=auto ZMPI_REPORT=$work/report
    # measured LEAST: all that was written was coded once, and took so long. (Answers that come late together may leave one encoder without its time.)
    measured() {
        python3 - "$ZMPI_REPORT" "$1" <<'END' || fail "estimates: $(cat "$ZMPI_REPORT")"
import json, sys
for f in json.load(open(sys.argv[1]))["files"]:
    assert f["bytes_fle"] + f["bytes_huffman"] == f["bytes_written"], "bytes"
    assert max(f["estimate_fle"], f["estimate_huffman"]) >= float(sys.argv[2]), "seconds"
END
    }
    for way in "off nap" "on nap" "on nap:50"; do
        ZMPI_TEST_NICD=${way#* } serve tests/nicd_faulty --timeout 30 --threads 1 --files "$work"
        nic_write=${way% *} mpi 1 write "$work/auto"
        holds "$work/auto"
        if [[ $way == *:50 ]]; then measured 0.05; else measured 0.02; fi
        slay
    done
    ZMPI_TEST_NICD=kill:30 serve tests/nicd_faulty --timeout 0.5 --files "$work"
    mpi 1 write "$work/killed"
    grep -q 'writes the file itself' "$work/log" || fail "the daemon was not missed"
    holds "$work/killed"
    measured 0
    slay
    ;;
broken) # daemons that lie, fail and die while they write
    device=cpu nic_write=off mpi 1 write "$work/cpu"
    "$bin/zmpi" cat "$work/cpu.rw" >"$work/must"
    for fault in other unwritten half cut:$((RANDOM % 10 + 1)) kill:$((RANDOM % 60 + 2)) stop:$((RANDOM % 60 + 2)); do
        ZMPI_TEST_NICD=$fault serve tests/nicd_faulty --timeout 0.5 --files "$work"
        file=$work/${fault%:*} # MPICH takes what is before a colon for a file system
        mpi 2 write "$file"
        grep -q 'writes the file itself' "$work/log" || fail "$fault: nothing said"
        pkill -CONT -P "$daemon" || true # what is late changes nothing
        sleep 0.2
        holds "$file"
        slay
    done
    serve zmpi-nicd --timeout 1 --files "$work"
    # shellcheck disable=SC2086 # MPIEXEC may have arguments
    timeout 60 $MPIEXEC -n 1 env LD_PRELOAD="$ZMPI_TEST_LIB" ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_DEVICE=smartnic ZMPI_NIC_WRITE=on \
        "$bin/tests/nic_late" "$work/late" "$server" >"$work/log" 2>&1 || fail "nic_late failed"
    "$bin/zmpi" verify "$work/late" >"$work/said" || fail "a place that came late: $(cat "$work/said")"
    slay
    (
        ulimit -f 512 # KiB
        serve zmpi-nicd --timeout 30 --files "$work"
        echo "$daemon" >"$work/pid"
    )
    daemon=$(cat "$work/pid")
    mpi 2 write "$work/full"
    grep -q 'File too large' "$work/log" || fail "nothing said of a file that may not grow"
    holds "$work/full"
    # shellcheck disable=SC2086
    if $MPIEXEC --version 2>&1 | grep -qE 'Open MPI|OpenRTE'; then # MPICH's own shared memory is larger than that
        if (ulimit -f 4096 && bound=lossless mpi 1 write "$work/fuller") 2>"$work/said"; then fail "no error though the file may not grow"; fi
        grep -q 'nic_mpi_files: rank 0: .*: error' "$work/said" || fail "another error: $(cat "$work/said")"
    fi
    slay
    serve zmpi-nicd --timeout 3 --files "$work"
    sleep 1.2
    mpi 2 write "$work/crash" &
    sleep 0.6
    kill -SEGV "$server"
    wait $! || fail "with a daemon that starts again"
    holds "$work/crash"
    mpi 2 write "$work/again"
    grep -q 'written by the device' "$work/log" || fail "not by the new daemon"
    stop
    ;;
bench) # scripts/bench/bench_nic.sh, the few seconds of it
    env -u ZMPI_NIC ZMPI_BUILD="$(dirname "$bin")" "$ZMPI_TEST_SOURCE/scripts/bench/bench_nic.sh" -p "$provider" >"$work/said" 2>"$work/log" || fail "bench_nic.sh failed"
    (($(awk '$3 == "daemon" && NF == 9' "$work/said" | wc -l) == 12)) || fail "$(cat "$work/said")"
    (($(awk '$3 == "daemon," && NF == 10' "$work/said" | wc -l) == 12)) || fail "$(cat "$work/said")"
    ;;
service)
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
    ;;
replay) # greetings that somebody recorded take no place from a client
    serve zmpi-nicd --timeout 30 --clients 1
    "$bin/tests/nic_raw" replay "$ZMPI_NIC" >"$work/log" 2>&1 || fail "nic_raw failed"
    by_daemon 12 12 any
    stop
    ;;
refused) # what no plug-in of ours sends
    serve zmpi-nicd --timeout 30 --memory 2M --queue 1 --clients 1 --threads 1 --verbose
    timeout 120 "$bin/tests/nic_raw" refused "$ZMPI_NIC" >"$work/log" 2>&1 || fail "nic_raw failed"
    for words in 'greeted, and never came' 'a request that makes no sense' 'a place that makes no sense' refused; do
        grep -q "$words" "$work/daemon.log" || fail "the daemon did not say '$words'"
    done
    by_daemon 1 1 large 100000
    stop
    ;;
silent) # clients that keep a place, or data, and say nothing
    head -c 400000 /dev/zero >"$work/raw.f32"
    "$bin/zmpi" compress -t f32 -e abs=1 "$work/raw.f32" "$work/kept" >"$work/said"
    serve zmpi-nicd --timeout 0.1 --clients 1 --memory 4M --verbose --sync --files "$work"
    timeout 60 "$bin/tests/nic_raw" silent "$ZMPI_NIC" "$work/kept" >"$work/log" 2>&1 || fail "nic_raw failed"
    grep -q 'takes and gives no data' "$work/daemon.log" || fail "a client that gives no data was kept"
    stop
    ;;
idle) # connections of strangers take all descriptors: no core is burnt, and a client is served when they go
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
    ;;
limits) # what there is no room for is the CPU's, and no failure
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
    ;;
memory) # each allocation of the plug-in, and many of the daemon, fail: the CPU's, and right
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
    ;;
fair) # one client with many threads does not keep another one waiting: each has its turn
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
    ;;
killed) # at any moment, for good; and the next daemon works
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
    ;;
stuck) # the thread of the plug-in spins for ever, as in a lock that a dead peer holds
    serve zmpi-nicd --timeout 1
    ZMPI_TEST_STUCK=5 right any 0.5
    says 'stuck'
    stop
    ;;
stopped) # for a while: answers that come late
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
    ;;
lies)
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
    ;;
crash) # a daemon that crashes starts again; its clients find the new one by their second try
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
    ;;
secret)
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
    ;;
options)
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
    ;;
mpi)
    serve zmpi-nicd --timeout 30 --engine "${ZMPI_TEST_ENGINE:-cpu}"
    codecs=${ZMPI_TEST_CODECS:-huffman fle interp:flare}
    [[ $codecs != *huffman* ]] || by_daemon 1 1 large 100000
    [[ $codecs != *flare* ]] || by_daemon 1 1 flare
    run() {
        # shellcheck disable=SC2086 # MPIEXEC may have arguments
        $MPIEXEC -n 2 env LD_PRELOAD="$ZMPI_TEST_LIB:$ZMPI_TEST_FIXED" ZMPI_DEVICE="$1" ZMPI_ERROR_BOUND=rel=1e-3 \
            ZMPI_REPORT="$work/$1.json" ZMPI_REPORT_TEXT=off "$bin/tests/nic_mpi" "$work/$1.z" 2>"$work/log" ||
            fail "the MPI program failed on $1"
    }
    for codec in $codecs; do
        rm -f "$work"/*.z
        export ZMPI_CODEC=$codec
        run cpu
        run smartnic
        cmp "$work/cpu.z" "$work/smartnic.z" || fail "$codec: other bytes than the CPU's"
        grep -q '"device": *"smartnic"' "$work/smartnic.json" || fail "$codec: not by the daemon: $(cat "$work/smartnic.json")"
    done
    slay
    rm "$work/smartnic.z"
    sed -i 's/^timeout .*/timeout 0.5/' "$ZMPI_NIC" # its file is still there
    run smartnic
    cmp "$work/cpu.z" "$work/smartnic.z" || fail "other bytes without the daemon"
    grep -q 'using the CPU' "$work/log" || fail "nothing said"
    rm "$ZMPI_NIC" "$work/smartnic.z"
    run smartnic
    cmp "$work/cpu.z" "$work/smartnic.z" || fail "other bytes without the daemon's file"
    grep -q 'using the CPU' "$work/log" || fail "nothing said of the missing file"
    ;;
*)
    fail "no such case: $case"
    ;;
esac

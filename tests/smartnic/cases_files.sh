# shellcheck shell=bash disable=SC2154
# cases_files.sh: cases of test.sh: files that ranks write and read through the daemon.

case_files() {
    mkdir "$work/in" "$work/out"
    serve zmpi-nicd --timeout 30 --files "$work/in"
    timeout 60 "$bin/tests/nic_files" "$work/in" "$work/out" 2>"$work/log" || fail "nic_files failed"
    stop
}

# FLARE's network, by the simulated engine.
case_network() {
    cd "$work" || exit
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
}

# What lies between the header and the list of write calls, which does not tell the errors of what the daemon wrote.
records() {
    local calls
    calls=$(od -An -tu8 -j464 -N8 "$1")
    ((calls > 512)) || fail "$1 has no list of write calls"
    head -c "$calls" "$1" | tail -c +513
}

# From rank to file by the daemon.
case_writes() {
    mkdir "$work/in" "$work/out"
    serve zmpi-nicd --timeout 30 --files "$work/out/." --files "$work/in"
    # What the daemon writes leaves no space for data that grow, and takes no gaps.
    ZMPI_TRIM=off device=cpu nic_write=off mpi 1 write "$work/in/cpu"
    "$bin/zmpi" cat "$work/in/cpu.rw" >"$work/must"
    mpi 1 write "$work/in/one"
    cmp <(records "$work/in/cpu.rw") <(records "$work/in/one.rw") || fail "other bytes than without the daemon"
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
}

# From file to rank by the daemon, which then lies, dies and stops in the middle.
case_reads() {
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
}

# ZMPI_CODEC=auto by what the daemon takes, which is more than the process would.
case_measured() {
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
}

# Daemons that lie, fail and die while they write.
case_broken() {
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
}

case_mpi() {
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
}

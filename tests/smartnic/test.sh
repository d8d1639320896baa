#!/bin/bash
# test.sh CASE [PROVIDER]: zmpi-nicd and processes that compress by it. ZMPI_TEST_BIN has the programs, ZMPI_PLUGIN_PATH the plug-in.
# The cases are in cases_*.sh.
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

for cases in files faults service; do
    # shellcheck source=/dev/null
    . "$(dirname "$0")/cases_$cases.sh"
done
declare -F "case_$case" >/dev/null || fail "no such case: $case"
"case_$case"

#!/bin/bash
# test.sh run|storage|gluster|killed: scripts/cluster.sh, and zmpi on the cluster that it makes. Skipped where the machine cannot.
set -euo pipefail
name=test$$

cluster() {
    "$ZMPI_TEST_SOURCE/scripts/cluster.sh" --name "$name" "$@"
}

fail() {
    echo "FAIL: $*"
    exit 1
}

skip() {
    echo "SKIPPED: $*"
    exit 77
}

# up OPTION...
up() {
    local status=0
    cluster up "$@" >up.out 2>&1 || status=$?
    cat up.out
    ((status != 3)) || skip "this machine cannot do it"
    ((status == 0)) || fail "up ended with $status"
    trap 'cluster down' EXIT
    namespace=$(cluster node n0 readlink /proc/self/ns/pid)
}

# none_left NAMESPACE: no process of a cluster lives, and with them its interfaces and mounts are gone.
none_left() {
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        [[ $(readlink /proc/[0-9]*/ns/pid 2>/dev/null || true) == *"$1"* ]] || return 0
        sleep 0.1
    done
    fail "processes are left of the cluster"
}

down() {
    cluster down
    none_left "$namespace"
    ! cluster status 2>/dev/null || fail "there is still a cluster"
}

# wire NODE: bytes that NODE has sent and received.
wire() {
    cluster status | awk -v node="$1" '$1 == node { print $2 + $3 }'
}

# gather VARIABLE SETTING... -- ARGUMENT...: run the test program on both nodes; VARIABLE becomes what crossed the link.
gather() {
    local before variable=$1 settings=()
    shift
    while [[ $1 != -- ]]; do
        settings+=(-x "$1")
        shift
    done
    before=$(wire n1)
    cluster run -n 2 "${settings[@]}" -- "$ZMPI_TEST_BIN/tests/gather" "${@:2}" || fail "gather: $*"
    printf -v "$variable" %d $(($(wire n1) - before))
}

# make_field: a file "field" of 64x64x64 floats.
make_field() {
    python3 -c 'import array, math
array.array("f", [math.sin(i * 1e-3) for i in range(1 << 18)]).tofile(open("field", "wb"))'
}

test_run() {
    local plain packed status=0
    up --nodes 2 --link 500mbit
    cluster node n0 tc qdisc show dev eth0 | grep -q 'tbf .*rate 500Mbit' || fail "the link is not shaped"
    [[ $(cluster run -n 3 -- hostname | sort | xargs) == 'n0 n0 n1' ]] || fail "ranks are not where they should be"
    cluster run -- bash -c 'exit 5' >run.out 2>&1 || status=$?
    ((status == 5)) || fail "the program's exit status 5 became $status"

    gather plain -- exact
    gather packed "LD_PRELOAD=$ZMPI_TEST_LIB" ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVE_MIN=1K \
        ZMPI_COLLECTIVE_MODE=always --
    echo "bytes over the link: plain $plain, with zmpi $packed"
    # What the program gathers between its two ranks is 1.5 MB, most of it doubles.
    ((plain > 1000000)) || fail "the ranks did not talk over the link"
    ((packed < plain * 3 / 4)) || fail "zmpi did not make it less"
    down
}

test_storage() {
    local start micros
    [[ -x $SLOWFS ]] || skip "slowfs was not built: needs libfuse3-dev"
    up --nodes 2
    rm -rf slow && mkdir slow
    cluster storage --rate 500M slow || (($? != 3)) || skip "no FUSE here"
    # A machine under load takes longer, but never less.
    cluster storage --rate 8M slow
    start=${EPOCHREALTIME/./}
    cluster node n1 dd if=/dev/zero of=slow/zeros bs=64K count=64 2>/dev/null
    micros=$((${EPOCHREALTIME/./} - start))
    ((micros > 450000)) || fail "4 MiB at 8 MB/s took $micros microseconds"
    cluster storage --rate 500M slow

    make_field
    cluster run -- "$ZMPI_TEST_BIN/field_io" write -t f32 -d 64x64x64 field slow/plain
    cluster run -x LD_PRELOAD="$ZMPI_TEST_LIB" -x ZMPI_ERROR_BOUND=abs=1e-3 -- \
        "$ZMPI_TEST_BIN/field_io" write -t f32 -d 64x64x64 field slow/packed
    cluster run -x LD_PRELOAD="$ZMPI_TEST_LIB" -- \
        "$ZMPI_TEST_BIN/field_io" check -t f32 -d 64x64x64 -e 1e-3 field slow/packed
    [[ $(cluster node n1 stat -f -c %T slow) == fuse* ]] || fail "n1 does not see slow storage"
    down
    ! grep "$PWD/slow" /proc/mounts || fail "still mounted"
    cmp field slow/plain
    "$ZMPI_TEST_BIN/zmpi" verify slow/packed
    rm -rf slow field
}

# A file system of servers: what one node writes another reads, and it goes over the server's link.
test_gluster() {
    command -v glusterd >/dev/null || skip "no GlusterFS here"
    up --nodes 2 --servers 1
    rm -rf shared && mkdir shared
    cluster storage --gluster shared || (($? != 3)) || skip "no GlusterFS for this user"
    make_field
    cluster run -- "$ZMPI_TEST_BIN/field_io" write -t f32 -d 64x64x64 field shared/plain
    (($(wire s0) > 1048576)) || fail "nothing went to the server"
    cluster node n1 cmp field shared/plain
    cluster run -x LD_PRELOAD="$ZMPI_TEST_LIB" -x ZMPI_ERROR_BOUND=abs=1e-3 -- \
        "$ZMPI_TEST_BIN/field_io" write -t f32 -d 64x64x64 field shared/packed
    cluster run -x LD_PRELOAD="$ZMPI_TEST_LIB" -- \
        "$ZMPI_TEST_BIN/field_io" check -t f32 -d 64x64x64 -e 1e-3 field shared/packed
    cluster node n0 "$ZMPI_TEST_BIN/zmpi" verify shared/packed
    down
    rm -rf shared field
}

# A run on a cluster of its own is ended from outside.
test_killed() {
    local signal script namespace tries
    up --nodes 1 # can it be done here?
    down
    for signal in TERM KILL; do
        rm -f started
        # shellcheck disable=SC2016 # for that shell
        "$ZMPI_TEST_SOURCE/scripts/cluster.sh" --name "$name" run --nodes 2 -n 1 -- \
            bash -c 'readlink /proc/self/ns/pid >started.new && mv started.new started; sleep 1000' &
        script=$!
        for ((tries = 0; tries < 200; tries++)); do
            [[ ! -e started ]] || break
            sleep 0.1
        done
        namespace=$(<started)
        kill -"$signal" "$script"
        ! wait "$script" || fail "a run that was killed says that it went well"
        none_left "$namespace"
        "$ZMPI_TEST_SOURCE/scripts/cluster.sh" --name "$name-run$script" down # the folder that SIGKILL leaves
        echo "after SIG$signal: none left"
    done
}

"test_$1"

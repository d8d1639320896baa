#!/bin/bash
# cluster.sh: a cluster on one machine, to run MPI programs over slow links and on slow storage.
#
#   scripts/cluster.sh up [--nodes N] [--link RATE] [--servers N] [--server-link RATE]
#   scripts/cluster.sh run [-n RANKS] [-x NAME=VALUE]... -- PROGRAM [ARGUMENT...]
#   scripts/cluster.sh node NODE COMMAND [ARGUMENT...]
#   scripts/cluster.sh storage --rate BYTES DIR
#   scripts/cluster.sh storage --gluster DIR
#   scripts/cluster.sh status
#   scripts/cluster.sh down
#
# up       N nodes (4), n0, n1, ..., on one switch, each by a full-duplex link of RATE (1gbit; 200mbit, 2.5gbit, or none:
#          not limited). Servers (0), s0, s1, ..., are on the same switch and run no ranks.
# run      PROGRAM under Open MPI's mpirun (MPIEXEC names another one), one rank per node or RANKS in blocks, TCP between
#          nodes. -x as for mpirun. With the options of up: on a cluster of its own that ends with the program.
# node     COMMAND on one node.
# storage  what nodes write to DIR and read from there goes at BYTES a second together (200M, 1G: decimal), each way;
#          outside the cluster DIR is as ever. With --gluster: DIR is GlusterFS on the servers, behind their links.
# status   nodes, links, and the bytes that crossed each link.
# down     ends everything that runs on the cluster, and the cluster.
#
# --name NAME before the command tells several clusters apart. Needs root or unprivileged user namespaces; exit status 3
# says that this machine lacks something, and the message what. docs/cluster.md has the rest.
set -euo pipefail

scripts=$(realpath "$(dirname "$0")")
# shellcheck source=scripts/lib.sh
. "$scripts/lib.sh"

# lacks MESSAGE...: the machine cannot do this, whatever the arguments.
lacks() {
    printf 'cluster.sh: %s\n' "$*" >&2
    exit 3
}

# need_value OPTION [VALUE]...
need_value() {
    (($# > 1)) || die "$1 needs a value"
}

# check_number OPTION VALUE LEAST MOST
check_number() {
    { [[ $2 =~ ^(0|[1-9][0-9]{0,5})$ ]] && (($2 >= $3 && $2 <= $4)); } ||
        die "$1 must be a number from $3 to $4, not '$2'"
}

# check_link OPTION RATE
check_link() {
    [[ $2 == none || $2 =~ ^[0-9]+(\.[0-9]+)?[mg]bit$ ]] ||
        die "$1 must be a rate such as 200mbit or 2.5gbit, or none, not '$2'"
}

# ---- where a cluster's state is ----

name=default
if [[ ${1-} == --name ]]; then
    need_value "$@"
    name=$2
    [[ $name =~ ^[A-Za-z0-9_-]{1,40}$ ]] || die "a cluster's name is of letters, digits, _ and -, not '$name'"
    shift 2
fi
if ((EUID == 0)); then
    base=/run/zmpi-cluster
    user_namespace=()
else
    base=${XDG_RUNTIME_DIR:-${TMPDIR:-/tmp}}/zmpi-cluster-$EUID
    user_namespace=(--user --preserve-credentials)
fi

# use NAME: from here on, this cluster.
use() {
    name=$1
    state=$base/$name
    # Process 1 of the cluster, as seen from outside: when it ends, everything in the cluster does.
    init=
    if [[ -s $state/init ]]; then
        local namespace
        read -r init namespace <"$state/init"
        # The number may be another process's by now.
        [[ $(readlink "/proc/$init/ns/pid") == "$namespace" ]] || init=
    fi
}

need_cluster() {
    [[ $init ]] || die "there is no cluster '$name': scripts/cluster.sh up makes one"
}

# enter COMMAND...: on the switch, which is also where mounts appear on all nodes.
enter() {
    nsenter --target "$init" "${user_namespace[@]}" --pid --mount --net --uts --ipc env -C "$PWD" "$@"
}

# on_node NODE COMMAND...
on_node() {
    local node=$1
    shift
    [[ $node =~ ^[ns][0-9]+$ && -s $state/$node.pid ]] || die "cluster '$name' has no node '$node'"
    enter nsenter --target "$(<"$state/$node.pid")" --net --uts --ipc --mount env -C "$PWD" "$@"
}

# ---- up and down ----

nodes=4 link=1gbit servers=0 server_link=

# shape_option OPTION VALUE: is it one that up and run have in common?
shape_option() {
    case $1 in
    --nodes)
        check_number "$1" "$2" 1 100
        nodes=$2
        ;;
    --link)
        check_link "$1" "$2"
        link=$2
        ;;
    --servers)
        check_number "$1" "$2" 0 50
        servers=$2
        ;;
    --server-link)
        check_link "$1" "$2"
        server_link=$2
        ;;
    *) return 1 ;;
    esac
}

# remove_leftovers: what clusters left that were killed. The caller holds the lock.
remove_leftovers() {
    local folder wanted=$name
    for folder in "$base"/*/; do
        [[ -d $folder ]] || continue
        use "$(basename "$folder")"
        [[ $init ]] || rm -rf "$state"
    done
    use "$wanted"
}

# start [COMMAND...]: make the cluster, its process 1 started by COMMAND.
start() {
    local tool
    for tool in ip tc nsenter unshare setpriv flock hostname; do
        PATH=$PATH:/usr/sbin:/sbin command -v "$tool" >/dev/null ||
            lacks "there is no '$tool' here: needs iproute2, util-linux and hostname"
    done
    [[ -d $base ]] || mkdir -m 700 "$base"
    [[ -O $base ]] || die "$base belongs to somebody else"
    local lock
    exec {lock}>"$base/lock"
    flock "$lock"
    remove_leftovers
    [[ ! -e $state ]] || die "cluster '$name' is up already: scripts/cluster.sh down ends it"
    mkdir "$state"

    local create=()
    ((EUID == 0)) || create=(--user --map-root-user)
    # A pipe tells when it is ready. A session of its own, so that a terminal's end or interrupt is not the cluster's.
    local answer builder pid='' word='' status=0
    exec {answer}< <(exec setsid "$@" unshare "${create[@]}" --pid --fork --kill-child --mount --net --uts --ipc \
        "$scripts/cluster/switch.sh" "$state" "$nodes" "$link" "$servers" "${server_link:-$link}" \
        </dev/null 2>"$state/log" {lock}>&-)
    builder=$!
    if read -r pid <&"$answer" && read -r word <&"$answer" && [[ $word == ready ]]; then
        echo "$pid $(readlink "/proc/$pid/ns/pid")" >"$state/init"
        exec {answer}<&- {lock}>&-
        echo "$nodes $link $servers ${server_link:-$link}" >"$state/shape"
        use "$name"
        return
    fi
    wait "$builder" || status=$?
    cat "$state/log" >&2
    rm -rf "$state"
    ((status != 3)) || exit 3
    lacks "the cluster could not be made: new namespaces need root, or a kernel that lets users make them"
}

stop() {
    # First what waits outside for a process inside. Disowned, or this shell would tell that it was killed.
    [[ -z ${job-} ]] || { disown "$job" && kill -KILL -- "-$job"; } 2>/dev/null || true
    if [[ $init ]]; then
        kill -KILL "$init" 2>/dev/null || true
        # The kernel ends every process in there first.
        while [[ -e /proc/$init/ns/pid ]]; do
            sleep 0.05
        done
    fi
    rm -rf "$state"
}

up() {
    while (($#)); do
        need_value "$@"
        shape_option "$1" "$2" || die "up: unknown option '$1'"
        shift 2
    done
    start
    echo "cluster '$name' is up: $nodes nodes, link $link"
}

# ---- run ----

# find_mpirun: sets launcher.
find_mpirun() {
    launcher=${MPIEXEC:-$(command -v mpirun.openmpi || command -v mpirun || true)}
    [[ $launcher ]] || lacks "there is no mpirun: needs Open MPI 4"
    "$launcher" --version 2>/dev/null | grep -qE '\((Open MPI|OpenRTE)\) [34]\.' ||
        lacks "$launcher is not Open MPI 4 (MPICH hangs in MPI_Finalize between network namespaces)"
}

# end_job: the launcher's whole group, at first politely.
end_job() {
    local tries
    [[ $job ]] || return 0
    kill -TERM -- "-$job" 2>/dev/null || true
    for ((tries = 0; tries < 50; tries++)); do
        kill -0 -- "-$job" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -KILL -- "-$job" 2>/dev/null || true
}

run() {
    local ranks='' settings=() own=
    while (($#)) && [[ $1 != -- ]]; do
        need_value "$@"
        case $1 in
        -n)
            check_number -n "$2" 1 10000
            ranks=$2
            ;;
        -x) settings+=(-x "$2") ;;
        *)
            shape_option "$1" "$2" || die "run: unknown option '$1' (the program comes after --)"
            own=yes
            ;;
        esac
        shift 2
    done
    (($# > 1)) || die "run: which program? scripts/cluster.sh run [-n RANKS] -- PROGRAM [ARGUMENT...]"
    shift
    find_mpirun

    job=
    trap 'exit 143' TERM HUP
    trap 'exit 130' INT
    trap end_job EXIT
    if [[ $own ]]; then
        use "$name-run$$"
        trap stop EXIT
        # Killed with this script, even by SIGKILL.
        start setpriv --pdeathsig KILL
    fi
    need_cluster
    read -r nodes _ <"$state/shape"
    [[ $ranks ]] || ranks=$nodes

    local i hosts='' each=$(((ranks + nodes - 1) / nodes))
    for ((i = 0; i < nodes; i++)); do
        hosts+=,n$i:$each
    done
    # In a process group of its own, which must not read from a terminal.
    [[ ! -t 0 ]] || exec </dev/null
    local -x CLUSTER_STATE=$state
    set -m
    on_node n0 "$launcher" --allow-run-as-root -np "$ranks" -H "${hosts#,}" --map-by slot --bind-to none \
        --mca plm rsh --mca plm_rsh_agent "$scripts/cluster/rsh.sh" --mca plm_rsh_no_tree_spawn 1 \
        --mca orte_tmpdir_base "$state/tmp" --mca btl_vader_backing_directory "$state/tmp" \
        --mca oob_tcp_if_include eth0 --mca btl_tcp_if_include eth0 --mca pml ob1 --mca btl tcp,vader,self \
        --mca btl_vader_single_copy_mechanism none --mca mpi_yield_when_idle 1 \
        "${settings[@]}" "$@" <&0 &
    job=$!
    set +m
    local status=0
    wait "$job" || status=$?
    job=
    exit "$status"
}

# ---- node, storage, status ----

node() {
    (($# > 1)) || die "node: scripts/cluster.sh node NODE COMMAND [ARGUMENT...]"
    need_cluster
    on_node "$@"
}

# find_slowfs: sets slowfs.
find_slowfs() {
    slowfs=${SLOWFS:-$scripts/../build/bin/slowfs}
    [[ -x $slowfs ]] || lacks "there is no $slowfs: it is built where libfuse3-dev is (SLOWFS names another one)"
    slowfs=$(realpath "$slowfs")
    [[ -r /dev/fuse && -w /dev/fuse ]] || lacks "cannot open /dev/fuse: no FUSE in this kernel, or not for this user"
}

storage() {
    case $#-${1-} in
    3---rate | 2---gluster) ;;
    *) die "storage: scripts/cluster.sh storage --rate BYTES DIR, or storage --gluster DIR" ;;
    esac
    need_cluster
    local folder=${*: -1}
    [[ -d $folder ]] || die "$folder is not a folder"
    folder=$(realpath "$folder")
    if [[ $1 == --gluster ]]; then
        # shellcheck source=scripts/cluster/gluster.sh
        . "$scripts/cluster/gluster.sh"
        gluster_start "$folder"
        return
    fi
    local rate=$2 unit
    [[ $rate =~ ^[1-9][0-9]{0,11}[KMG]?$ ]] || die "--rate is in bytes a second, such as 200M, not '$rate'"
    unit=${rate##*[0-9]}
    rate=${rate%[KMG]}
    case $unit in
    K) rate=${rate}000 ;;
    M) rate=${rate}000000 ;;
    G) rate=${rate}000000000 ;;
    esac
    find_slowfs
    # The same folder again: with another rate.
    ! grep -qxF "$folder" "$state/slow" 2>/dev/null || enter umount "$folder"
    enter "$slowfs" "$rate" "$folder" "$folder" || lacks "slowfs could not be mounted on $folder"
    grep -qxF "$folder" "$state/slow" 2>/dev/null || echo "$folder" >>"$state/slow"
    echo "nodes of '$name' share $2 bytes a second in $folder"
}

status() {
    need_cluster
    local shape
    read -ra shape <"$state/shape"
    echo "cluster '$name': ${shape[0]} nodes, link ${shape[1]}, ${shape[2]} servers, link ${shape[3]}"
    printf '%-6s %15s %15s\n' node sent received
    # The switch receives what a node sends.
    enter cat /proc/net/dev | sed -n 's/^ *to-\([ns][0-9]*\):/\1 /p' | sort -V |
        awk '{ printf "%-6s %15d %15d\n", $1, $2, $10 }'
}

case ${1-} in
up | run | node | storage | status)
    command=$1
    shift
    use "$name"
    "$command" "$@"
    ;;
down)
    use "$name"
    stop
    ;;
-h | --help) usage ;;
*)
    usage >&2
    exit 2
    ;;
esac

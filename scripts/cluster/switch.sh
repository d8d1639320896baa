#!/bin/bash
# switch.sh STATE NODES LINK SERVERS SERVER-LINK: process 1 of a cluster (scripts/cluster.sh starts it in new namespaces).
#
# Makes the switch, the nodes and their links, and stays. When it is killed the kernel ends every process in its namespace of
# process numbers, and with the processes go all interfaces and mounts: nothing else has to be cleaned up, ever.
#
# Prints its number as seen from outside, then "ready".
set -euo pipefail

# lacks MESSAGE...: end with what this machine cannot do.
lacks() {
    printf 'cluster.sh: %s\n' "$*" >&2
    exit 3
}

state=$1 nodes=$2 link=$3 servers=$4 server_link=$5
PATH=$PATH:/usr/sbin:/sbin

# For TCP to fill a fast link: large frames, and buffers for them.
mtu=9000
settings=(
    'ipv4/tcp_congestion_control=reno'
    'ipv4/tcp_rmem=4096 1048576 8388608'
    'ipv4/tcp_wmem=4096 1048576 8388608'
    'ipv4/tcp_slow_start_after_idle=0'
    'ipv4/tcp_no_metrics_save=1'
)
# Addresses that the kernel makes up: it would talk about them, and the bytes would be counted.
no_ipv6=ipv6/conf/default/disable_ipv6=1

# tune SETTING...: of the network namespace that this runs in.
tune() {
    local setting
    for setting in "$@"; do
        echo "${setting#*=}" >"/proc/sys/net/${setting%%=*}"
    done
}

# shape RATE DEVICE [COMMAND...]: limit what DEVICE sends; COMMAND goes where the device is.
shape() {
    local rate=$1 device=$2 bits
    shift 2
    [[ $rate != none ]] || return 0
    case $rate in
    *gbit) bits=$(awk "BEGIN { printf \"%d\", ${rate%gbit} * 1e9 }") ;;
    *mbit) bits=$(awk "BEGIN { printf \"%d\", ${rate%mbit} * 1e6 }") ;;
    esac
    # A burst of 1 ms, and of two of the largest segments at least. The queue holds more than all TCP windows together: it
    # pushes back on the sender and never drops a packet, as the networks of clusters do.
    local burst=$((bits / 8 / 1000))
    ((burst >= 131072)) || burst=131072
    "$@" tc qdisc replace dev "$device" root tbf rate "$rate" burst "$burst" limit $((512 << 20)) ||
        lacks "cannot limit a link to $rate: no token bucket filter in this kernel (CONFIG_NET_SCH_TBF)?"
}

# add_node NAME ADDRESS RATE
add_node() {
    local node=$1 address=$2 rate=$3 pid
    # Held by a process that sleeps. What is mounted on the switch appears on the nodes, and not the other way.
    # shellcheck disable=SC2016 # for that shell
    read -r pid < <(exec unshare --net --uts --ipc --mount --propagation slave \
        bash -c 'hostname "$1" && echo $$ && exec sleep infinity >/dev/null 2>&1' bash "$node") ||
        lacks "cannot make the namespaces of node $node"
    local inside=(nsenter --target "$pid" --net)
    # shellcheck disable=SC2016 # for that shell
    "${inside[@]}" bash -c "$(declare -f tune)"'; tune "$@"' bash "${settings[@]}" ||
        lacks "cannot set TCP's buffers in a network namespace"
    ip link add "to-$node" mtu $mtu type veth peer name eth0 mtu $mtu netns "$pid" ||
        lacks "cannot make a link: no veth in this kernel (CONFIG_VETH)?"
    ip link set "to-$node" master switch up
    "${inside[@]}" ip address add "$address/16" dev eth0
    "${inside[@]}" ip link set lo up
    "${inside[@]}" ip link set eth0 up
    shape "$rate" eth0 "${inside[@]}"
    shape "$rate" "to-$node"
    echo "$pid" >"$state/$node.pid"
}

read -r outside _ </proc/self/stat
echo "$outside"
mount -t proc proc /proc || lacks "cannot mount /proc in a new namespace: a container needs more privileges"
mount --make-rshared /

# Scratch files of MPI are the cluster's own: two clusters have nodes and processes of the same names.
mkdir "$state/tmp"
mount -t tmpfs tmpfs "$state/tmp"

{
    echo 127.0.0.1 localhost
    for ((i = 0; i < nodes; i++)); do
        echo "10.77.0.$((i + 1)) n$i"
    done
    for ((i = 0; i < servers; i++)); do
        echo "10.77.1.$((i + 1)) s$i"
    done
} >"$state/hosts"
mount --bind "$state/hosts" /etc/hosts || lacks "cannot put other host names in place of /etc/hosts"

if [[ -e /proc/sys/net/${no_ipv6%=*} ]]; then
    settings+=("$no_ipv6")
    tune "$no_ipv6"
fi
hostname switch
ip link set lo up
ip link add switch mtu $mtu type bridge || lacks "cannot make a switch: no bridges in this kernel (CONFIG_BRIDGE)?"
ip link set switch up
for ((i = 0; i < nodes; i++)); do
    add_node "n$i" "10.77.0.$((i + 1))" "$link"
done
for ((i = 0; i < servers; i++)); do
    add_node "s$i" "10.77.1.$((i + 1))" "$server_link"
done

echo ready
exec </dev/null >/dev/null 2>&1
# Processes whose parents are gone become this shell's children: waiting takes note of their ends.
sleep infinity &
wait

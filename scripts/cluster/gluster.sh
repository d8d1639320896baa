# shellcheck shell=bash disable=SC2154 # variables of cluster.sh
# GlusterFS on the servers of a cluster, seen by its nodes. Sourced by scripts/cluster.sh, for `storage --gluster DIR`.

# Caches of clients off: with them a file that one node removes and another makes again is not found. No sharding: with
# several writers it gave wrong sizes and wrong data (GlusterFS 10.3).
gluster_options=(
    performance.quick-read=off performance.io-cache=off performance.read-ahead=off
    performance.open-behind=off performance.stat-prefetch=off nfs.disable=on
)
gluster_mount=log-level=WARNING,attribute-timeout=0,entry-timeout=0,negative-timeout=0,direct-io-mode=enable

# gluster_server NODE: a daemon whose files are all its own. Bricks are in memory, in the cluster's scratch folder.
gluster_server() {
    local files=$state/tmp/$1
    # shellcheck disable=SC2016 # for that shell
    on_node "$1" bash -c '
        set -e
        mkdir -p "$1"/{lib,run,log,etc,brick} /var/lib/glusterd /var/run/gluster /var/log/glusterfs
        cp -a /etc/glusterfs/. "$1/etc"
        mount --bind "$1/lib" /var/lib/glusterd
        mount --bind "$1/run" /var/run/gluster
        mount --bind "$1/log" /var/log/glusterfs
        mount --bind "$1/etc" /etc/glusterfs
        exec glusterd -p /var/run/gluster/glusterd.pid --log-level WARNING' bash "$files" ||
        lacks "glusterd does not start on $1"
}

# gluster_command ARGUMENT...: on the first server; what it says only if it fails.
gluster_command() {
    local output
    output=$(on_node s0 gluster --mode=script "$@" 2>&1) || lacks "gluster $*: $output"
}

# gluster_ready COMMAND...: until it succeeds, for 20 seconds.
gluster_ready() {
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.2
    done
    lacks "still fails after 20 seconds: ${*:3}"
}

# gluster_start DIR
gluster_start() {
    local folder=$1 servers bricks=() i option
    ((EUID == 0)) || lacks "GlusterFS needs root"
    command -v glusterd >/dev/null || lacks "there is no glusterd: needs glusterfs-server"
    [[ -r /dev/fuse && -w /dev/fuse ]] || lacks "cannot open /dev/fuse: no FUSE in this kernel?"
    [[ ! -e $state/gluster ]] || die "cluster '$name' has GlusterFS in $(<"$state/gluster") already"
    read -r nodes _ servers _ <"$state/shape"
    ((servers)) || die "cluster '$name' has no servers: scripts/cluster.sh up --servers 1"

    for ((i = 0; i < servers; i++)); do
        gluster_server "s$i"
        gluster_ready on_node "s$i" gluster --mode=script volume info
        bricks+=("s$i:$state/tmp/s$i/brick/b")
    done
    for ((i = 1; i < servers; i++)); do
        gluster_command peer probe "s$i"
    done
    # Peers know each other a little later than the command says.
    gluster_ready on_node s0 gluster --mode=script volume create storage transport tcp "${bricks[@]}" force
    for option in "${gluster_options[@]}"; do
        gluster_command volume set storage "${option%%=*}" "${option#*=}"
    done
    gluster_command volume start storage

    for ((i = 0; i < nodes; i++)); do
        # shellcheck disable=SC2016 # for that shell
        on_node "n$i" bash -c '
            set -e
            mkdir -p "$1"/{run,log} /var/run/gluster /var/log/glusterfs
            mount --bind "$1/run" /var/run/gluster
            mount --bind "$1/log" /var/log/glusterfs
            exec mount -t glusterfs -o "$2" s0:/storage "$3"' bash "$state/tmp/n$i" "$gluster_mount" "$folder" ||
            lacks "n$i cannot mount GlusterFS on $folder"
    done
    echo "$folder" >"$state/gluster"
    echo "nodes of '$name' have GlusterFS on $servers servers in $folder"
}

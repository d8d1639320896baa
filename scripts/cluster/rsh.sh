#!/bin/sh
# rsh.sh NODE COMMAND...: what mpirun uses in place of ssh on a cluster of scripts/cluster.sh.
set -eu
node=$1
shift
exec nsenter --target "$(cat "$CLUSTER_STATE/$node.pid")" --net --uts --ipc --mount sh -c "$*"

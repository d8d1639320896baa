#!/bin/bash
# test_on.sh SUITE [CTEST ARGUMENT...]: run scripts/test.sh on another Debian: trixie, sid.
#
# debootstrap makes the distribution in ${XDG_CACHE_HOME:-~/.cache}/zmpi/SUITE, where it stays for the next time (delete
# the folder to make it anew). There an ordinary user, who may use sudo, builds a copy of this tree and runs the tests.
# ZMPI_TEST_BUILDS, ZMPI_TEST_GROUPS and ZMPI_TEST_RANKS say which of them, as for scripts/test.sh: by default what an MPI
# or a compiler may change, on 1 and 3 ranks. CTest's output is left in build-all/SUITE.log.
# Needs root and a network. Exit status 77, after one line: the distribution cannot be had here.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

[[ ${1-} =~ ^[a-z]+$ ]] || {
    usage >&2
    exit 2
}
suite=$1
shift
folder=${XDG_CACHE_HOME:-$HOME/.cache}/zmpi/$suite
log=build-all/$suite.log

# cannot WHY
cannot() {
    echo "== not tested on $suite: $*"
    exit 77
}

# The mirror that this machine uses for Debian, and how it goes there.
mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' 2>/dev/null |
        grep -m 1 '/debian/*$' || echo http://deb.debian.org/debian
}

make_suite() {
    echo "== making $suite in $folder"
    (need_packages debootstrap) || cannot "no debootstrap"
    rm -rf "$folder.new"
    # What it mounts goes with it, however it ends.
    unshare --mount debootstrap --variant=minbase --include=ca-certificates,sudo "$suite" "$folder.new" "$(mirror)" >"$folder.log" 2>&1 ||
        cannot "debootstrap failed: $(tail -n 1 "$folder.log") (all that was said is in $folder.log)"
    chroot "$folder.new" useradd --create-home --shell /bin/bash user
    echo "user ALL=(ALL) NOPASSWD: ALL" >"$folder.new/etc/sudoers.d/user"
    mv "$folder.new" "$folder"
}

# inside COMMAND...: as root in the distribution, with mounts and processes that end with the command.
inside() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --pid --fork --kill-child bash -c '
        set -e
        root=$1 data=$2
        shift 2
        mount --rbind /dev "$root/dev"
        mount -t proc proc "$root/proc"
        mount -t sysfs -o ro sysfs "$root/sys" || true
        [ ! -d "$data" ] || mount --bind -o ro "$data" "$root/home/user/shared/data"
        chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive http_proxy="$http_proxy" https_proxy="$https_proxy" "$@"' \
        bash "$folder" "$PWD/../shared/data" "$@"
}

((EUID == 0)) || cannot "not root"
unshare --mount --pid --fork true 2>/dev/null || cannot "no mounts of one's own (unshare)"
mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9
[[ -d $folder ]] || make_suite
apt-config dump | grep -E '^Acquire::(https?|ftp|Check-|Retries|ForceIP)' >"$folder/etc/apt/apt.conf.d/99host" || true
cp /etc/resolv.conf /etc/hosts "$folder/etc/"
mkdir -p "$folder/home/user/shared/data"
inside bash -c 'apt-get -q update && apt-get -q -y dist-upgrade' >"$folder.log" 2>&1 ||
    echo "== $suite is as it was, not as of today: $(tail -n 1 "$folder.log")"

# What is in the tree now; builds are made anew, from ccache.
rm -rf "$folder/home/user/zmpi"
mkdir -p "$folder/home/user/zmpi" build-all
if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard
else
    find . -name 'build*' -prune -o -type f -print0
fi | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$folder/home/user/zmpi"
inside chown -R user: /home/user/zmpi
# Sessions of an earlier run's mpirun that was killed: process numbers begin anew, and PRRTE takes no folder that is there.
rm -rf "$folder"/tmp/{prte,prterun,ompi,pmix}.*

# as_user NAME=VALUE... COMMAND...: in the tree.
as_user() {
    # shellcheck disable=SC2016
    inside su user -c 'cd ~/zmpi && exec env "$@"' -- sh "$@"
}

as_user scripts/test.sh --packages >"$folder.log" 2>&1 ||
    cannot "packages cannot be installed: $(tail -n 1 "$folder.log") (all that was said is in $folder.log)"
status=0
as_user ZMPI_TEST_BUILDS="${ZMPI_TEST_BUILDS-build build-mpich}" ZMPI_TEST_GROUPS="${ZMPI_TEST_GROUPS-unit;mpi;cli;install}" \
    ZMPI_TEST_RANKS="${ZMPI_TEST_RANKS-1;3}" ZMPI_TEST_LONG="${ZMPI_TEST_LONG-}" scripts/test.sh "$@" || status=$?
cp "$folder/home/user/zmpi/build-all/ctest.log" "$log" 2>/dev/null || rm -f "$log"
((status == 0)) || die "$suite: failed"

# shellcheck shell=bash disable=SC2154
# Other Debians, and Ubuntu 22.04 (jammy), in folders, for scripts that run as root. Sourced after lib.sh. The caller sets $suite and $folder.

# cannot WHY
cannot() {
    echo "== ${zmpi_script##*/}: not tested on $suite: $*"
    exit 77
}

# The mirror from which this machine gets Debian's packages.
mirror() {
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' 2>/dev/null |
        grep -m 1 '/debian/*$' || echo http://deb.debian.org/debian
}

# Ubuntu's keys. Debian 12 has no package of them, so this takes Debian 13's, and checks it by this checksum.
ubuntu_keys() {
    local package=ubuntu-keyring_2023.11.28.1-0.2_all.deb
    local sum=SHA256:b2e7ed48431bf9e7978ae810bbdaf253093570d6e3f864e575b7c13554b81174
    /usr/lib/apt/apt-helper download-file "$(mirror | sed 's|/*$||')/pool/main/u/ubuntu-keyring/$package" "$folder.deb" "$sum" >"$folder.log" 2>&1 ||
        cannot "$package cannot be had: $(tail -n 1 "$folder.log")"
    rm -rf "$folder.keys"
    dpkg-deb -x "$folder.deb" "$folder.keys"
    rm "$folder.deb"
}

make_suite() {
    local where=("--include=ca-certificates,sudo" "$suite" "$folder.new")
    echo "== making $suite in $folder"
    (need_packages debootstrap) || cannot "no debootstrap"
    rm -rf "$folder.new"
    if [[ $suite == jammy ]]; then
        ubuntu_keys
        where=("--components=main,universe" --keyring="$folder.keys/usr/share/keyrings/ubuntu-archive-keyring.gpg" "${where[@]}"
            http://archive.ubuntu.com/ubuntu)
    else
        where+=("$(mirror)")
    fi
    # Its mounts end with it, however it ends.
    unshare --mount debootstrap --variant=minbase "${where[@]}" >"$folder.log" 2>&1 ||
        cannot "debootstrap failed: $(tail -n 1 "$folder.log") (all that was said is in $folder.log)"
    chroot "$folder.new" useradd --create-home --shell /bin/bash user
    echo "user ALL=(ALL) NOPASSWD: ALL" >"$folder.new/etc/sudoers.d/user"
    mv "$folder.new" "$folder"
}

# inside COMMAND...: as root in the distribution, with mounts and processes that end with the command. It has a /dev/shm of its
# own: OMPIO names a semaphore there after the file, and fails where another user's job opens one of that name.
inside() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare --mount --pid --fork --kill-child bash -c '
        set -e
        root=$1 data=$2
        shift 2
        mount --rbind /dev "$root/dev"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        mount -t proc proc "$root/proc"
        mount -t sysfs -o ro sysfs "$root/sys" || true
        [ ! -d "$data" ] || mount --bind -o ro "$data" "$root/home/user/shared/data"
        chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive http_proxy="$http_proxy" https_proxy="$https_proxy" "$@"' \
        bash "$folder" "$PWD/../shared/data" "$@"
}

# suite_ready [anew]: makes the folder, or a new one, or updates it; no other script may use it meanwhile.
suite_ready() {
    ((EUID == 0)) || cannot "not root"
    unshare --mount --pid --fork true 2>/dev/null || cannot "no mounts of one's own (unshare)"
    mkdir -p "$(dirname "$folder")"
    exec 9>"$folder.lock"
    flock 9
    [[ ${1-} != anew ]] || rm -rf "$folder"
    [[ -d $folder ]] || make_suite
    apt-config dump | grep -E '^Acquire::(https?|ftp|Check-|Retries|ForceIP)' >"$folder/etc/apt/apt.conf.d/99host" || true
    cp /etc/resolv.conf /etc/hosts "$folder/etc/"
    [[ -L $folder/etc/mtab ]] || ln -s ../proc/self/mounts "$folder/etc/mtab" # fusermount3 reads it
    [[ ! -d ../shared/data ]] || mkdir -p "$folder/home/user/shared/data"
    inside bash -c 'apt-get -q update && apt-get -q -y dist-upgrade' >"$folder.log" 2>&1 ||
        echo "== $suite is as it was, not as of today: $(tail -n 1 "$folder.log")"
}

# as_user NAME=VALUE... COMMAND...: runs it as an ordinary user, in ~/zmpi.
as_user() {
    # shellcheck disable=SC2016
    inside su user -c 'cd ~/zmpi && exec env "$@"' -- sh "$@"
}

# suite_copy: copies the tree as it is now to ~/zmpi there. Builds begin anew, from ccache.
suite_copy() {
    local copy=$folder/home/user/zmpi
    rm -rf "$copy"
    mkdir -p "$copy"
    if git rev-parse --git-dir >/dev/null 2>&1; then
        git ls-files -z --cached --others --exclude-standard
    else
        find . -name 'build*' -prune -o -type f -print0
    fi | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$copy"
    inside chown -R user: /home/user/zmpi
}

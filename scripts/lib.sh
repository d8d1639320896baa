# shellcheck shell=bash
# What the scripts share. Sourced, never run; the caller has set -euo pipefail.

zmpi_script=$(realpath "$0") # whatever folder the script goes to

# usage: the comment that the script begins with.
usage() {
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$zmpi_script"
}

# die MESSAGE...: end the script with one line on stderr.
die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# need_packages PACKAGE...: install those Debian packages that are missing; does nothing when none is.
need_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "${0##*/}: not a Debian system: taking for granted that these are installed: $*" >&2
        return
    fi
    local package missing=()
    for package in "$@"; do
        if [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) != installed ]]; then
            missing+=("$package")
        fi
    done
    ((${#missing[@]})) || return 0

    local root=()
    if ((EUID != 0)); then
        command -v sudo >/dev/null || die "needs root or sudo to install: ${missing[*]}"
        root=(sudo)
    fi
    echo "== installing ${missing[*]}" >&2
    "${root[@]}" apt-get -q update >&2 || die "apt-get update failed"
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y --no-install-recommends install "${missing[@]}" >&2 ||
        die "apt-get could not install: ${missing[*]}"
}

# has_package PACKAGE: does this Debian have it?
has_package() {
    [[ $(apt-cache show "$1" 2>/dev/null) ]]
}

# cache_value FOLDER NAME: a setting of the CMake build in FOLDER.
cache_value() {
    sed -n "s/^$2:[A-Z]*=//p" "$1/CMakeCache.txt"
}

# run_mpi LAUNCHER RANKS [NAME=VALUE...] -- PROGRAM [ARGUMENT...]: runs PROGRAM with these settings in its environment. The
# launcher's environment does not get them: nothing must be preloaded into the launcher.
run_mpi() {
    local launcher=$1 ranks=$2 setting options=()
    shift 2
    # Open MPI refuses root and more ranks than cores unless told; others do not know these variables.
    local -x OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
    local -x OMPI_MCA_btl_vader_single_copy_mechanism=none
    if "$launcher" --version 2>&1 | grep -qiE 'open[- ]mpi|openrte'; then
        options+=(--oversubscribe)
        while [[ $1 != -- ]]; do
            options+=(-x "$1")
            shift
        done
    else
        while [[ $1 != -- ]]; do
            setting=$1
            options+=(-genv "${setting%%=*}" "${setting#*=}")
            shift
        done
    fi
    shift
    "$launcher" "${options[@]}" -n "$ranks" "$@"
}

# alone COMMAND...: runs a tool that loads nothing of zmpi's, without what is preloaded: sanitized builds preload libasan into
# HDF5's tools, since these load the filter. Behind it tools never end after an error of HDF5, such as h5ls FILE/GROUP, which
# tries FILE/GROUP as a file first: libp11-kit's destructor (of libcurl) waits for glibc's lock of locales, which has one
# reader less than none then.
alone() {
    env -u LD_PRELOAD "$@"
}

# Every script says how it is used. A script that is sourced without arguments has those of its caller.
if [[ ${1-} == --help ]]; then
    usage
    exit 0
fi

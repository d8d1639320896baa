#!/bin/bash
# test_on.sh SUITE [CTEST ARGUMENT...]: runs scripts/test.sh on another Debian or on Ubuntu 22.04: trixie, sid, jammy.
# test_on.sh SUITE prepare: only makes it and installs packages.
# test_on.sh SUITE toolchains [JOB...]: runs scripts/test_toolchains.sh there.
# test_on.sh SUITE readme: the two commands of README's "Try it" in a new SUITE where nothing is installed: demo.sh, and all of
# test.sh, whatever the variables below say. The folder SUITE.readme stays until the next time.
#
# debootstrap makes the distribution in ${XDG_CACHE_HOME:-~/.cache}/zmpi/SUITE, which stays for the next time; delete the folder to
# make it anew. There an ordinary user, who may use sudo, builds a copy of this tree and runs the tests. ZMPI_TEST_BUILDS,
# ZMPI_TEST_GROUPS and ZMPI_TEST_RANKS choose tests, as for scripts/test.sh; by default those that an MPI or a compiler may change,
# on 1 and 3 ranks. CTest's output is in build-all/SUITE.log.
# It needs root and a network. Exit status 77, after one line: the distribution cannot be had here.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
# shellcheck source=scripts/lib_suite.sh
. scripts/lib_suite.sh

[[ ${1-} =~ ^[a-z]+$ ]] || {
    usage >&2
    exit 2
}
suite=$1
shift
folder=${XDG_CACHE_HOME:-$HOME/.cache}/zmpi/$suite
log=build-all/$suite.log

# Objects come from the other folder's ccache, if there is one; packages come from the network.
if [[ ${1-} == readme ]]; then
    cached=$folder/home/user/.cache
    folder=$folder.readme log=build-all/$suite.readme.log
    suite_ready anew
else
    suite_ready
fi

mkdir -p build-all
suite_copy
# An earlier run whose mpirun was killed leaves sessions. Process numbers begin anew here, and PRRTE refuses a folder that exists.
rm -rf "$folder"/tmp/{prte,prterun,ompi,pmix}.*

if [[ ${1-} == readme ]]; then
    if [[ -d $cached ]]; then
        cp -a "$cached" "$folder/home/user/"
        inside chown -R user: /home/user/.cache
    fi
    status=0
    as_user scripts/demo.sh || status=$?
    as_user scripts/test.sh || status=$?
    cp "$folder/home/user/zmpi/build-all/ctest.log" "$log" 2>/dev/null || rm -f "$log"
    ((status == 0)) || die "$suite: failed"
    exit
fi
as_user scripts/test.sh --packages >"$folder.log" 2>&1 ||
    cannot "packages cannot be installed: $(tail -n 1 "$folder.log") (all that was said is in $folder.log)"
[[ ${1-} != prepare ]] || exit 0
if [[ ${1-} == toolchains ]]; then
    as_user scripts/test_toolchains.sh "${@:2}"
    exit
fi
status=0
as_user ZMPI_TEST_BUILDS="${ZMPI_TEST_BUILDS-build build-mpich}" ZMPI_TEST_GROUPS="${ZMPI_TEST_GROUPS-unit;mpi;cli;install}" \
    ZMPI_TEST_RANKS="${ZMPI_TEST_RANKS-1;3}" ZMPI_TEST_LONG="${ZMPI_TEST_LONG-}" scripts/test.sh "$@" || status=$?
cp "$folder/home/user/zmpi/build-all/ctest.log" "$log" 2>/dev/null || rm -f "$log"
((status == 0)) || die "$suite: failed"

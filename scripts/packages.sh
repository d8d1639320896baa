#!/bin/bash
# packages.sh: makes an archive and Debian packages of this tree, for this distribution, in build-packages/packages.
# packages.sh --try [SUITE]: also installs them in a Debian, uses them there as an ordinary user with Open MPI and MPICH, and removes
# them again, after which no file may be left.
#
# Without SUITE it tries them in a Debian of this release that has nothing else. It makes this in
# ${XDG_CACHE_HOME:-~/.cache}/zmpi/RELEASE-packages and keeps it for the next time. With SUITE it builds and tries them in the folder
# that test_on.sh SUITE makes. ZMPI_CMAKE_OPTIONS: more options for CMake. With the same options as the tests' build, objects come
# from ccache. --try needs root and a network. Exit status 77, after one line: it cannot be tried here.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
# shellcheck source=scripts/lib_suite.sh
. scripts/lib_suite.sh

[[ $# == 0 || $* == --try || $* =~ ^--try\ [a-z]+$ ]] || {
    usage >&2
    exit 2
}

make_packages() {
    need_packages cmake ninja-build gcc pkg-config python3 dpkg-dev libopenmpi-dev libmpich-dev libxxhash-dev \
        libfabric-dev nettle-dev libfuse3-dev libhdf5-dev
    if has_package libadios2-serial-core-dev; then # since Debian 13
        need_packages libadios2-serial-core-dev g++
    fi
    launcher=()
    if command -v ccache >/dev/null; then
        launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
        export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
    fi
    # shellcheck disable=SC2086 # several words are meant
    cmake -G Ninja -S . -B build-packages --log-level=WARNING -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=OFF \
        -DMPI_C_COMPILER=mpicc.openmpi "${launcher[@]}" ${ZMPI_CMAKE_OPTIONS-}
    cmake --build build-packages --parallel "$(nproc)"
    rm -rf build-packages/packages
    (cd build-packages && cpack -B packages) >build-packages/cpack.log 2>&1 || die "cpack failed: $(tail -n 3 build-packages/cpack.log)"
    rm -rf build-packages/packages/_CPack_Packages
    ls -l build-packages/packages
}

if [[ ${2-} == '' ]]; then
    make_packages
    [[ ${1-} == --try ]] || exit 0
fi

# ---- tried ----

if [[ ${2-} ]]; then
    suite=$2
    folder=${XDG_CACHE_HOME:-$HOME/.cache}/zmpi/$suite
    suite_ready
    suite_copy
    as_user "ZMPI_CMAKE_OPTIONS=${ZMPI_CMAKE_OPTIONS-}" scripts/packages.sh >"$folder.log" 2>&1 ||
        die "$suite: $(tail -n 20 "$folder.log") (all that was said is in $folder.log)"
    built=$folder/home/user/zmpi/build-packages/packages
else
    suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    folder=${XDG_CACHE_HOME:-$HOME/.cache}/zmpi/$suite-packages
    [[ $suite ]] || cannot "no Debian"
    suite_ready
    rm -rf "$folder/home/user/zmpi"
    built=build-packages/packages
fi
tree=$folder/home/user/zmpi/use
mkdir -p "$tree"
cp "$built"/*.deb scripts/check_links.py "$tree"
inside chown -R user: /home/user/zmpi
# Programs for both MPIs, as users bring them along. They are built there if there are compilers, otherwise here.
compile() {
    mpicc."$1" -O1 -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -Ipmpi/perf -o "$2/field_io.$1" tests/apps/field_io.c \
        tests/apps/field_io_posix.c pmpi/perf/app_common.c -lm
}
for mpi in openmpi mpich; do
    if [[ ${2-} ]]; then
        as_user bash -c "$(declare -f compile); compile $mpi use"
    else
        compile "$mpi" "$tree"
    fi
done
python3 -c '
import array, math, sys
array.array("f", (math.sin(i / 300) for i in range(1 << 20))).tofile(sys.stdout.buffer)' >"$tree/field_64x128x128.f32"
cat >"$tree/use.sh" <<'USE'
set -eux
cd use
export OMPI_MCA_btl_vader_single_copy_mechanism=none
for mpi in openmpi mpich; do
    many=
    [ $mpi = mpich ] || many=--oversubscribe
    mpirun.$mpi $many -n 2 zmpi run -e rel=1e-3 ./field_io.$mpi write -t f32 -d 64x128x128 field_64x128x128.f32 $mpi.out
    [ "$(stat -c %s $mpi.out)" -lt 1000000 ]
    zmpi info $mpi.out | grep -i 'rel=0.001'
    zmpi verify $mpi.out
    file -m /usr/share/zmpi/zmpi.magic $mpi.out | grep -i zmpi
    zmpi compare field_64x128x128.f32 $mpi.out
    # The numbers are within the bound: for the program itself, through the view, and in Python.
    mpirun.$mpi $many -n 3 zmpi run ./field_io.$mpi check -t f32 -d 64x128x128 -e 2.1e-3 field_64x128x128.f32 $mpi.out
    zmpi decompress $mpi.out $mpi.plain
    zmpi view cmp $mpi.plain $mpi.out
    python3 /usr/share/doc/zmpi/scripts/zmpi_reader.py cat $mpi.out | cmp - $mpi.plain
    python3 -c 'import sys, zmpi; a = zmpi.open(sys.argv[1], dtype="f4"); assert a.shape[-1]; print(a.shape)' $mpi.out
done
# The site's file is read.
zmpi options error_bound | grep 'now rel=1e-05 (site of /etc/zmpi/zmpi.conf)'
mpirun.mpich -n 2 zmpi run ./field_io.mpich write -t f32 -d 64x128x128 field_64x128x128.f32 never.rst
cmp field_64x128x128.f32 never.rst
zmpi-nicd --help >/dev/null
HDF5_PLUGIN_PATH=$(dirname "$(find /usr/lib -name libh5zmpi.so)")
[ -d "$HDF5_PLUGIN_PATH" ]
if ls zmpi-adios2_*.deb; then
    ldd "$(find /usr/lib -name libzmpi_adios2.so)" | grep 'libzmpi_codec.so.0 => /'
fi
# The benchmark finds its library; man pages and completion are there.
mpirun.openmpi --oversubscribe -n 2 zmpi-perf -s 1M -n 1 -w 1 -o write_at_all,gather | grep 'rel=1e-3'
bash -c '. /usr/share/bash-completion/completions/zmpi; complete -p zmpi'
# Documents, with links that lead somewhere; an example that they name, built; the reader that needs no zmpi.
[ -f /usr/share/doc/zmpi/docs/guide.md ]
python3 check_links.py /usr/share/doc/zmpi
python3 /usr/share/doc/zmpi/scripts/zmpi_reader.py cat mpich.out | cmp - mpich.plain
if command -v cc && command -v pkg-config; then
    cc /usr/share/doc/zmpi/docs/examples/read_container.c $(pkg-config --cflags --libs zmpi_codec) -o read_container
    ./read_container mpich.out
fi
zcat -f /usr/share/man/man1/zmpi-run.1* | grep -q 'zmpi run'
USE
packages=$(cd "$tree" && echo *.deb)
ours() {
    inside find / -xdev '(' -path /home -o -path /var/tmp/zmpi -o -path /proc -o -path /tmp ')' -prune -o -name '*zmpi*' -print
}
before=$(ours)
# apt reads packages as user _apt, who may not read a user's home.
inside bash -c 'rm -rf /var/tmp/zmpi; mkdir /var/tmp/zmpi; cp /home/user/zmpi/use/*.deb /var/tmp/zmpi; cd /var/tmp/zmpi
    apt-get -q -y --no-install-recommends install ./*.deb openmpi-bin mpich python3-numpy file' >"$folder.log" 2>&1 ||
    die "apt-get install failed: $(grep -E '^(E:|dpkg:| .*Depends)' "$folder.log") (all that was said is in $folder.log)"
mkdir -p "$folder/etc/zmpi"
printf '[site]\nnever_files = *.rst\n[*]\nerror_bound = rel=1e-5\n' >"$folder/etc/zmpi/zmpi.conf"
status=0
as_user sh use/use.sh >"$folder.use.log" 2>&1 || status=$?
# shellcheck disable=SC2046 # several words are meant
inside apt-get -q -y purge $(for one in $packages; do echo "${one%%_*}"; done) >>"$folder.log" 2>&1 || die "apt-get purge failed (see $folder.log)"
rm -r "$folder/etc/zmpi" "$folder/var/tmp/zmpi"
left=$(comm -13 <(sort <<<"$before") <(ours | sort))
[[ -z $left ]] || die "left behind: $left"
((status == 0)) || die "$suite: $(tail -n 20 "$folder.use.log")"
echo "== $packages: installed on $suite, used and removed"

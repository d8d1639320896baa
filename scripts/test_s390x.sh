#!/bin/bash
# test_s390x.sh [quick] [-R REGEX]: cross-compiles the codec for s390x, a big-endian machine, and runs its tests in
# qemu-user: it makes the golden files, which an x86-64 made, byte for byte. quick: only these, the kernels and the enhancer's network, a minute.
# Other arguments go to ctest too.
# test_s390x.sh mpi: libzmpi.so with Debian's MPICH for s390x, on two ranks in qemu-user: some programs of tests/mpi. It reads their
# files here, and files from here there. Needs root (debootstrap), a network, and build/. Exit status 77: it cannot be had here.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

# run_mpi2 PROGRAM.c [ARGUMENT...]: compiled, and run on two ranks, with the settings that its first comment names.
run_mpi2() {
    local source=$1 program=build-s390x-mpi/${1##*/} setting
    program=${program%.c}
    shift
    s390x-linux-gnu-gcc -std=gnu17 -O1 -I "$mpi/include/s390x-linux-gnu/mpich" -I tests/mpi -I tests/faults -I codec -I pmpi -o "$program" \
        "$source" "$mpi/lib/s390x-linux-gnu/libmpich.so.12" -lm "-Wl,-rpath-link,$mpi/lib/s390x-linux-gnu,--allow-shlib-undefined"
    local settings=(ZMPI_LEAST_RATIO=0 ZMPI_EXACT_BELOW=0 ZMPI_REPORT_TEXT=off ZMPI_VIEW=off)
    for setting in $(sed -n 's/.*zmpi-test:.* ENV //p' "$source" | head -n 1); do
        settings+=("$setting")
    done
    (cd build-s390x-mpi && env "${settings[@]}" timeout 300 mpirun.mpich -n 2 qemu-s390x -L "$machine" \
        -E LD_PRELOAD="$PWD/lib/libzmpi.so" "../$program" "$@")
}

# MPI on a big-endian machine.
test_mpi() {
    machine=${XDG_CACHE_HOME:-$HOME/.cache}/zmpi/s390x mpi=$machine/usr
    need_packages debootstrap mpich
    local launcher=()
    ! command -v ccache >/dev/null || launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    if [[ ! -d $machine ]]; then
        # Not run, only unpacked.
        debootstrap --arch=s390x --foreign --variant=minbase --include=libmpich-dev bookworm "$machine.new" >"$machine.log" 2>&1 || {
            echo "== ${0##*/}: MPI is not tested on s390x: $(tail -n 1 "$machine.log") (all that was said is in $machine.log)"
            exit 77
        }
        local package
        for package in "$machine".new/var/cache/apt/archives/*.deb; do
            dpkg-deb -x "$package" "$machine.new"
        done
        mv "$machine.new" "$machine"
    fi
    cmake --preset s390x -B build-s390x-mpi --log-level=WARNING -DZMPI_WERROR=ON -DZMPI_CODEC_ONLY=OFF -DBUILD_TESTING=OFF -DZMPI_MPI= \
        -DZMPI_CUDA=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG" -DMPI_C_LIB_NAMES=mpich \
        -DMPI_mpich_LIBRARY="$mpi/lib/s390x-linux-gnu/libmpich.so.12" -DMPI_C_HEADER_DIR="$mpi/include/s390x-linux-gnu/mpich" \
        -DMPI_C_COMPILER_INCLUDE_DIRS="$mpi/include/s390x-linux-gnu/mpich" -DMPIEXEC_EXECUTABLE="$(command -v mpirun.mpich)" \
        "${launcher[@]}" \
        -DCMAKE_EXE_LINKER_FLAGS="-Wl,-rpath-link,$mpi/lib/s390x-linux-gnu,--allow-shlib-undefined"
    cmake --build build-s390x-mpi --parallel "$(nproc)" --target libzmpi.so
    local one
    for one in collectives/gather data/byte_order files/view files/rdwr views/views \
        views/types_f90; do
        echo "== $one"
        run_mpi2 "tests/mpi/$one.c"
    done
    echo "== what one machine writes the other one reads"
    cd build-s390x-mpi
    rm -f {here,there}.*
    python3 -c "
import array
a = array.array('f', (k * k % 10007 / 1024 for k in range(100000)))
a.tofile(open('here.raw', 'wb'))"
    ../build/bin/zmpi compress -t f32 -e abs=1e-3 here.raw here.z
    cd ..
    run_mpi2 tests/cross/mpi_bytes.c here.z there.z
    cd build-s390x-mpi
    ../build/bin/zmpi verify there.z
    ../build/bin/zmpi decompress here.z here.out
    ../build/bin/zmpi decompress there.z there.out
    cmp here.out there.out
}

targets=(all)
if [[ ${1-} == quick ]]; then
    targets=(unit_golden unit_kernels unit_enhance_net unit_enhance_streams)
    set -- -R 'unit\.(golden|kernels|enhance_net|enhance_streams)$' "${@:2}"
fi
need_packages cmake ninja-build pkg-config libxxhash-dev \
    gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user
[[ ${1-} != mpi ]] || {
    test_mpi
    exit
}

# Not -O3: that takes long to compile, and all of it runs in an emulator.
cmake --preset s390x --log-level=WARNING -DZMPI_WERROR=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG"
cmake --build build-s390x --parallel "$(nproc)" --target "${targets[@]}"
if ! command -v qemu-s390x >/dev/null && ! command -v qemu-s390x-static >/dev/null; then
    echo "== s390x: compiled, not run: no qemu-s390x on this machine"
    exit
fi
ctest --test-dir build-s390x --parallel "$(nproc)" --output-on-failure --no-tests=error "$@"

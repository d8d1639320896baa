#!/bin/bash
# test.sh [-R REGEX]: installs what is missing, builds, runs every test. Other arguments go to ctest too.
# test.sh --packages: only installs what is missing.
#
# ZMPI_TEST_LONG=1: random tests run longer, some of them many times. ZMPI_TEST_BUILDS="build build-mpich": only these builds.
# ZMPI_TEST_GROUPS: kinds of tests in the first build. ZMPI_TEST_RANKS: numbers of ranks, except for the sanitized MPI programs.
# tests/CMakeLists.txt says more of both.
#
# Four builds, because each sees what the others cannot: release with Open MPI (everything), AddressSanitizer and
# UndefinedBehaviorSanitizer (the codec, the fuzz targets, a few MPI runs), MPICH (the MPI programs), and the codec for
# AArch64 in an emulator (NEON kernels).
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

builds=${ZMPI_TEST_BUILDS:-build build-asan build-mpich build-arm64}
# wanted FOLDER: is this build one of them?
wanted() {
    [[ " $builds " == *" $1 "* ]]
}

need_packages cmake ninja-build gcc gfortran pkg-config python3 libc6-dev \
    libopenmpi-dev openmpi-bin libmpich-dev mpich libxxhash-dev libcriterion-dev \
    libfabric-dev nettle-dev
# Programs of other people's libraries. Tests of those that cannot be installed are left out.
unseen=()
(need_packages python3-mpi4py libhdf5-openmpi-dev hdf5-tools libpnetcdf-dev pnetcdf-bin) ||
    unseen+=("some programs of mpi4py, HDF5 and PnetCDF")
(need_packages libhdf5-mpich-dev) || unseen+=("HDF5 programs with MPICH")
(need_packages python3-h5py python3-h5py-mpi libnetcdf-mpi-dev libnetcdff-dev netcdf-bin) || unseen+=("h5py and netCDF-4 programs")
(need_packages python3-numpy python3-numcodecs) || unseen+=("arrays of the Python package")
(need_packages python3-zarr python3-xarray) || unseen+=("Zarr and xarray with the Python package")
(need_packages python3-netcdf4 python3-h5netcdf python3-xarray) || unseen+=("netCDF's readers in Python")
(need_packages iproute2 util-linux libfuse3-dev fuse3) || unseen+=("some of a cluster on one machine, and slow storage")
(need_packages libhdf5-dev) || unseen+=("zmpi convert to HDF5 (no libhdf5-dev)")
adios2=libadios2-serial-c++11-dev # since Debian 13
has_package "$adios2" || adios2=libadios2-serial-c++-dev # since 14
(has_package "$adios2" && need_packages "$adios2" adios2-serial-bin g++) || unseen+=("ADIOS2's operator (no $adios2)")
(need_packages libcjson-dev) || unseen+=("zmpi report and zmpi advise (no libcjson-dev)")
(need_packages verilator g++) || unseen+=("the engine in hardware (no verilator)")
(need_packages file) || unseen+=("what file(1) says")
(need_packages mandoc) || unseen+=("man pages (no mandoc)")
(need_packages gnuplot-nox fonts-dejavu-core) || unseen+=("pictures of zmpi-perf and zmpi bench (no gnuplot)")
(need_packages libsimde-dev) || unseen+=("AVX-512 kernels, if this machine lacks it (no libsimde-dev)")
(need_packages ccache) || echo "== no ccache: what two builds share is compiled twice"

[[ ${1-} != --packages ]] || exit 0

jobs=$(nproc)

# MPICH's build shares objects with Open MPI's through ccache, with paths relative to the project.
launcher=()
if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
fi

# configure_and_build PRESET FOLDER OPTION...
configure_and_build() {
    local preset=$1 folder=$2
    shift 2
    echo "== $folder"
    # ON: in build/ it is OFF after README's "Install".
    cmake --preset "$preset" -B "$folder" --log-level=WARNING -Werror=dev -DBUILD_TESTING=ON "${launcher[@]}" "$@"
    cmake --build "$folder" --parallel "$jobs"
}

folders=()
if wanted build; then
    # If nvcc is there: the CUDA plug-in, once, for one kind of GPU.
    configure_and_build release build -DMPI_C_COMPILER=mpicc.openmpi -DZMPI_WERROR=ON -DZMPI_CUDA_ARCHITECTURES=90 \
        ${ZMPI_TEST_GROUPS:+-DZMPI_TEST_GROUPS="$ZMPI_TEST_GROUPS"} ${ZMPI_TEST_RANKS:+-DZMPI_TEST_RANKS="$ZMPI_TEST_RANKS"}
    folders+=(build)
fi
if wanted build-asan; then
    # The vector kernels are not sanitized, so those that this machine cannot run need not be compiled again.
    avx512=("-DZMPI_AVX512=$(grep -qw avx512f /proc/cpuinfo && echo ON || echo OFF)")
    configure_and_build asan build-asan -DMPI_C_COMPILER=mpicc.openmpi -DZMPI_MPI= "${avx512[@]}" \
        -DZMPI_TEST_PREFIX=asan. -DZMPI_TEST_GROUPS="unit;fuzz;mpi;differential" -DZMPI_TEST_RANKS=2 -DZMPI_TEST_IO_COUNT=1
    folders+=(build-asan)
fi
if wanted build-mpich; then
    configure_and_build release build-mpich -DMPI_C_COMPILER=mpicc.mpich -DZMPI_MPI= -DZMPI_WERROR=ON -DZMPI_CUDA=OFF \
        -DZMPI_TEST_PREFIX=mpich. -DZMPI_TEST_GROUPS="mpi;differential" -DZMPI_TEST_RANKS="${ZMPI_TEST_RANKS:-1;2;3}"
    folders+=(build-mpich)
fi
if wanted build-arm64; then
    if (need_packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user) &&
        command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
        # Not -O3: compiling takes long, above all of the kernels, and everything runs in an emulator.
        configure_and_build arm64 build-arm64 -DZMPI_WERROR=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
            -DCMAKE_C_FLAGS_RELWITHDEBINFO="-O2 -DNDEBUG" -DZMPI_KERNEL_OPTIONS=-O1
        folders+=(build-arm64)
    else
        unseen+=("NEON kernels (no aarch64-linux-gnu-gcc or no qemu-aarch64)")
    fi
fi
unseen+=("CUDA on a GPU (an emulator runs it), wafer devices, SmartNIC hardware, more than one machine, parallel file systems")

# One run of CTest for all builds, so that one summary stands at the end.
mkdir -p build-all
for folder in "${folders[@]}"; do
    echo "subdirs(\"$PWD/$folder\")"
done >build-all/CTestTestfile.cmake
status=0
# Two tests for each core: many tests wait for time-outs, starting programs, or each other.
ctest --test-dir build-all --parallel $((jobs * 2)) --output-on-failure --no-tests=error "$@" |
    tee build-all/ctest.log || status=$?
printf '== not tested here: %s\n' "${unseen[@]}"
grep 'tests passed' build-all/ctest.log || true
exit "$status"

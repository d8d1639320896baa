#!/bin/bash
# try_programs.sh [-p] [-b BUILD] [PROGRAM...]: programs of other people's libraries, as Debian has them, with zmpi in front.
#
# Each one runs on 1 to 4 ranks with both of Open MPI's MPI-IO components (ZMPI_TEST_LONG=1: with each on any number), without
# zmpi, without a bound, lossless and with one: tests/libraries/unchanged.sh says what is compared. A line tells the ratios.
# Programs are in tests/programs and tests/apps. What is not installed is left out; -p installs it. All take half an hour:
# this is no test, but where the table in docs/programs.md comes from.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
build=$PWD/build install=no
while getopts b:p option; do
    case $option in
    b) build=$(realpath "$OPTARG") ;;
    p) install=yes ;;
    *) usage >&2 && exit 2 ;;
    esac
done
shift $((OPTIND - 1))
sources=$PWD/tests/programs
unchanged=$PWD/tests/libraries/unchanged.sh
libraries=/usr/lib/$(gcc -print-multiarch)
folder=$build/tried
mkdir -p "$folder"
: "${ZMPI_TEST_IO=romio321 ompio}"
export ZMPI_TEST_IO
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1

# installed PACKAGE...: is all there?
installed() {
    local package
    for package in "$@"; do
        [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] && continue
        [[ $install == yes ]] && need_packages "$package" && continue
        echo "-- no $package"
        return 1
    done
}

# try OPTION... -- PROGRAM...: what unchanged.sh says, in a folder of its own.
try() {
    local options=()
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    rm -rf "${folder:?}/run"
    mkdir "$folder/run"
    (cd "$folder/run" && "$unchanged" "${options[@]}" mpirun.openmpi "$build/lib/libzmpi.so" "$build/bin/zmpi" "$@") || failed+=("$name")
}

# A model in Fortran, netCDF-4 (also the test mpi.storm).
storm() {
    installed gfortran libnetcdff-dev libnetcdf-mpi-dev hdf5-tools || return 0
    mpifort.openmpi -O2 -J"$folder" -I/usr/include tests/apps/storm.f90 "$libraries/libnetcdff.a" -lnetcdf_mpi -o "$folder/storm"
    try -- "$folder/storm" 64 48 24 3 out.h5
}

# PETSc, whose Python finds it by a folder of its version.
petsc() {
    installed python3-petsc4py-real hdf5-tools || return 0
    local kind PYTHONPATH
    PYTHONPATH=$(echo /usr/lib/petscdir/petsc3.*/*-real/lib/python3/dist-packages)
    export PYTHONPATH
    local program=(/usr/bin/python3 "$sources/petsc.py")
    try -- "${program[@]}" hdf5 out.h5
    for kind in vector matrix; do
        echo "$kind in a binary file:"
        try -f out.bin -e ZMPI_FILES='*.bin' -e ZMPI_ELEMENT_TYPE=f64-big -c "${program[*]}" -- "${program[@]}" "$kind" out.bin
    done
}

meep() {
    installed python3-meep-mpi-default python3-matplotlib python3-scipy hdf5-tools || return 0
    try -b abs=1e-8 -d 1.001e-8 -- /usr/bin/python3 "$sources/resonator.py" out.h5
}

med() {
    installed libmedc-dev hdf5-tools || return 0
    mpicc.openmpi -O2 -I/usr/include/hdf5/openmpi "$sources/mesh.c" -lmedC -L"$libraries/hdf5/openmpi" -lhdf5 -lm -o "$folder/mesh"
    try -f out.med -- "$folder/mesh" out.med
}

# deal.II: its libraries name those that they need.
dealii() {
    installed libdeal.ii-dev hdf5-tools || return 0
    local part include=()
    for part in trilinos hdf5/openmpi suitesparse petsc slepc opencascade scotch; do
        include+=("-I/usr/include/$part")
    done
    mpicxx.openmpi -std=c++17 -w "$sources/finite_elements.cc" "${include[@]}" -Wl,--copy-dt-needed-entries -ldeal.ii \
        -o "$folder/finite_elements"
    try -b abs=1e-4 -d 1.001e-4 -- "$folder/finite_elements" out.h5
}

# ADIOS 1: its blocks stand at odd places, so that they are no floats for ZMPI_ELEMENT_TYPE either. Debian's archive wants
# libraries whose development packages it does not name. With MPICH, too.
adios() {
    installed libadios-openmpi-dev libadios-bin || return 0
    mpicc.openmpi -O2 "$sources/blocks.c" -L"$libraries/adios/openmpi" -ladios -L"$libraries/hdf5/openmpi" -lnetcdf_mpi -lhdf5_hl -lhdf5 \
        -lz -lbz2 -lsz -l:liblz4.so.1 -l:libblosc.so.1 -l:libglib-2.0.so.0 -lm -lpthread -o "$folder/blocks"
    try -r 0 -f out.bp -e ZMPI_FILES='*.bp' -e ZMPI_ELEMENT_TYPE=auto -c "$sources/bp_differ.sh" -- "$folder/blocks" out.bp
}

failed=()
(($#)) || set -- storm petsc meep med dealii adios
for name in "$@"; do
    [[ $(type -t "$name") == function ]] || die "$name: no such program"
    echo "== $name"
    "$name"
done
((${#failed[@]} == 0)) || die "differs: ${failed[*]}"

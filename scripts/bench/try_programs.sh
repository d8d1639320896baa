#!/bin/bash
# try_programs.sh [-p] [-b BUILD] [PROGRAM...]: runs programs of other people's libraries, from Debian's packages, with zmpi in
# front. The table in docs/programs.md comes from it. It is no test; all of it takes half an hour.
#
# Each program runs on 1 to 4 ranks with both of Open MPI's MPI-IO components (ZMPI_TEST_LONG=1: each component with every number
# of ranks), without zmpi, without a bound, lossless and with a bound. tests/libraries/unchanged.sh says what is compared. A line
# tells the ratios. The programs are in tests/programs and tests/apps. Programs that are not installed are left out; -p installs
# them. h5py and hdf5 are test suites, which must end as they do without zmpi. hdf5 and flash (PnetCDF's benchmark) need their
# sources, which `apt-get source hdf5 pnetcdf` puts into a folder: SOURCES=FOLDER. netcdf, pnetcdf and cgns write real fields
# of the folder ZMPI_DATA (../shared/data).
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
data=$(realpath "${ZMPI_DATA:-../shared/data}")
wind=$data/les_wmag_91x91x91.f32 # 0.05 to 265.3
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

# A real field by netCDF-4, in C.
netcdf() {
    installed libnetcdf-mpi-dev hdf5-tools || return 0
    [[ -f $wind ]] || { echo "-- no $wind" && return 0; }
    mpicc.openmpi -O2 -I"$libraries/netcdf/mpi/include" "$sources/field.c" -lnetcdf_mpi -o "$folder/field_netcdf"
    try -b abs=0.265 -d 0.266 -f out.nc4 -- "$folder/field_netcdf" "$wind" 91 91 91 out.nc4
}

# The same by PnetCDF, and by its own program that makes files of text.
pnetcdf() {
    installed libpnetcdf-dev pnetcdf-bin || return 0
    [[ -f $wind ]] || { echo "-- no $wind" && return 0; }
    local with=(-b abs=0.265 -d 0.266 -f out.nc -e ZMPI_FILES='*.nc' -e ZMPI_ELEMENT_TYPE=auto -c "$sources/nc_differ.sh")
    mpicc.openmpi -O2 -DPNETCDF "$sources/field.c" -lpnetcdf -o "$folder/field_pnetcdf"
    try "${with[@]}" -- "$folder/field_pnetcdf" "$wind" 91 91 91 out.nc
    od -An -v -w4 -tf4 "$wind" | awk '
        BEGIN { printf "netcdf f { dimensions: z = 91; y = 91; x = 91; variables: float field(z, y, x); data: field = " }
        { printf "%s%s", (NR > 1 ? ", " : ""), $1 }
        END { print "; }" }' >"$folder/field.cdl"
    echo "ncmpigen, which writes by one rank:"
    try "${with[@]}" -n 1 -- ncmpigen -o out.nc "$folder/field.cdl"
}

# CGNS, which Debian builds without MPI: its own program makes a file of a real flow, on a regular grid, and the filter makes
# that smaller.
cgns() {
    installed cgns-convert hdf5-tools || return 0
    local flow=$data/plot3d_combustor_5x25x33x57.f32
    [[ -f $flow ]] || { echo "-- no $flow" && return 0; }
    python3 - "$flow" "$folder" <<'END'
import struct, sys
nx, ny, nz = 57, 33, 25
values = open(sys.argv[1], "rb").read()
points = [(x, y, z) for z in range(nz) for y in range(ny) for x in range(nx)]
with open(sys.argv[2] + "/flow.xyz", "wb") as f:
    f.write(struct.pack("<3i", nx, ny, nz))
    for axis in range(3):
        f.write(struct.pack(f"<{len(points)}f", *(p[axis] for p in points)))
with open(sys.argv[2] + "/flow.q", "wb") as f:
    f.write(struct.pack("<3i4f", nx, ny, nz, 0.5, 0, 1e6, 0) + values)
END
    (
        cd "$folder"
        export HDF5_PLUGIN_PATH=$build/lib/zmpi/hdf5
        rm -f flow.cgns small.cgns
        plot3d_to_cgns -s flow.xyz flow.q flow.cgns >/dev/null
        h5repack -l CHUNK=25x33x57 -f UD=497,0,3,2,1,3 flow.cgns small.cgns # rel=1e-3
        cgnscheck small.cgns >/dev/null
        cgnsdiff -d -t0.78 flow.cgns small.cgns >differ || die "differs: $(head -5 differ)" # 1e-3 of the largest range
        echo "rel=1e-3: $(awk -v a="$(stat -c %s flow.cgns)" -v b="$(stat -c %s small.cgns)" 'BEGIN { printf "%.1f", a / b }') times smaller"
    ) || failed+=("$name")
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

# with HOW COMMAND...: without zmpi, with no bound, or lossless.
with() {
    local how=$1
    shift
    case $how in
    plain) "$@" ;;
    left) env LD_PRELOAD="$build/lib/libzmpi.so" "$@" ;;
    lossless) env LD_PRELOAD="$build/lib/libzmpi.so" ZMPI_ERROR_BOUND=lossless ZMPI_HDF5=container ZMPI_REPORT_TEXT=off "$@" ;;
    esac
}

# h5py's own tests, most of which need one process; those with MPI on two.
h5py() {
    installed python3-h5py-mpi python3-pytest python3-pytest-mpi || return 0
    local tests=/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi/tests how
    local pytest=(/usr/bin/python3 -m pytest -q -p no:cacheprovider --color=no --rootdir="$tests" "$tests")
    local -x H5PY_ALWAYS_USE_MPI=1 PYTHONDONTWRITEBYTECODE=1
    for how in plain left lossless; do
        with "$how" "${pytest[@]}" >"$folder/h5py.$how" 2>&1 || true # some fail without zmpi, too
        mpirun.openmpi --oversubscribe -n 2 bash -c "$(declare -f with); build=$build; with $how ${pytest[*]} --with-mpi -m mpi" \
            >"$folder/h5py_mpi.$how" 2>&1 || failed+=("h5py_mpi.$how")
        echo "$how: $(tail -n 1 "$folder/h5py.$how"); $(grep -a ' passed' "$folder/h5py_mpi.$how" | tail -n 1)"
        cmp <(grep ^FAILED "$folder/h5py.plain") <(grep ^FAILED "$folder/h5py.$how") || failed+=("h5py.$how")
    done
}

# HDF5's parallel tests, compiled against Debian's library. t_shapesame reads what other ranks wrote without H5Fflush.
hdf5() {
    local source test how io mpi_flags
    source=$(echo "${SOURCES-}"/hdf5-*/testpar)
    [[ -d $source ]] || { echo "-- no SOURCES/hdf5-*" && return 0; }
    rm -rf "$folder/hdf5" && mkdir -p "$folder/hdf5/run" && cd "$folder/hdf5/run" || return
    echo 'static const char *config_srcdir = ".";' >../H5srcdir_str.h
    local -x HDF5TestExpress=3 HDF5_PARAPREFIX=.
    mpi_flags=(-O1 -w -I.. -I/usr/include/hdf5/openmpi -I"$source" -I"$source/../src" -I"$source/../test")
    local tests=(testphdf5 t_pread t_pshutdown t_prestart t_init_term t_shapesame t_filters_parallel t_mpi)
    for test in "${tests[@]}"; do
        local files=("$source/$test.c" "$source/../test/h5test.c" "$source/../test/testframe.c")
        [[ $test != testphdf5 ]] || files+=("$source"/t_{dset,file,file_image,mdset,ph5basic,coll_chunk,span_tree,chunk_alloc}.c \
            "$source"/t_{filter_read,prop,coll_md_read}.c)
        mpicc.openmpi "${mpi_flags[@]}" "${files[@]}" -L"$libraries/hdf5/openmpi" -lhdf5 -lm -o "../$test"
    done
    for io in $ZMPI_TEST_IO; do
        for how in plain left lossless; do
            rm -f ./* # what another mode has left
            for test in "${tests[@]}"; do # t_prestart reads what t_pshutdown wrote
                mpirun.openmpi --oversubscribe --mca io "$io" -n 3 bash -c "$(declare -f with); build=$build; with $how ../$test" \
                    >"../$test.$io.$how" 2>&1 && continue
                echo "$test, $io, $how: failed"
                [[ $test.$how == t_shapesame.lossless ]] || failed+=("$test.$io.$how")
            done
        done
    done
    cd "$OLDPWD"
}

# The benchmark of PnetCDF, whose calls have integers and doubles in one: all exact.
flash() {
    installed libpnetcdf-dev pnetcdf-bin gfortran || return 0
    local source modules
    source=$(echo "${SOURCES-}"/pnetcdf-*/benchmarks/FLASH-IO)
    [[ -d $source ]] || { echo "-- no SOURCES/pnetcdf-*" && return 0; }
    modules=$(dirname "$(find "$libraries/fortran" -name pnetcdf.mod | tail -n 1)")
    (cd "$source" && mpifort.openmpi -O2 -w -fallow-argument-mismatch -I. -I"$modules" -DN_DIM=3 -DMAXBLOCKS=100 -DIONMAX=13 \
        get_mfluid_property.F90 flash_release.F90 flash_benchmark_io.F90 checkpoint_ncmpi_parallel.F90 \
        plotfile_ncmpi_parallel.F90 -J"$folder" -lpnetcdf -o "$folder/flash")
    try -r 0 -f f_ncmpi_chk_0000.nc -e ZMPI_FILES='*.nc' -e ZMPI_ELEMENT_TYPE=auto -c "$sources/nc_differ.sh" -- "$folder/flash" -f f_
}

failed=()
(($#)) || set -- storm netcdf pnetcdf cgns petsc meep med dealii adios h5py hdf5 flash
for name in "$@"; do
    [[ $(type -t "$name") == function ]] || die "$name: no such program"
    echo "== $name"
    "$name"
done
((${#failed[@]} == 0)) || die "differs: ${failed[*]}"

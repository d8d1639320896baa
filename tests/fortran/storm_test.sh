#!/bin/bash
# storm_test.sh MPIEXEC LIBZMPI ZMPI STORM: a Fortran program with records in a netCDF-4 file (tests/apps/storm.f90), unchanged.
#
# What libraries/unchanged.sh looks at; and a run that goes on from a compressed file is one that goes on from the plain
# one, within the bound: the program lets no difference grow.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
launcher=$1 lib=$2 zmpi=$3 storm=$4
# Debian's netCDF for Fortran may be bound to one for C that is not parallel.
run_mpi "$launcher" 1 -- "$storm" 64 48 24 1 first.nc >first 2>&1 || ! grep -q 'opened for non-parallel access' first || {
    echo "left out: this netCDF is not parallel"
    exit 77
}
"$(dirname "$0")/../libraries/unchanged.sh" -b abs=1e-3 -d 1.001e-3 -r 5 -f storm.nc "$launcher" "$lib" "$zmpi" \
    "$storm" 64 48 24 3 storm.nc

# bytes FILE VARIABLE: of its values alone, since h5diff would go on to all that shares its dimensions.
bytes() {
    h5dump -d "/$2" -b LE -o "$1.$2" "$1" >dump 2>&1 || die "$1, $2: $(cat dump)"
    cat "$1.$2"
}

# Through the filter the file is HDF5's own; Python's readers find the filter, and containers by zmpi view.
plugin=${zmpi%/bin/*}/lib/zmpi/hdf5
run_mpi "$launcher" 3 LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_HDF5=filter -- "$storm" 64 48 24 3 filtered.nc
HDF5_PLUGIN_PATH=$plugin h5diff -d 1.001e-3 plain filtered.nc || die "filtered.nc: out of bounds"
(($(stat -c %s filtered.nc) * 4 < $(stat -c %s plain))) || die "filtered.nc: $(stat -c %s filtered.nc) of $(stat -c %s plain)"
readers=("$(dirname "$0")/read_netcdf.py" plain)
if [[ $lib = *asan* ]] || ! /usr/bin/python3 -c 'import h5netcdf, netCDF4, xarray' 2>/dev/null; then
    echo "netCDF's readers in Python are left out"
else
    HDF5_PLUGIN_PATH=$plugin /usr/bin/python3 "${readers[@]}" filtered.nc 1.001e-3 || die "filtered.nc: read by Python"
    "$zmpi" view /usr/bin/python3 "${readers[@]}" lossy 1.001e-3 || die "a container: read by Python"
fi

run_mpi "$launcher" 2 -- "$storm" 64 48 24 1 on_plain.nc plain
run_mpi "$launcher" 3 LD_PRELOAD="$lib" -- "$storm" 64 48 24 1 on_lossy.nc lossy
for variable in th qv; do
    h5diff -d 1.001e-3 on_plain.nc on_lossy.nc /$variable || die "$variable: out of the bound after going on"
done
cmp <(bytes on_plain.nc time) <(bytes on_lossy.nc time) || die "it goes on at another time"
! cmp -s <(bytes on_plain.nc th) <(bytes on_lossy.nc th) || die "it did not go on from the compressed file"

# Each variable by a rule of its own: temperature alone is lossy.
cat >rules <<RULES
[hdf5:*]
error_bound = lossless
[hdf5:/th]
error_bound = abs=0.01
RULES
run_mpi "$launcher" 3 LD_PRELOAD="$lib" ZMPI_CONFIG=rules -- "$storm" 64 48 24 3 storm.nc
"$zmpi" decompress storm.nc ruled.nc
for variable in sst qv p u v w time land z; do
    cmp <(bytes plain "$variable") <(bytes ruled.nc "$variable") || die "$variable: not exact"
done
h5diff -d 0.01001 plain ruled.nc /th || die "th: out of its rule's bound"
! h5diff -d 0.001 plain ruled.nc /th >differ || die "th: its rule was not heard"

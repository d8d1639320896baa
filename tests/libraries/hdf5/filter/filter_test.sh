#!/bin/bash
# filter_test.sh MPIEXEC PLUGIN PROGRAM H5REPACK H5DIFF H5DUMP: HDF5's own tools, and h5py and nccopy where they are
# installed, write and read datasets by the filter (codec/hosts/hdf5).
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../../scripts/lib.sh"
launcher=$1 plugin=$2 program=$3 repack=$4 diff=$5 dump=$6
id=497

rm -f ./*.h5 ./*.nc
run_mpi "$launcher" 1 -- "$program" write plain.h5
size() {
    stat -c %s "$1"
}

# packed FILE PARAMETERS [OPTION...]: writes plain.h5 through the filter.
packed() {
    local file=$1 parameters=$2
    shift 2
    "$repack" -l CHUNK=16x100 "$@" -f "UD=$id,0,$(awk -F, '{ print NF }' <<<"$parameters"),$parameters" plain.h5 "$file"
}

# unfiltered PARAMETERS: h5repack writes without the filter if that is missing, or refuses the parameters.
unfiltered() {
    rm -f none.h5
    packed none.h5 "$1" >none.log 2>&1 || true
    [[ ! -e none.h5 ]] || ! "$dump" -pH none.h5 | grep FILTER_ID || die "filtered by $1"
}

HDF5_PLUGIN_PATH=/nowhere unfiltered 1,1,3
export HDF5_PLUGIN_PATH=${plugin%/*}

packed abs.h5 1,1,3
"$diff" -d 1.0001e-3 plain.h5 abs.h5 || die "abs=1e-3: out of bounds"
! "$diff" -d 0.9e-3 plain.h5 abs.h5 >diff.log || die "abs=1e-3: better than that"
(($(size abs.h5) * 3 < $(size plain.h5))) || die "abs=1e-3: $(size abs.h5) of $(size plain.h5)"
"$dump" -pH abs.h5 >dump.txt
grep -q "FILTER_ID $id" dump.txt || die "no such filter: $(cat dump.txt)"
[[ $(grep -c 'PARAMS { 1 1 3 0 2 1 16 100 }' dump.txt) = 9 ]] || die "other parameters: $(grep PARAMS dump.txt)"

# A filtered file goes through the filter again, and back to plain. A program may pass parameters that it found in a file.
"$repack" abs.h5 same.h5
"$diff" abs.h5 same.h5 || die "a copy differs"
"$repack" -f NONE abs.h5 back.h5
"$diff" abs.h5 back.h5 || die "without filter it differs"
HDF5_PLUGIN_PATH=/nowhere "$diff" -d 1.0001e-3 plain.h5 back.h5 || die "back.h5 needs the filter"

packed lossless.h5 0
"$diff" plain.h5 lossless.h5 || die "lossless differs"
packed fle.h5 2,1,4,1
packed interp.h5 2,1,4,3
(($(size interp.h5) < $(size fle.h5))) || die "interp: $(size interp.h5), fle: $(size fle.h5)"
packed pw.h5 5,10,4
"$diff" -p 1.0001e-3 plain.h5 pw.h5 || die "pw_rel=10e-4: out of bounds"

# Another filter in front leaves no floats.
packed shuffled.h5 1,1,3 -f SHUF
"$diff" plain.h5 shuffled.h5 || die "shuffled data are lossy"
packed summed.h5 1,1,3 -f FLET
"$diff" plain.h5 summed.h5 || die "data with checksums are lossy"

for wrong in 9,1,3 2,1,0 1,0,0 1,1,3,4; do
    unfiltered $wrong
done

# HDF5 reports a damaged chunk as an error. h5ls tells where chunks lie.
"${dump/h5dump/h5ls}" -va abs.h5 | awk '$1 ~ /^0x/ && n++ % 10 == 0 { print $3 + 100 }' >places
[[ $(wc -l <places) -ge 3 ]] || die "h5ls tells of $(wc -l <places) chunks"
for at in $(<places); do
    cp abs.h5 bad.h5
    printf 'damaged' | dd of=bad.h5 bs=1 seek=$at conv=notrunc status=none
    status=0
    "$dump" bad.h5 >bad.txt 2>&1 || status=$?
    ((status == 1)) || die "damage at $at: status $status"
done

# h5py, if it is installed for the system's Python, which is /usr/bin/python3.
if /usr/bin/python3 -c 'import h5py; h5py.File' 2>/dev/null; then
    /usr/bin/python3 "$(dirname "$0")/filter_h5py.py" $id
else
    echo "no h5py: left out"
fi
if [[ -x $(command -v nccopy) && -x $(command -v ncgen) ]]; then
    {
        echo 'netcdf field { dimensions: y = 100; x = 200; variables: float rho(y, x); int id(x); data: rho ='
        awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%s%.6f", i ? "," : "", 5 + sin(i / 300.) }'
        echo '; id ='
        awk 'BEGIN { for (i = 0; i < 200; i++) printf "%s%d", i ? "," : "", i }'
        echo '; }'
    } >field.cdl
    ncgen -4 -o field.nc field.cdl
    nccopy -c y/50,x/200 -F "rho,$id,1,1,3" field.nc small.nc
    (($(size small.nc) * 2 < $(size field.nc))) || die "nccopy: $(size small.nc) of $(size field.nc)"
    "$diff" -d 1.0001e-3 field.nc small.nc /rho || die "nccopy: out of bounds"
    ! "$diff" field.nc small.nc /rho >diff.log || die "nccopy: is exact"
    "$diff" field.nc small.nc /id || die "nccopy: integers differ"
else
    echo "no nccopy: left out"
fi

#!/bin/bash
# filtered_test.sh MPIEXEC LIBZMPI PLUGIN PROGRAM H5DIFF H5DUMP ZMPI FAULTY: ZMPI_HDF5=filter (hdf5_filtered.c).
#
# New datasets of floats go through the filter, all others stay as they are. Relative bounds refer to the range over all
# ranks. HDF5's own tools and h5py read the files without MPI.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../../scripts/lib.sh"
launcher=$1 lib=$2 plugin=$3 program=$4 diff=$5 dump=$6 zmpi=$7 faulty=$8
id=497

# run RANKS WHAT FILE NAME=VALUE...
run() {
    local ranks=$1 what=$2 file=$3
    shift 3
    run_mpi "$launcher" "$ranks" ZMPI_EXACT_BELOW=4096 "$@" -- "$program" "$what" "$file" >out.txt 2>log.txt ||
        die "$what $file on $ranks ranks with $*: $(cat log.txt)"
}

# filtered FILE COUNT: checks that so many of its datasets have the filter.
filtered() {
    local found
    "$dump" -pH "$1" >dump.txt
    found=$(grep -c "FILTER_ID $id" dump.txt || true)
    [[ $found = "$2" ]] || die "$1: $found datasets have the filter, not $2"
    [[ $(head -c 8 "$1" | tail -c 7 | head -c 3) = HDF ]] || die "$1: is no HDF5 file"
}

compare() {
    HDF5_PLUGIN_PATH=${plugin%/*} "$diff" "$@"
}

rm -f ./*.h5
run 2 write plain.h5
filter=(LD_PRELOAD="$lib" ZMPI_HDF5=filter)
for ranks in 1 3 4; do
    file=filtered_$ranks.h5
    run $ranks write $file "${filter[@]}" ZMPI_ERROR_BOUND=rel=1e-3
    filtered $file 10
    grep -q "HDF5's own: new datasets with a bound go through zmpi's filter" log.txt || die "$file: not in the report: $(cat log.txt)"
    compare -d 2.0 plain.h5 $file || die "$file: out of bounds"
    # rows 75 to 95 are a chunk, of a range of 9
    ! compare -r -d 0.02 plain.h5 $file /chunked >diff.txt || die "$file: better than its bound"
    grep -q '^\[ 9[0-5] ' diff.txt || die "$file: /chunked has a bound for each chunk"
    for name in /gzip /small; do
        compare plain.h5 $file $name || die "$file: $name differs"
    done
    (($(stat -c %s $file) * 8 < $(stat -c %s plain.h5))) || die "$file: $(stat -c %s $file) bytes"
    # Writes again into existing datasets; reads without HDF5_PLUGIN_PATH.
    run $ranks twice $file "${filter[@]}" ZMPI_ERROR_BOUND=rel=1e-3
    compare -d 2.0 plain.h5 $file || die "$file: out of bounds when written again"
    run $ranks read $file LD_PRELOAD="$lib"
done

# A dataset that no rule names stays as it is. Without a bound all of them do.
printf '[hdf5:/fields/*]\nerror_bound = abs=1e-2\n[hdf5:rho]\nerror_bound = lossless\n' >rules.ini
run 3 write rules.h5 "${filter[@]}" ZMPI_CONFIG=rules.ini
filtered rules.h5 3
compare -d 1.0001e-2 plain.h5 rules.h5 || die "rules.h5: out of bounds"
for name in /rho /big; do
    compare plain.h5 rules.h5 $name || die "rules.h5: $name differs"
done
! compare plain.h5 rules.h5 /fields/p >diff.txt || die "rules.h5: /fields/p is exact"
run 2 write unbound.h5 "${filter[@]}"
filtered unbound.h5 0
compare plain.h5 unbound.h5 || die "unbound.h5: differs"
run 2 write off.h5 "${filter[@]}" ZMPI_OFF=1 ZMPI_ERROR_BOUND=rel=1e-3
filtered off.h5 0
# H5Fcreate over a container makes HDF5's own file.
run 2 write over.h5 LD_PRELOAD="$lib" ZMPI_HDF5=container ZMPI_ERROR_BOUND=rel=1e-3
head -c 5 over.h5 | grep -q ZMPI || die "over.h5: no container"
run 3 write over.h5 "${filter[@]}" ZMPI_ERROR_BOUND=rel=1e-3
filtered over.h5 10
compare -d 2.0 plain.h5 over.h5 || die "over.h5: out of bounds"
# With the filter a file of any name stays an HDF5 file.
run 2 write field.dat "${filter[@]}" ZMPI_ERROR_BOUND=abs=5e10
filtered field.dat 10
compare -d 5e10 plain.h5 field.dat || die "field.dat: out of bounds"

# Rank 1 has a library without the plug-in, or no library: then no rank uses the filter.
own=$(grep -oE '[^:]*/libzmpi\.so[^:]*' <<<"$lib")
rm -rf bare
mkdir bare
cp -L "$own" bare/libzmpi.so
cp -P "${own%/*}"/libzmpi_codec.so* bare/
cat >some.sh <<'END'
#!/bin/bash
[[ ${OMPI_COMM_WORLD_RANK-${PMI_RANK-0}} != 1 ]] || FIRST=$SECOND
LD_PRELOAD=$FIRST exec "$@"
END
chmod +x some.sh
for second in "$PWD/bare/libzmpi.so" ''; do
    run_mpi "$launcher" 2 FIRST="$lib" SECOND="$second" ZMPI_HDF5=filter ZMPI_EXACT_BELOW=4096 ZMPI_ERROR_BOUND=rel=1e-3 -- \
        ./some.sh "$program" write missing.h5 >out.txt 2>log.txt || die "rank 1 with '$second': $(cat log.txt)"
    filtered missing.h5 0
    compare plain.h5 missing.h5 || die "missing.h5: differs, rank 1 with '$second'"
    grep -qE 'bare/zmpi/hdf5/libh5zmpi.so is not there|rank 1 of MPI_COMM_WORLD runs without libzmpi.so' log.txt ||
        die "rank 1 with '$second': not told: $(cat log.txt)"
done

# Rank 1 has other rules, or none: rank 0's apply, in both ways, and a line says so.
printf '[hdf5:*]\nerror_bound = rel=0.1\n[hdf5:/fields/p]\nerror_bound = lossless\n' >other.ini
cat >other.sh <<'END'
#!/bin/bash
[[ ${OMPI_COMM_WORLD_RANK-${PMI_RANK-0}} != 1 ]] || export ZMPI_CONFIG=$OTHER
LD_PRELOAD=$FIRST exec "$@"
END
chmod +x other.sh
for how in filter container; do
    for other in other.ini ''; do
        run_mpi "$launcher" 3 FIRST="$lib" OTHER="$other" ZMPI_CONFIG=rules.ini ZMPI_HDF5=$how ZMPI_EXACT_BELOW=4096 \
            ZMPI_LEAST_RATIO=0 -- ./other.sh "$program" write differ.h5 >out.txt 2>log.txt ||
            die "$how, rank 1 has '$other': $(cat log.txt)"
        grep -q 'rank 1 of MPI_COMM_WORLD, and perhaps others, has other rules than rank 0' log.txt ||
            die "$how, rank 1 has '$other': not told: $(cat log.txt)"
        if [[ $how = filter ]]; then
            filtered differ.h5 3
        else
            rm -f back.h5
            "$zmpi" decompress -k differ.h5 back.h5
            mv back.h5 differ.h5
        fi
        compare -d 1.0001e-2 plain.h5 differ.h5 || die "$how, rank 1 has '$other': out of bounds"
        ! compare plain.h5 differ.h5 /fields/p >diff.txt || die "$how, rank 1 has '$other': /fields/p is exact"
    done
done

# Rank 0's filter runs out of memory, when HDF5 writes fill values (the first chunk) or when the program writes. Then the
# chunk is written as it is, and no rank waits.
cat >some_faulty.sh <<'END'
#!/bin/bash
[[ ${OMPI_COMM_WORLD_RANK-${PMI_RANK-0}} != 0 ]] || FIRST=$FAULTY:$FIRST
LD_PRELOAD=$FIRST exec "$@"
END
chmod +x some_faulty.sh
for ranks in 1 2; do
    for after in 0 1; do
        rm -f faulty.h5
        run_mpi "$launcher" $ranks FIRST="$lib" FAULTY="$faulty" FAULTY_AFTER=$after ZMPI_HDF5=filter ZMPI_ERROR_BOUND=rel=1e-3 \
            ASAN_OPTIONS="${ASAN_OPTIONS-}:allocator_may_return_null=1" ZMPI_EXACT_BELOW=4096 -- timeout 60 ./some_faulty.sh "$program" faulty faulty.h5 >out.txt 2>log.txt ||
            die "a filter without memory on $ranks ranks after $after: $(cat out.txt log.txt)"
        grep -q 'faulty: written' out.txt || die "a filter without memory on $ranks ranks after $after: refused"
        filtered faulty.h5 1
        compare -d 2.0 plain.h5 faulty.h5 /rho || die "a filter without memory on $ranks ranks after $after: out of bounds"
        # HDF5 1.14 writes no fill values there. So there is only one chunk, and another rank may write it.
        ((after == 0 && ranks == 1)) || continue
        compare plain.h5 faulty.h5 /rho || die "a filter without memory on $ranks ranks: lossy"
        [[ $(grep -c 'HDF5 filter: no memory to compress a chunk of [0-9]* bytes: it is written uncompressed' log.txt) = 1 ]] ||
            die "a filter without memory on $ranks ranks: not told: $(cat log.txt)"
    done
done

# zmpi reports what HDF5 refuses: independent transfers always, conversions in HDF5 1.10.
# An independent read after the ranks' write sees the new values: HDF5 does not keep the chunks of an earlier read.
run 2 seen seen.h5 "${filter[@]}" ZMPI_ERROR_BOUND=abs=1e-3
filtered seen.h5 4

for what in alone first converted; do
    run 2 $what $what.h5 "${filter[@]}" ZMPI_ERROR_BOUND=rel=1e-3
    if grep -q refused out.txt; then
        grep -q 'H5Dwrite failed: parallel HDF5 writes datasets with a filter' log.txt || die "$what: not told: $(cat log.txt)"
    else
        [[ $what = converted ]] || die "independent transfers are not refused"
    fi
    run 2 $what $what.h5 LD_PRELOAD="$lib" ZMPI_HDF5=container ZMPI_ERROR_BOUND=rel=1e-3
    grep -q "$what: written" out.txt || die "$what: refused in a container"
done

if /usr/bin/python3 -c 'import h5py; h5py.File' 2>/dev/null; then
    HDF5_PLUGIN_PATH=${plugin%/*} /usr/bin/python3 - <<'END'
import h5py, numpy as np
with h5py.File("plain.h5") as a, h5py.File("filtered_3.h5") as b:
    for name in ("rho", "big", "line", "fields/p", "strided"):
        assert b[name].chunks and np.max(np.abs(a[name][()] - b[name][()])) <= 2.0, name
    assert b["big"].chunks == (2, 500, 1000), b["big"].chunks
END
else
    echo "no h5py: left out"
fi

#!/bin/bash
# random_test.sh MPIEXEC LIBZMPI ZMPI PROGRAM RANKS H5DIFF H5DUMP: random programs of HDF5 (hdf5_random.c) with ZMPI_HDF5.
#
# Each file must hold what its program wrote: exactly, or within the bound, abs, or rel of a call's range. HDF5's tools must
# see the same in it as in the file that the program writes without libzmpi.so, metadata and attributes too. Some programs
# are killed. ZMPI_HDF5=filter is tried, too: on one rank without MPI-IO, and on all ranks with MPI-IO. There one call writes
# each chunk, since HDF5 itself fails or loses data if chunks with a filter are written again. Selections by XOR and NOTB
# are left out, since HDF5 1.10.8 gets them wrong.
# ZMPI_TEST_LONG: 40 times as many programs on one rank, 10 times with the filter and MPI-IO. ZMPI_TEST_SEED: the first seed.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../scripts/lib.sh"
launcher=$1 lib=$2 zmpi=$3 program=$4 ranks=$5 diff=$6 dump=$7
count=20 kills=2 first=${ZMPI_TEST_SEED:-$((ranks * 100000))}
# On several ranks HDF5 1.10.8 loses data in one of 50 such programs, also without zmpi.
((ranks > 1)) || [[ ! ${ZMPI_TEST_LONG:-} ]] || count=1000 kills=40

# run WHAT NAME=VALUE... -- ARGUMENT...
run() {
    local setting=()
    while [[ $1 != -- ]]; do
        setting+=("$1")
        shift
    done
    shift
    run_mpi "$launcher" "$ranks" "${setting[@]}" ZMPI_EXACT_BELOW=256 -- "$program" "$@" >run.log 2>&1
}

# killed NAME=VALUE... -- ARGUMENT...: like run, for a program that kills itself. MPICH 4.2's launcher may end with status 0.
killed() {
    run "$@" || true
    ! grep -q 'not killed' run.log || die "$*: not killed"
}

# same FOLDER WITHIN: checks that its first files are those of plain/, except that floats may differ by WITHIN.
same() {
    local file name
    for file in plain/*."$first".h5 plain/*.$((first + 1)).h5 plain/*.$((first + 2)).h5; do
        name=$1/${file##*/}
        if head -c 5 "$name" | grep -q ZMPI; then
            rm -f back.h5
            "$zmpi" decompress -k "$name" back.h5
        else
            cp "$name" back.h5
        fi
        "$diff" -d "$2" "$file" back.h5 >diff.txt || die "$name: $(head -5 diff.txt)"
        cmp <("$dump" -A "$file" | tail -n +2) <("$dump" -A back.h5 | tail -n +2) || die "$name: other metadata"
    done
}

rm -rf plain exact lossy relative filtered killed back.h5 plain.wrong judged.log
mkdir plain exact lossy relative filtered killed
container=(LD_PRELOAD="$lib" ZMPI_HDF5=container)
# Prints the seeds of the last run with wrong values.
wrong() {
    { grep -oE 'wrong: [0-9]+' run.log || true; } | sort -u | cut -d ' ' -f 2
}

# judge WHAT [WAY...]: an error is not zmpi's if plain HDF5 makes it, too, in one of a few runs in one of the ways.
judge() {
    local found seed way
    found=$(wrong)
    cp run.log judged.log
    for seed in $(comm -13 plain.wrong <(echo "$found")); do
        for _ in {1..6}; do
            for way in "${@:2}"; do
                run -- run plain/again "$seed" 1 0 ${way:+"$way"} || continue 3
                [[ -z $(wrong) ]] || continue 3
            done
        done
        die "$1: $(grep "wrong: $seed" judged.log)"
    done
}

# HDF5 2.2 itself ends some of these programs by an assertion: then it takes others.
for ((tries = 0; ; tries++)); do
    run -- run plain/r "$first" "$count" 0 && break
    grep -q 'H5D.*Assertion' run.log && ((tries < 5)) || die "without zmpi: $(cat run.log)"
    first=$((first + count))
    rm -f plain/*
done
wrong >plain.wrong
for case in exact:lossless:0:0 lossy:abs=1e-3:1e-3:1.1 relative:rel=1e-4:rel=1e-4:0; do
    IFS=: read -r folder bound within least <<<"$case"
    run "${container[@]}" ZMPI_ERROR_BOUND="$bound" ZMPI_LEAST_RATIO="$least" -- run $folder/r "$first" $count "$within" ||
        die "$folder: $(grep -v 'ZMPI:' run.log | head -20)"
    judge $folder ''
    [[ $folder = relative ]] || same $folder "$within"
    grep -lq ZMPI $folder/* || die "$folder: no container"
done
for ((seed = first; seed < first + kills; seed++)); do
    killed "${container[@]}" ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_LEAST_RATIO=0 -- kill killed/k $seed 1 1e-3
    run LD_PRELOAD="$lib" -- after killed/k $seed 1 1e-3 || die "$seed, killed: $(head -20 run.log)"
    [[ -z $(wrong) ]] || die "$seed, killed: $(grep wrong: run.log)"
done

# by_filter FIRST WAY PLAIN...: runs `count` programs with the filter. PLAIN: the ways in which judge runs plain HDF5.
by_filter() {
    local from=$1 way=$2 bound within seed
    run -- run plain/g "$from" "$count" 0 "$3" || die "$3: $(grep -v 'ZMPI:' run.log | head -20)"
    wrong >plain.wrong
    for case in "${cases[@]}"; do
        IFS=: read -r bound within <<<"$case"
        run "${filter[@]}" ZMPI_ERROR_BOUND="$bound" -- run filtered/f "$from" "$count" "$within" "$way" ||
            die "$way, $bound: $(grep -v 'ZMPI:' run.log | head -20)"
        judge "$way, $bound" "${@:3}"
    done
    for ((seed = from; seed < from + kills; seed++)); do
        killed "${filter[@]}" ZMPI_ERROR_BOUND=abs=1e-3 -- kill filtered/k $seed 1 1e-3 "$way"
        run "${filter[@]}" -- after filtered/k $seed 1 1e-3 "$way" || die "$seed, $way, killed: $(head -20 run.log)"
        [[ -z $(wrong) ]] || die "$seed, $way, killed: $(grep wrong: run.log)"
    done
}

filter=(LD_PRELOAD="$lib" ZMPI_HDF5=filter) cases=(lossless:0 abs=1e-3:1e-3 rel=1e-4:rel=1e-4)
# Program 77 writes a part of a chunk; that changes the step of the chunk.
((ranks > 1)) || by_filter "${ZMPI_TEST_SEED:-70}" filter,serial gzip,serial
if ((ranks == 1)); then
    filter+=(ZMPI_CODEC=interp) cases=(abs=1e-3:1e-3)
    by_filter "${ZMPI_TEST_SEED:-170}" filter,serial,interp gzip,serial
    filter=("${filter[@]:0:2}") cases=(lossless:0 abs=1e-3:1e-3 rel=1e-4:rel=1e-4)
fi
count=10 kills=1
[[ ! ${ZMPI_TEST_LONG-} ]] || count=100 kills=4
by_filter "${ZMPI_TEST_SEED:-1}" filter,mpio filter,mpio gzip,mpio
rm -rf plain exact lossy relative filtered killed back.h5 plain.wrong judged.log

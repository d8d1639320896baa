#!/bin/bash
# killed_test.sh MPIEXEC LIBZMPI PROGRAM: HDF5 programs that are killed between their calls (hdf5_killed.c), beside the same
# program without zmpi that is killed in the same place. What its file holds must be in zmpi's, in containers and by
# ZMPI_HDF5=filter: rows, attributes, the size of datasets.
#
# One exception: what ranks wrote independently since the last H5Fflush may be as it was then.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../scripts/lib.sh"
launcher=$1 lib=$2 program=$3
read -ra ios <<<"${ZMPI_TEST_IO:-default}"

# killed NAME POINT HOW NAME=VALUE...: leaves NAME.POINT as the killed program left it.
killed() {
    local file=$1.$2 point=$2 how=$3 io=${ios[$2 % ${#ios[@]}]}
    shift 3
    [[ $io = default || $io = mpich ]] || local -x OMPI_MCA_io=$io
    # MPICH 4.2's launcher may end with status 0.
    run_mpi "$launcher" 2 "$@" -- "$program" write "$file" "$point" ${how:+"$how"} >log 2>&1 || true
    ! grep -q 'not killed' log || die "$file: not killed"
    [[ -e $file ]] || die "$file: was not made: $(cat log)" # HDF5 1.14 may not have written anything yet
}

# compare WAY HOW FLUSHES POINT...: FLUSHES are points, too.
compare() {
    local way=$1 how=$2 flushes=$3 point
    local with=(LD_PRELOAD="$lib" ZMPI_HDF5="$way" ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_EXACT_BELOW=256)
    shift 3
    rm -f plain.* "$way".*
    for point in "$@"; do
        killed plain "$point" "$how"
        killed "$way" "$point" "$how" "${with[@]}"
        if [[ $way = filter ]]; then
            ! head -c 5 "$way.$point" | grep -q ZMPI || die "$way.$point: a container"
        else
            head -c 5 "$way.$point" | grep -q ZMPI || die "$way.$point: no container"
        fi
    done
    run_mpi "$launcher" 1 -- "$program" read 1e-6 plain.* >should 2>log || die "plain: $(cat log)"
    run_mpi "$launcher" 1 LD_PRELOAD="$lib" -- "$program" read 1.001e-3 "$way".* >is 2>log || die "$way: $(cat log)"
    # At each flush plain HDF5 had everything.
    for point in $flushes; do
        (($(grep -c "^$point " should) > 100)) || die "$how: point $point is no flush: $(cut -d ' ' -f 1 should | uniq -c)"
    done
    awk -v flushes="$flushes" '
        BEGIN { n = split(flushes, flush) }
        FNR == NR { if ($4 !~ /[a-z]/) should[$1 " " $2 " " $3] = $4; next }
        $4 ~ /[a-z]/ { print "wrong: " $0; bad = 1 }
        { is[$1 " " $2 " " $3] = $4 }
        END {
            for (row in should) {
                if (is[row] == should[row] && row in is)
                    continue
                split(row, part, " ")
                last = 0
                for (i = 1; i <= n; i++)
                    if (flush[i] <= part[1])
                        last = flush[i]
                same = part[2] == "chunked" && last < part[1] && row in is && is[row] == should[last " " part[2] " " part[3]]
                if (same)
                    kept++
                else {
                    print row ": " is[row] ", not " should[row]
                    bad = 1
                }
            }
            print kept + 0 " rows are as at the last flush"
            exit bad
        }' should is >differ || die "$way: $(head -20 differ)"
    cat differ
}

# Points 13, 19 and 22 are behind an H5Fflush.
compare container '' '13 22' 4 12 13 17 18 20 21 22 26
compare filter once '13 19' 4 12 13 15 17 18 19 23

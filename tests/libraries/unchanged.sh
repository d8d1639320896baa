#!/bin/bash
# unchanged.sh [-b BOUND] [-d DELTA] [-f FILE] [-r LEAST] [-c COMPARE] [-n RANKS] [-e NAME=VALUE]... MPIEXEC LIBZMPI ZMPI PROGRAM...:
# a program that knows nothing of zmpi and writes FILE (out.h5), with zmpi in front and without.
#
# Without a bound FILE is the same bytes, lossless nothing differs, and with BOUND (abs=1e-3) no value by more than DELTA
# (1.001e-3), in a file that is at least LEAST (2; 0: it may stay plain) times smaller. COMPARE DELTA PLAIN OTHER (h5diff -d) compares two files.
# Ratios are those of space on the disk, without holes. -n: on 1 to RANKS ranks (4).
# -e sets what the program's files need (ZMPI_HDF5=container). The program runs on 1 to 4 ranks, with each of Open MPI's
# MPI-IO components ($ZMPI_TEST_IO) in turn, or with ZMPI_TEST_LONG=1 with all on each number of ranks.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
bound=abs=1e-3 delta=1.001e-3 file=out.h5 least=2 compare="h5diff -d" most=4 settings=()
while getopts b:d:f:r:c:n:e: option; do
    case $option in
    b) bound=$OPTARG ;;
    d) delta=$OPTARG ;;
    f) file=$OPTARG ;;
    r) least=$OPTARG ;;
    c) compare=$OPTARG ;;
    n) most=$OPTARG ;;
    e) settings+=("$OPTARG") ;;
    *) die "see its first lines" ;;
    esac
done
shift $((OPTIND - 1))
launcher=$1 lib=$2 zmpi=$3
shift 3
program=("$@")
((${#settings[@]})) || settings=(ZMPI_HDF5=container)
read -ra ios <<<"${ZMPI_TEST_IO:-default}"
[[ ${ios[0]} != default ]] || unset OMPI_MCA_io

# run RANKS AS NAME=VALUE...: the program, whose file becomes AS.
run() {
    local ranks=$1 as=$2
    shift 2
    rm -rf "$file"
    run_mpi "$launcher" "$ranks" "$@" ZMPI_EXACT_BELOW=4096 -- "${program[@]}" >log 2>&1 || die "$as on $ranks ranks: $(cat log)"
    [[ -s $file ]] || die "$as on $ranks ranks: no $file. $(cat log)"
    mv "$file" "$as"
}

# same DELTA OTHER WHAT
same() {
    $compare "$1" plain "$2" >differ 2>&1 || die "$3 on $ranks ranks, $io: $(head -20 differ)"
}

is_container() {
    head -c 5 "$1" | grep -q ZMPI
}

ratio() {
    awk -v a="$(stat -c %s plain)" -v b="$(($(stat -c %b "$1") * 512))" 'BEGIN { printf "%.1f", a / b }'
}

try() {
    local varies=
    run "$ranks" plain TZ=UTC
    # HDF5 has bytes in its metadata that mean nothing, and are not the same in each run, without zmpi either.
    for ((attempt = 1; attempt <= 6; attempt++)); do
        run "$ranks" left LD_PRELOAD="$lib" "${settings[@]}"
        ! cmp -s plain left || break
        run "$ranks" again TZ=UTC
        ! cmp -s again left || break
        cmp -s plain again || varies=1
    done
    if ((attempt > 6)); then
        # Some programs write the time, and not the same file in another second.
        sleep 1
        run "$ranks" again TZ=UTC
        [[ $varies ]] || ! cmp -s plain again || die "without a bound the file differs on $ranks ranks, $io: $(cmp plain left)"
        same 0 left "without a bound"
    fi
    run "$ranks" exact LD_PRELOAD="$lib" ZMPI_ERROR_BOUND=lossless ZMPI_LEAST_RATIO=0 "${settings[@]}"
    rm -f back
    "$zmpi" decompress exact back >log 2>&1 || die "lossless on $ranks ranks, $io: $(cat log)"
    same 0 back lossless
    run "$ranks" lossy LD_PRELOAD="$lib" ZMPI_ERROR_BOUND="$bound" "${settings[@]}"
    cp log report
    lossy=lossy
    is_container lossy || [[ $least == 0 ]] || die "with $bound on $ranks ranks, $io: plain. $(cat report)"
    rm -f back
    if is_container lossy; then
        "$zmpi" decompress lossy back
    else
        mv lossy back
        lossy=back
    fi
    same "$delta" back "$bound"
    ! $compare 0 plain back >differ 2>&1 || echo "$bound on $ranks ranks, $io: nothing differs"
    echo "$ranks ranks, $io: lossless $(ratio exact), $bound $(ratio "$lossy") times smaller"
    awk -v r="$(ratio "$lossy")" -v l="$least" 'BEGIN { exit r >= l }' &&
        die "with $bound on $ranks ranks, $io, only $(ratio "$lossy") times smaller: $(cat report)"
    return 0
}

for ((ranks = 1; ranks <= most; ranks++)); do
    for index in "${!ios[@]}"; do
        [[ ${ZMPI_TEST_LONG-} == 1 || $((ranks % ${#ios[@]})) == "$index" ]] || continue
        io=${ios[index]}
        [[ $io == default ]] || export OMPI_MCA_io=$io
        try
    done
done

#!/bin/bash
# bench_hdf5.sh [-n COUNT] [-c RANKS] [-s MIB] [-r MB] [-f FIELD] [-o PARTS]: what zmpi costs and gains in programs of HDF5.
#
#   -n COUNT    datasets of ten doubles, each with an attribute (10000)
#   -c RANKS    numbers of ranks for the times ("1 2")
#   -s MIB      size of the large dataset (256)
#   -r MB       rate of the slow storage, per second ("200")
#   -f FIELD    raw file of floats for the large dataset (les_wmag of the folder ZMPI_DATA names, ../shared/data, else generated)
#   -o PARTS    which of "instructions times flushes large" (all)
#
# Instructions are those of one rank in user mode, by valgrind, for each dataset: the difference between COUNT / 5 and COUNT / 10
# datasets. Times are medians of 5 runs, in turns. Builds what it needs in build (BENCH_BUILD names another folder).
#
# For root `large` runs before all other work of the machine: the storage's process in real time (chrt), as storage has
# processors of its own, and the program by its session's autogroup. Otherwise it measures other work, too.
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"

# A session of its own, which has an autogroup of its own.
[[ ${BENCH_SESSION-} ]] || BENCH_SESSION=$$ exec setsid --wait "$0" "$@"

count=10000 ranks='1 2' mib=256 rate=200 field='' parts='instructions times flushes large'
while getopts n:c:s:r:f:o:h option; do
    case $option in
    n) count=$OPTARG ;;
    c) ranks=$OPTARG ;;
    s) mib=$OPTARG ;;
    r) rate=$OPTARG ;;
    f) field=$(realpath -e "$OPTARG") ;;
    o) parts=$OPTARG ;;
    h)
        usage
        exit 0
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
done
cd "$(dirname "$0")/../.."
build=${BENCH_BUILD:-build}
[[ -f $build/CMakeCache.txt ]] || cmake --preset release -B "$build" --log-level=WARNING -DMPI_C_COMPILER=mpicc.openmpi
cmake --build "$build" --target libzmpi.so hdf5_speed --parallel "$(nproc)" >/dev/null
mpiexec=$(cache_value "$build" MPIEXEC_EXECUTABLE)
library=$(realpath "$build/lib/libzmpi.so")
program=$(realpath "$build/bin/tests/hdf5_speed")
slowfs=$build/bin/slowfs
if [[ ! $field && -f ${ZMPI_DATA:-../shared/data}/les_wmag_91x91x91.f32 ]]; then
    field=$(realpath "${ZMPI_DATA:-../shared/data}/les_wmag_91x91x91.f32")
fi
folder=$(mktemp -d /dev/shm/bench_hdf5.XXXXXX)
mounted=
cleanup() {
    [[ ! $mounted ]] || fusermount3 -u "$mounted"
    rm -rf "$folder"
}
trap cleanup EXIT

printf '%s\n' '[hdf5:/many*]' 'error_bound = rel=1e-4' '[hdf5:/*/velocity*]' 'error_bound = abs=1e-3' \
    '[hdf5:/few*]' 'error_bound = rel=1e-5' >"$folder/rules"

# settings WAY: sets `given`.
settings() {
    given=(ZMPI_REPORT_TEXT=off)
    case $1 in
    plain) ;;
    off) given+=("LD_PRELOAD=$library" ZMPI_ERROR_BOUND=rel=1e-4) ;;
    container) given+=("LD_PRELOAD=$library" ZMPI_ERROR_BOUND=rel=1e-4 ZMPI_HDF5=container) ;;
    rules) given+=("LD_PRELOAD=$library" "ZMPI_CONFIG=$folder/rules") ;;
    large) given+=("LD_PRELOAD=$library" ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_HDF5=container) ;;
    esac
}

# quotient A B
quotient() {
    python3 -c "print(f'{$1 / $2:.3f}')"
}

# median FILE
median() {
    sort -n "$1" | sed -n "$((($(wc -l <"$1") + 1) / 2))p"
}

# ---- instructions ----

# instructions IO WAY KIND COUNT: of the whole run.
instructions() {
    settings "$2"
    rm -f "$folder"/file*
    env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_io="$1" OMPI_MCA_btl=self,vader "${given[@]}" \
        valgrind --tool=callgrind --callgrind-out-file="$folder/callgrind" "$program" "$3" "$folder/file.h5" "$4" 2>&1 |
        sed -n 's/.*Collected : //p'
}

# each IO WAY KIND: of a dataset.
each() {
    local a b
    a=$(instructions "$1" "$2" "$3" $((count / 10)))
    b=$(instructions "$1" "$2" "$3" $((count / 5)))
    echo $(((b - a) / (count / 5 - count / 10)))
}

count_instructions() {
    local io way plain here line
    echo 'instructions for each dataset, of plain'
    echo
    # shellcheck disable=SC2016 # Markdown
    echo '| MPI-IO | plain | zmpi, `ZMPI_HDF5` not set | `container` | rules that name datasets |'
    echo '| --- | --: | --: | --: | --: |'
    for io in romio321 ompio; do
        plain=$(each "$io" plain few)
        line="| $io | $plain"
        for way in off container rules; do
            here=$(each "$io" "$way" few)
            line+=" | $(quotient "$here" "$plain")"
        done
        echo "$line |"
    done
    echo
}

# ---- times ----

# seconds N WAY ARGUMENT...: appends the wall time to the way's list, and the processor time to another.
seconds() {
    local n=$1 way=$2 user system
    shift 2
    settings "$way"
    rm -f "$folder"/file*
    { TIMEFORMAT='%U %S' && time run_mpi "$mpiexec" "$n" "${given[@]}" -- "$program" "$@" >>"$folder/$way.wall"; } \
        2>"$folder/processor"
    read -r user system < <(tail -1 "$folder/processor")
    python3 -c "print($user + $system)" >>"$folder/$way.processor"
}

measure_times() {
    local n way line
    echo "$count datasets, milliseconds of rank 0 for each; processor time of the whole job, of plain"
    echo
    # shellcheck disable=SC2016
    echo '| ranks | plain | `container` | rules | processor, `container` | rules |'
    echo '| --- | --: | --: | --: | --: | --: |'
    for n in $ranks; do
        rm -f "$folder"/*.wall "$folder"/*.processor
        for _ in 1 2 3 4 5; do
            for way in plain container rules; do
                seconds "$n" "$way" few "$folder/file.h5" "$count"
            done
        done
        line="| $n"
        for way in plain container rules; do
            line+=" | $(python3 -c "print(f'{$(median "$folder/$way.wall") * 1000 / $count:.3f}')")"
        done
        for way in container rules; do
            line+=" | $(quotient "$(median "$folder/$way.processor")" "$(median "$folder/plain.processor")")"
        done
        echo "$line |"
    done
    echo
}

# ---- attributes and flushes ----

measure_flushes() {
    local kind n way each line
    echo 'milliseconds for each'
    echo
    # shellcheck disable=SC2016
    echo '| | ranks | plain | `container` |'
    echo '| --- | --: | --: | --: |'
    for kind in attributes flush; do
        each=3000
        [[ $kind = attributes ]] || each=200
        for n in $ranks; do
            rm -f "$folder"/*.wall
            for _ in 1 2 3 4 5; do
                for way in plain container; do
                    seconds "$n" "$way" $kind "$folder/file.h5" $each
                done
            done
            line="| $kind | $n"
            for way in plain container; do
                line+=" | $(python3 -c "print(f'{$(median "$folder/$way.wall") * 1000 / $each:.3f}')")"
            done
            echo "$line |"
        done
    done
    echo
}

# ---- large ----

measure_large() {
    local n plain here size
    cmake --build "$build" --target slowfs >/dev/null 2>&1 || true
    [[ -x $slowfs ]] || die "there is no $slowfs: it is built where libfuse3-dev is"
    mkdir "$folder/slow" "$folder/under"
    ! echo -20 2>/dev/null >/proc/self/autogroup || echo "this session's autogroup comes first"
    if chrt -f 1 true 2>/dev/null; then
        chrt -f 1 "$slowfs" "${rate}000000" "$folder/under" "$folder/slow"
    else
        "$slowfs" "${rate}000000" "$folder/under" "$folder/slow"
    fi
    mounted=$folder/slow
    echo "a collective H5Dwrite of $mib MiB on storage of $rate MB/s"
    echo
    # shellcheck disable=SC2016
    echo '| ranks | plain, s | `container`, s | ratio | speed-up | of the ratio |'
    echo '| --- | --: | --: | --: | --: | --: |'
    for n in $ranks; do
        rm -f "$folder"/*.wall "$folder"/*.processor
        for _ in 1 2 3 4 5; do
            for way in plain large; do
                seconds "$n" "$way" large "$folder/slow/file.h5" "$mib" ${field:+"$field"}
                size=$(($(stat -c %b "$folder/under/file.h5") * 512)) # not the holes
                rm "$folder/slow/file.h5"
            done
        done
        plain=$(median "$folder/plain.wall")
        here=$(median "$folder/large.wall")
        python3 -c "
ratio = $mib * 2**20 / $size
print(f'| $n | $plain | $here | {ratio:.2f} | {$plain / $here:.2f} | {$plain / $here / ratio:.2f} |')"
    done
    ! echo 0 2>/dev/null >/proc/self/autogroup || true
}

echo "$(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -1), $(nproc) cores; load average $(cut -d' ' -f2 /proc/loadavg)"
echo
for part in $parts; do
    case $part in
    instructions) count_instructions ;;
    times) measure_times ;;
    flushes) measure_flushes ;;
    large) measure_large ;;
    *) die "no such part: $part" ;;
    esac
done

#!/bin/bash
# bench_small.sh [-n PIECES] [-b BYTES] [-r "RANKS..."] [-d FOLDER] [-c]: many small independent writes, with zmpi and without.
#
#   -n PIECES   writes in all, by all ranks together (1000000)
#   -b BYTES    bytes of each (1024)
#   -r RANKS    numbers of ranks ("1 2 4 8 16")
#   -d FOLDER   where the files go (a new one in /tmp); needs twice PIECES x BYTES
#   -c          only what a call costs on files that zmpi leaves alone
#
# Prints tables of seconds (writing with close, opening, reading all back), microseconds for reading a piece by itself in
# the pattern, size of the file against the data, records, bytes of index for each record, and the largest resident memory
# of a rank. Builds what it needs in build.
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"

pieces=1000000 bytes=1024 ranks='1 2 4 8 16' folder='' only_calls=''
while getopts n:b:r:d:ch option; do
    case $option in
    n) pieces=$OPTARG ;;
    b) bytes=$OPTARG ;;
    r) ranks=$OPTARG ;;
    d) folder=$OPTARG ;;
    c) only_calls=yes ;;
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
cmake --build "$build" --target libzmpi.so zmpi_tool small_io --parallel "$(nproc)" >/dev/null
mpiexec=$(cache_value "$build" MPIEXEC_EXECUTABLE)
library=$(realpath "$build/lib/libzmpi.so")
zmpi=$(realpath "$build/bin/zmpi")
small_io=$(realpath "$build/bin/small_io")
if [[ -z $folder ]]; then
    folder=$(mktemp -d /tmp/bench_small.XXXXXX)
    trap 'rm -rf "$folder"' EXIT
fi
file=$folder/small.bin

# with LIBRARY BOUND RANKS ARGUMENT...: small_io, with zmpi if a library is given.
with() {
    local preload=$1 bound=$2 n=$3
    shift 3
    local settings=(ZMPI_REPORT_TEXT=off)
    [[ -z $preload ]] || settings+=("LD_PRELOAD=$preload")
    [[ -z $bound ]] || settings+=("ZMPI_ERROR_BOUND=$bound")
    run_mpi "$mpiexec" "$n" "${settings[@]}" -- "$small_io" "$@"
}

# Bytes of the index's segments and directory, from the header's newer slot (docs/format.md 2.1, 2.3).
index_bytes() {
    python3 - "$1" <<'PY'
import struct, sys
with open(sys.argv[1], "rb") as file:
    head = file.read(512)
    slots = [struct.unpack("<6Q", head[at + 32:at + 80]) for at in (0, 256) if head[at:at + 1] == b"\x89"]
    place, length = max(slots)[2:4]
    file.seek(place)
    directory = file.read(length)
entries = [struct.unpack("<4Q4I", directory[at:at + 48]) for at in range(24, length, 48)]
print(sum(entry[5] for entry in entries), length + sum(24 + (entry[4] + 7) // 8 * 8 for entry in entries))
PY
}

# line NAME LIBRARY BOUND RANKS PATTERN DATA [atomic]
line() {
    local name=$1 preload=$2 bound=$3 n=$4 pattern=$5 data=$6 mode=${7:-}
    local opened wrote peak reopened read read_peak each records=- index=-
    read -r opened wrote peak < <(with "$preload" "$bound" "$n" write "$file" "$pattern" "$data" "$pieces" "$bytes" $mode)
    read -r reopened read read_peak < <(with "$preload" "$bound" "$n" read "$file" "$pattern" "$data" "$pieces" "$bytes")
    read -r _ each _ < <(with "$preload" "$bound" "$n" each "$file" "$pattern" "$data" "$pieces" "$bytes")
    local size
    size=$(stat -c %s "$file")
    if [[ -n $preload ]]; then
        read -r records index < <(index_bytes "$file")
        index=$(python3 -c "print(f'{$index / $records:.1f}')")
    fi
    printf '| %s | %d | %s | %.2f | %.4f | %.2f | %.2f | %.4f | %s | %s | %d | %d |\n' "$pattern" "$n" "$name" "$wrote" \
        "$reopened" "$read" "$(python3 -c "print($each * 1e6 * $n / $pieces)")" \
        "$(python3 -c "print($size / ($pieces * $bytes))")" "$records" "$index" $((peak / 1024)) \
        $((read_peak / 1024))
    rm -f "$file"
}

echo "$pieces writes of $bytes bytes; $(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -1), $(nproc) cores;" \
    "load average $(cut -d' ' -f2 /proc/loadavg)"
if [[ -z $only_calls ]]; then
    echo
    echo '| pattern | ranks | | write, s | open, s | read, s | each, us | file / data | records | index, B/record | peak, MiB | reading |'
    echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
    for pattern in contiguous strided random; do
        for n in $ranks; do
            line plain '' '' "$n" "$pattern" noise
            line 'lossless, noise' "$library" lossless "$n" "$pattern" noise
            line 'abs=0.01, smooth' "$library" abs=0.01 "$n" "$pattern" smooth
        done
    done
    for n in $ranks; do
        line 'lossless, a record each' "$library" lossless "$n" random noise atomic
    done
fi
echo
echo 'microseconds per call on a plain file, one rank: MPI_File_get_position, MPI_File_write_at of 8 bytes'
for round in 1 2 3; do
    echo "  without zmpi      $(with '' '' 1 calls "$file" 300000)"
    echo "  zmpi, no bound    $(with "$library" '' 1 calls "$file" 300000 2>/dev/null)"
    echo "  zmpi, other files $(run_mpi "$mpiexec" 1 "LD_PRELOAD=$library" ZMPI_ERROR_BOUND=lossless 'ZMPI_FILES=*,!*small*' \
        ZMPI_REPORT_TEXT=off -- "$small_io" calls "$file" 300000)"
done

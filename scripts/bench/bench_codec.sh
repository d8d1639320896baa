#!/bin/bash
# bench_codec.sh [-o FOLDER] [-s SIZE] [-e BOUNDS] [-c CODECS] [-r N] [FILE...]: measure the codec, write tables and pictures.
#
#   -o FOLDER   where the results go (bench-results)
#   -s SIZE     fields are repeated until they have this size (256M)
#   -e BOUNDS   bounds, separated by blanks ("rel=1e-3 rel=1e-4 lossless")
#   -c CODECS   encoders, separated by blanks ("fle huffman interp")
#   -r N        repetitions (7)
#   FILE...     raw fields NAME_NZxNYxNX.f32 or .f64, beside a generated smooth one
#
# It writes results.json (everything), table.md, throughput.png, rate_distortion.png and slice.png. It installs what is missing,
# and builds. SZ3=PATH names the command line tool of SZ3, which no Debian package has: then sz3.md compares with it.
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../lib.sh"

out=bench-results size=256M bounds='rel=1e-3 rel=1e-4 lossless' codecs='fle huffman interp' repetitions=7
while getopts o:s:e:c:r:h option; do
    case $option in
    o) out=$OPTARG ;;
    s) size=$OPTARG ;;
    e) bounds=$OPTARG ;;
    c) codecs=$OPTARG ;;
    r) repetitions=$OPTARG ;;
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
shift $((OPTIND - 1))

# Paths on the command line are the caller's; everything else is relative to the project.
out=$(realpath -m "$out")
fields=()
for file in "$@"; do
    fields+=("$(realpath -e "$file")")
done
cd "$(dirname "$0")/../.."

need_packages cmake ninja-build gcc pkg-config python3 libc6-dev libopenmpi-dev openmpi-bin libxxhash-dev \
    libzfp-dev liblz4-dev libzstd-dev gnuplot-nox fonts-dejavu-core

build=${BENCH_BUILD:-build}
if [[ ! -f $build/CMakeCache.txt ]]; then
    cmake --preset release -B "$build" --log-level=WARNING -DMPI_C_COMPILER=mpicc.openmpi -DBUILD_TESTING=OFF
fi
cmake --build "$build" --target zmpi_tool --parallel "$(nproc)" >/dev/null
zmpi=$(realpath "$build/bin/zmpi")
mkdir -p "$out"
raw=$out/raw
rm -rf "$raw"
mkdir "$raw"

# bench NAME OPTION... [FILE]: one run of zmpi bench, its JSON to raw/NAME.json.
bench() {
    local name=$1
    shift
    "$zmpi" bench --json "$@" >"$raw/$name.json"
}

# bench_codecs NAME OPTION...: by each encoder; the other libraries only once.
bench_codecs() {
    local name=$1 codec peers=--peers
    shift
    for codec in $codecs; do
        bench "$name-$((n += 1))" --codec "$codec" $peers "$@"
        peers=
    done
}

echo "== throughput: $bounds, $size, $codecs" >&2
n=0
for file in "" "${fields[@]}"; do
    for bound in $bounds; do
        bench_codecs speed -e "$bound" --size "$size" --repetitions "$repetitions" --threads "1..$(nproc)" ${file:+"$file"}
    done
done

echo "== rate and distortion" >&2
for file in "" "${fields[@]}"; do
    for bound in 3e-2 1e-2 3e-3 1e-3 3e-4 1e-4 3e-5 1e-5 3e-6 1e-6; do
        bench_codecs quality -e "rel=$bound" --size 16M --repetitions 1 --threads 1 ${file:+"$file"}
    done
done

if [[ -z ${SZ3:-} ]]; then
    echo "== no SZ3: the variable SZ3 does not name its command line tool" >&2
elif ((${#fields[@]} > 0)); then
    echo "== SZ3" >&2
    python3 scripts/bench/bench_sz3.py -e "$bounds" -r "$repetitions" "$zmpi" "${fields[@]}" >"$out/sz3.md"
fi

echo "== pictures" >&2
# The machine's load belongs to the figures: this process's one to nproc threads, and what others ran.
load=$(cut -d' ' -f2 /proc/loadavg)
machine="$("$zmpi" --version | head -1) on $(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -1), $(nproc) cores, load average $load, $(date -u +%Y-%m-%dT%H:%M:%SZ)"
python3 scripts/bench/bench_tables.py --machine "$machine" --zmpi "$zmpi" \
    "$out" ${fields[0]+"${fields[0]}"}
for picture in throughput rate_distortion slice; do
    (cd "$out/raw" && gnuplot "$picture.gp" && mv "$picture.png" ..)
done
ls -l "$out"/*.png "$out"/*.md "$out"/*.json >&2

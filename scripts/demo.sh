#!/bin/bash
# demo.sh: what zmpi does to a program that knows nothing of it.
#
#   scripts/demo.sh                            a seismic wave simulation
#   scripts/demo.sh FILE.f32 NZxNYxNX [BOUND]  your own raw field (f64 if the name ends in .f64)
#
# Installs what is missing, builds, runs the program twice on 4 ranks, plain and with libzmpi.so preloaded, and compares.
# BOUND is rel=V (of the value range, as in rel=1e-3, the default), abs=V or lossless. DEMO_RANKS=N takes N ranks.
set -euo pipefail

# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

# Paths on the command line are the caller's; everything else is relative to the project.
field=${1-}
[[ $field != -h && $field != --help ]] || { usage; exit 0; }
[[ -z $field || $field == /* ]] || field=$PWD/$field
cd "$(dirname "$0")/.."

ranks=${DEMO_RANKS:-4}
bound=${3:-rel=1e-3}

# check_field: the user's field must be what the command line says.
check_field() {
    [[ $dims =~ ^[1-9][0-9]*(x[1-9][0-9]*)*$ ]] ||
        die "'$dims' is not a shape such as 40x128x128 (slowest dimension first)"
    [[ -f $field && -r $field ]] || die "cannot read $field"
    local size expected=$element extent
    size=$(stat -L -c %s "$field")
    for extent in ${dims//x/ }; do
        # Shell arithmetic wraps silently: stop as soon as the product cannot match.
        if ((${#extent} > 18 || extent > size / expected)); then
            expected=-1
            break
        fi
        expected=$((expected * extent))
    done
    ((expected == size)) || die "$field holds $size bytes, which is not $dims times $element bytes ($type)"
}

case $# in
0)
    type=f32
    nx=160 ny=160 nz=128 snapshots=6
    # Snapshots follow each other in the file: to a tool it is one array with a longer slowest dimension.
    dims=$((snapshots * nz))x${ny}x$nx
    ;;
2 | 3)
    dims=$2
    type=f32 element=4
    [[ $field != *.f64 ]] || type=f64 element=8
    check_field
    ;;
*)
    usage >&2
    exit 2
    ;;
esac
[[ $bound =~ ^((abs|rel)=.+|lossless)$ ]] || die "the bound must be rel=V, abs=V or lossless, not '$bound'"
[[ $ranks =~ ^[1-9][0-9]*$ ]] || die "DEMO_RANKS must be a number of ranks, not '$ranks'"

temporary=$(mktemp -d "${TMPDIR:-/tmp}/zmpi-demo.XXXXXX")
trap 'rm -rf "$temporary"' EXIT

# quietly COMMAND...: show its output only if it fails.
quietly() {
    "$@" >"$temporary/log" 2>&1 || {
        cat "$temporary/log" >&2
        die "failed: $*"
    }
}

# The same configuration as that of scripts/test.sh, so that either may come first. Only the target that is shown here is built.
need_packages build-essential cmake ninja-build pkg-config python3 \
    openmpi-bin libopenmpi-dev libxxhash-dev libcriterion-dev
if [[ ! -f build/build.ninja && ! -f build/Makefile || $(cache_value build BUILD_TESTING) == OFF ]]; then
    echo "== building in build/ (once)"
    quietly cmake --preset release -DMPI_C_COMPILER=mpicc.openmpi -DBUILD_TESTING=ON
fi
quietly cmake --build build --parallel "$(nproc)" --target demo
launcher=$(cache_value build MPIEXEC_EXECUTABLE)
library=$PWD/build/lib/libzmpi.so
# The dynamic linker would only warn, and the program run without it.
[[ -f $library ]] || die "the build made no $library"

# launch NAME [SETTING...]: one run; leaves NAME.snapshots and what the program printed in the temporary folder.
launch() {
    local name=$1 program
    shift
    if [[ -n $field ]]; then
        program=(build/bin/field_io write -t "$type" -d "$dims" "$field" "$temporary/$name.snapshots")
    else
        program=(build/bin/wave3d -n "${nx}x${ny}x$nz" -s $((snapshots * 40)) -i 40 -o "$temporary/$name")
    fi
    echo "== $name:${*:+ ${*/$PWD\//}} ${program[*]/$temporary\//}"
    run_mpi "$launcher" "$ranks" "$@" -- "${program[@]}" >"$temporary/$name.out" 2>"$temporary/$name.err" || {
        cat "$temporary/$name.out" "$temporary/$name.err" >&2
        die "the $name run failed"
    }
}

launch plain
launch zmpi "LD_PRELOAD=$library" "ZMPI_ERROR_BOUND=$bound"

build/bin/zmpi compare -t "$type" -d "$dims" --json "$temporary/plain.snapshots" "$temporary/zmpi.snapshots" \
    >"$temporary/compare.json" || die "zmpi compare failed"
echo
python3 - "$temporary" "$bound" <<'PYTHON'
import json, os, re, sys

folder, bound = sys.argv[1:]
compared = json.load(open(f"{folder}/compare.json"))

def seconds(name):
    """Seconds in MPI-IO and in all, from the line that the program prints at its end."""
    text = open(f"{folder}/{name}.out").read()
    wave = re.search(r"io_seconds=(\S+) total_seconds=(\S+)", text)
    field = re.search(r"wrote \d+ bytes in (\S+) s", text)
    both = wave.groups() if wave else field.groups() * 2
    return [float(x) for x in both]

def error(value):
    if not compared["range"]:
        return f"{value:.3g}"
    return f"{value:.3g} (rel {value / compared['range']:.3g})"

written = os.path.getsize(f"{folder}/plain.snapshots")
rows = [["", "plain", "with zmpi"], ["bytes the program wrote"], ["bytes on disk"], ["ratio"],
        ["error bound asked"], ["largest error"], ["PSNR, dB"], ["seconds in MPI-IO"], ["seconds in all"]]
for name in ("plain", "zmpi"):
    disk = os.path.getsize(f"{folder}/{name}.snapshots")
    io, total = seconds(name)
    psnr = compared["psnr"]
    cells = [f"{written:,}", f"{disk:,}", f"{written / disk:.2f}"]
    if name == "plain":
        cells += ["-", "0", "-"]
    else:
        cells += [bound, error(compared["max_error"]),
                  f"{psnr:.1f}" if isinstance(psnr, (int, float)) else "-"]
    for row, cell in zip(rows[1:], cells + [f"{io:.2f}", f"{total:.2f}"]):
        row.append(cell)
for row in rows:
    print(f"{row[0]:<24}{row[1]:>16}{row[2]:>28}")
PYTHON

echo
echo "== zmpi info (the compressed file)"
build/bin/zmpi info "$temporary/zmpi.snapshots"

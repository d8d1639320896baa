#!/bin/bash
# plot_perf.sh [-o FOLDER] FILE.json...: draws what zmpi-perf --json wrote.
#
#   -o FOLDER   where the pictures go (.)
#
# Writes throughput.png (against ranks, for each operation), speedup.png (against the ratio) and breakdown.png (where the
# time goes). Notes of the runs, link=... and storage=... (zmpi-perf --note), separate the series. Needs gnuplot.
set -euo pipefail

scripts=$(realpath "$(dirname "$0")")
# shellcheck source=scripts/lib.sh
. "$scripts/lib.sh"

out=.
while getopts o:h option; do
    case $option in
    o) out=$OPTARG ;;
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
(($#)) || {
    usage >&2
    exit 2
}
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
python3 "$scripts/perf_plots.py" "$temporary" "$@"
command -v gnuplot >/dev/null || need_packages gnuplot-nox fonts-dejavu-core
mkdir -p "$out"
for picture in throughput speedup breakdown; do
    (cd "$temporary" && gnuplot "$picture.gp")
    mv "$temporary/$picture.png" "$out"
    echo "$out/$picture.png"
done

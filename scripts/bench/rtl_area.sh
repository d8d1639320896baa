#!/bin/bash
# rtl_area.sh [LANES | flare ARRAYS | flare_MODULE]: how many parts of an FPGA the hardware engine takes, or FLARE's, or a module of
# that, by yosys (docs/internals/rtl.md, docs/flare.md). Takes minutes.
set -euo pipefail
cd "$(dirname "$0")/../../smartnic/rtl"
command -v yosys >/dev/null || {
    echo "rtl_area.sh: yosys is not installed (Debian: yosys)" >&2
    exit 1
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
flare="read_verilog -sv ceaz_memory.sv huffman/ceaz_huffman.sv huffman/ceaz_books.sv huffman/ceaz_symbols.sv huffman/ceaz_bits.sv huffman/ceaz_histogram.sv flare/*.sv"
case ${1:-} in
flare) design="$flare; chparam -set M ${2:-4} flare_engine; synth_xilinx -family xcup -top flare_engine -noiopad" ;;
flare_*) design="$flare; synth_xilinx -family xcup -top $1 -noiopad" ;;
*) design="read_verilog -sv *.sv fle/*.sv huffman/*.sv choice/*.sv; chparam -set N ${1:-4} ceaz_engine; synth_xilinx -family xcup -top ceaz_engine -noiopad" ;;
esac
yosys -p "$design; stat" >"$log" ||
    { tail -n 5 "$log" >&2; exit 1; }
# The last count is that of the whole engine.
awk '/design hierarchy/ {n = 0} {line[n++] = $0} END {for (i = 0; i < n; i++) print line[i]}' "$log" |
    awk '$1 ~ /^DSP/ {dsp += $2} $1 ~ /^RAMB36/ {bram += 2 * $2} $1 ~ /^RAMB18/ {bram += $2} $1 ~ /^FD/ {ff += $2} $1 ~ /^LUT/ {lut += $2}
         $1 ~ /^RAM(16|32|64|128|256|512)/ {ram += $2}
         END {printf "BRAM_18K %d, DSP %d, FF %d, LUT %d, memories of LUTs %d\n", bram, dsp, ff, lut, ram}'

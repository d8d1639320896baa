#!/bin/bash
# lint.sh FOLDER: Verilator has no complaint about the engine there, with other numbers of lanes than are built.
set -euo pipefail
for lanes in 1 32; do # 8 and 64 are built
    verilator --lint-only -Wall -GN="$lanes" --top-module ceaz_engine "$1"/*.sv "$1"/*/*.sv
done
verilator --lint-only -Wall -GP=16 --top-module flare_net "$1"/flare/flare_{net,pe,scale}.sv "$1"/ceaz_memory.sv # 4 and 8 are built
verilator --lint-only -Wall --top-module flare_decoder "$1"/flare/flare_decoder.sv "$1"/ceaz_memory.sv
for arrays in 3 16; do # 1, 2, 4 and 8 are built
    verilator --lint-only -Wall -GM="$arrays" --top-module flare_engine "$1"/flare/*.sv "$1"/ceaz_memory.sv \
        "$1"/huffman/ceaz_{huffman,books,symbols,bits,histogram}.sv
done

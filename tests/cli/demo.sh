#!/bin/sh
# demo.sh: the wave of scripts/demo.sh, which fades to denormals ahead of its front, becomes a container within its bound.
set -eu
[ -x "$ZMPI_TEST_BIN/wave3d" ] || exit 77
# shellcheck source=tests/mpi/launch.sh
. "$ZMPI_TEST_SOURCE/tests/mpi/launch.sh"

# run NAME SETTING...: leaves NAME.snapshots.
run() {
    name=$1
    shift
    timeout 200 "$MPIEXEC" $flags -n 2 env "$@" "$ZMPI_TEST_BIN/wave3d" -n 96x96x64 -s 160 -i 40 -o "$name" >out 2>&1 || { cat out; exit 1; }
}

run plain ZMPI_LOG=error
run zmpi LD_PRELOAD="$ZMPI_TEST_LIB" ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_REPORT=report.json
! grep -q 'look like' out || { echo "FAIL: the wave is taken for something else"; cat out; exit 1; }
"$ZMPI_TEST_BIN/zmpi" compare -t f32 --json plain.snapshots zmpi.snapshots >compare.json || { cat out compare.json; exit 1; }
python3 - <<'PYTHON'
import json, os
with open("compare.json") as f:
    compare = json.load(f)
ratio = os.path.getsize("plain.snapshots") / os.path.getsize("zmpi.snapshots")
assert ratio > 4, ratio
assert compare["max_error_over_range"] <= 1e-3, compare
PYTHON
rm -f plain.* zmpi.*

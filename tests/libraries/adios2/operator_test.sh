#!/bin/bash
# operator_test.sh PLUGIN PROGRAM: ADIOS2's operator (codec/hosts/adios2), by the program with both engines, and by bpls where it is.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../../scripts/lib.sh"
plugin=$1 program=$2

rm -rf ./*.bp
export ADIOS2_PLUGIN_PATH=${plugin%/*}
"$program" BP4
"$program" BP5

# refused WORDS PARAMETER...: the program ends with these words.
refused() {
    ! "$program" BP5 "${@:2}" 2>refused.log || die "${*:2}: taken"
    grep -qF "zmpi: $1" refused.log || die "${*:2}: $(cat refused.log)"
}
refused 'error_bound is "rel=10%": allowed are abs=V' error_bound=rel=10%
refused 'encoder is "zip": allowed are fle, huffman and interp' encoder=zip
refused 'threads is "many"' threads=many
refused 'threads and threshold may not be negative' threads=-1
refused 'fill is "2,3": allowed are numbers' fill=1,2,3
refused 'threshold is "": allowed are numbers' threshold=
refused 'order is "C"' order=C
refused 'no parameter "bound": allowed are error_bound' bound=abs=1

# Who has the file only.
bpls=$(command -v bpls || command -v bpls.serial || true)
if [[ $bpls ]]; then
    "$bpls" -d f32.bp v -n 1 >shown.log
    grep -qE ' (4\.99|5\.00)' shown.log || die "bpls shows other numbers"
    ! ADIOS2_PLUGIN_PATH=/nowhere "$bpls" -d f32.bp v >none.log 2>&1 || die "read without the plug-in"
else
    echo "no bpls: left out"
fi

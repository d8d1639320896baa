#!/bin/bash
# arguments.sh: each command of the tool refuses arguments that have no sense, with a line, and makes no file.
# shellcheck source=tests/tool/lib.sh
. "$(dirname "$0")/../tool/lib.sh" "$ZMPI_TEST_BIN/zmpi"

group="wrong arguments"
head -c 8000 /dev/zero >x.f64
expect 0 "$zmpi" compress -t f64 -e lossless x.f64 a.zmpi
while read -r arguments; do
    # shellcheck disable=SC2086 # several words
    expect 2 "$zmpi" $arguments
    check test -s err
done <<'LINES'
compress --what x.f64 new.zmpi
compress -t f16 -e abs=1 x.f64 new.zmpi
compress -t f64 -d 0x5 -e abs=1 x.f64 new.zmpi
compress -t f64 -e abs=1 -T 0 x.f64 new.zmpi
compress -t f64 -e abs=1 --fill 1,2,3 x.f64 new.zmpi
compress -t f64 -e abs=1 --codec best x.f64 new.zmpi
compress -t f64 -e abs=1 x.f64 -
compare -t f16 x.f64 x.f64
compare -t f64 -d 7x x.f64 x.f64
compare -t f64 --components many x.f64 x.f64
compare --what x.f64 x.f64
convert --what a.zmpi new.npy
convert a.zmpi
convert -t f16 a.zmpi new.npy
convert -t f64 -d 0 a.zmpi new.npy
enhance --what a.zmpi
enhance --train x.f64 --threads 0 a.zmpi
enhance --train x.f64 --threads 1x a.zmpi
enhance --train x.f64 --epochs -1 a.zmpi
enhance --train x.f64 --bound 3x a.zmpi
enhance a.zmpi
run --what true
run
trim -
trim
decompress --what a.zmpi new.npy
decompress a.zmpi
decompress a.zmpi missing/new.npy
info --what a.zmpi
info
info missing
info x.f64
verify --what a.zmpi
verify
fsck --what a.zmpi
fsck
recover a.zmpi
bench --what x.f64
bench -t f16 x.f64
bench -t f64 --size 0 x.f64
bench -t f64 --repetitions 0 x.f64
check --what true
check
check missing
view --what true
mount --what . .
mount
report --what x
advise --what x
options --what
what
cat -s 1 a.zmpi extra
LINES
check absent new.zmpi
check absent new.npy

finish

# shellcheck shell=bash
# device_lib.sh - for scripts that compare a device's files with the CPU's; sourced.

# field NAME: 6,000 smooth floats with a few special ones.
field() {
    python3 - "$1" <<'PYTHON'
import array, math, sys
a = array.array('f', (100 + 30 * math.sin(0.01 * i) + 0.01 * (i * 7919 % 101) for i in range(6000)))
a[77], a[3000], a[3001], a[5999] = math.nan, math.inf, -0.0, 1e20
a.tofile(open(sys.argv[1], 'wb'))
PYTHON
}

# payload CONTAINER FILE: writes its records' streams to FILE, without the random id of the container.
payload() {
    python3 - "$1" "$2" <<'PYTHON'
import sys
data = open(sys.argv[1], 'rb').read()
at = data.find(b'ZSTR')
out = open(sys.argv[2], 'wb')
while at >= 0:
    size = int.from_bytes(data[at + 64:at + 72], 'little')
    out.write(data[at:at + size])
    at = data.find(b'ZSTR', at + size)
PYTHON
}

#!/bin/bash
# mount.sh: a folder that is mounted by zmpi mount shows its containers as plain files: reading, in order and not, by several at
# once; sizes, times and modes; damage, and files that change; nothing can be written; a kill, and a folder over itself.
set -u
zmpi=$ZMPI_TEST_BIN/zmpi
[[ -r /dev/fuse && -w /dev/fuse ]] || exit 77
# fusermount3 reads it; a folder that debootstrap has just made lacks it.
[[ -e /etc/mtab ]] || exit 77
work=$(mktemp -d)
unmount() {
    if command -v fusermount3 >/dev/null; then
        fusermount3 -u "$@"
    else
        umount "$@"
    fi
}
clean() {
    for one in "$work/m" "$work/d"; do
        ! mountpoint -q "$one" || umount -l "$one" 2>/dev/null || fusermount3 -uz "$one" 2>/dev/null
    done
    rm -rf "$work"
}
trap clean EXIT
cd "$work" || exit 1
unset "${!ZMPI_@}" LD_PRELOAD

fail() {
    printf 'FAIL: %s\n' "$*"
    cat out
    exit 1
}

# The process that mounts d: its id.
server() {
    local one
    for one in /proc/[0-9]*; do
        [[ $({ tr '\0' ' ' <"$one/cmdline"; } 2>/dev/null) != "$zmpi mount d $1 " ]] || printf '%s\n' "${one#/proc/}"
    done
}

mkdir d d/sub m
: >out
LC_ALL=C awk 'BEGIN { for (i = 0; i < 5000000; i++) printf "%c%c%c%c", 65 + i % 7, 66, 65 + int(i / 100000), 66 }' >raw
"$zmpi" compress -t f32 -e lossless raw d/x.z || fail compress
head -c 400000 raw >small
"$zmpi" compress -t f32 -e lossless small d/sub/small.z || fail compress
cp raw d/plain
head -c 100000 /dev/zero >d/zeros
chmod 640 d/x.z
touch -d '2020-02-02 02:02:02' d/x.z d/sub/small.z
ln -s sub/small.z d/link
ln -s /etc/hostname d/out
cp d/x.z d/bad.z
dd if=/dev/urandom of=d/bad.z bs=1 seek=20000 count=400 conv=notrunc 2>/dev/null

"$zmpi" mount d m >out 2>&1
status=$?
if ((status)) && grep -q -e 'without libfuse3' -e 'fusermount3 failed: No such file' -e 'ermission denied' -e 'not permitted' -e 'device not found' out; then
    cat out
    exit 77
fi
((status == 0)) && mountpoint -q m || fail "it is not mounted when the command returns"
pid=$(server m)
[[ -n $pid ]] || fail "no process"

# ---- what is there ----

[[ $(stat -c '%s %a %y' m/x.z) == '20000000 640 2020-02-02 02:02:02'* ]] || fail "stat: $(stat m/x.z)"
[[ $(cd m && find . | sort) == "$(cd d && find . | sort)" ]] || fail "names"
[[ $(readlink m/link) == sub/small.z && $(stat -Lc %s m/link) == 400000 ]] || fail "a link"
cmp m/x.z raw >out 2>&1 && cmp m/plain raw >out 2>&1 && cmp m/link small >out 2>&1 && cmp m/zeros d/zeros >out 2>&1 || fail cmp
cp m/x.z copy && cmp -s copy raw || fail cp
tail -c 12345 m/x.z | cmp -s - <(tail -c 12345 raw) || fail tail
for i in 0 1 2 3 4 5 6 7; do
    (for j in 0 1 2 3 4 5; do
        at=$(((i * 7919 + j * 104729) * 97 % 4900))
        cmp -s <(dd if=m/x.z bs=4096 skip=$at count=$((1 + j * 9)) status=none) <(dd if=raw bs=4096 skip=$at count=$((1 + j * 9)) status=none) ||
            exit 1
    done) &
    jobs[i]=$!
done
for i in "${jobs[@]}"; do
    wait "$i" || fail "several at once"
done
# Deep chunks, whose blocks are long; of several files at once, for which there is not enough room.
/usr/bin/python3 -c "
import array
plane = array.array('f', (i % 257 * 0.01 + i // 256 * 0.03 for i in range(65536)))
for k in range(70):
    plane[k * 900] += k
    open('planes', 'ab').write(plane.tobytes())" || fail planes
"$zmpi" compress -t f32 -d 70x256x256 -e abs=0.001 --codec interp planes d/deep.z && "$zmpi" decompress d/deep.z deep || fail compress
for i in 1 2 3 4; do
    ln d/deep.z "d/deep$i.z"
    cmp "m/deep$i.z" deep >"out$i" 2>&1 &
    jobs[i]=$!
done
for i in 1 2 3 4; do
    wait "${jobs[i]}" || fail "deep chunks: $(cat "out$i")"
done
for at in 4100 7 2222; do
    cmp -s <(dd if=m/deep.z bs=4096 skip=$at count=9 status=none) <(dd if=deep bs=4096 skip=$at count=9 status=none) || fail "deep chunks at $at"
done
rm d/deep*.z
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    /usr/bin/python3 - >out 2>&1 <<'P' || fail "NumPy"
import numpy as np
want, got = np.fromfile("raw", "u4"), np.memmap("m/x.z", "u4", "r")
assert np.array_equal(got[::-1][:1000], want[::-1][:1000]) and np.array_equal(got, want)
at = np.random.default_rng(1).integers(0, want.size, 2000)
assert np.array_equal(got[at], want[at])
P
fi

# A file of another library inside a container.
if command -v h5dump >/dev/null && "$zmpi" convert -t f32 small small.h5 >out 2>&1; then
    "$zmpi" compress -t f32 -e lossless small.h5 d/inside.z && h5dump -d values small.h5 | tail -n +2 >want || fail "an HDF5 file"
    h5dump -d values m/inside.z 2>out | tail -n +2 | cmp -s - want || fail "HDF5 inside a container"
fi

# ---- what cannot be ----

for try in 'echo a >m/new' 'echo a >>m/x.z' ': >m/x.z' 'rm m/x.z' 'mv m/x.z m/y.z' 'mkdir m/n' 'chmod 600 m/x.z'; do
    ! bash -c "$try" 2>/dev/null || fail "$try"
done
cmp -s copy m/x.z || fail "it has changed"
! cat m/bad.z >got 2>out || fail "a damaged file"
grep -q 'Input/output error' out || fail "a damaged file's error"
cmp -s m/sub/small.z small || fail "another file, after that"
"$zmpi" mount d d/sub >out 2>&1 && fail "a mount inside the folder"
grep -q 'lies inside' out || fail "and no line of that"
"$zmpi" mount nothing m >out 2>&1 && fail "no such folder"

# ---- files that change ----

head -c 800000 raw | tail -c 400000 >other
"$zmpi" compress -t f32 -e lossless other d/sub/new.z && mv d/sub/new.z d/sub/small.z || fail compress
sleep 1.5 # as long as the kernel keeps what it was told
cmp m/sub/small.z other >out 2>&1 || fail "a file that was replaced"
rm d/plain
sleep 1.5
[[ ! -e m/plain ]] || fail "a file that was removed"

# ---- memory, and the end ----

for i in $(seq 40); do
    ln d/x.z "d/x$i.z"
done
# shellcheck disable=SC2016 # the inner shell's
find m -name 'x[0-9]*.z' -print0 | xargs -0 -P 40 -n 1 sh -c 'head -c 9000000 "$0" >/dev/null; sleep 1' >out 2>&1 || fail "40 at once"
(($(awk '/VmHWM/ { print $2 }' "/proc/$pid/status") < 500000)) || fail "memory: $(grep VmHWM "/proc/$pid/status")"
unmount m >out 2>&1 || fail unmount
# In a container nobody may take an orphan's exit status: Z.
runs() {
    [[ $(awk '/^State:/ { print $2 }' "/proc/$1/status" 2>/dev/null) == [^Z] ]]
}
for i in $(seq 50); do
    runs "$pid" || break
    sleep 0.1
done
! runs "$pid" || fail "the process stays"

"$zmpi" mount -f d m >out 2>&1 &
front=$!
for i in $(seq 50); do
    ! mountpoint -q m || break
    sleep 0.1
done
cmp -s m/x.z raw || fail "in front"
kill -TERM $front
wait $front
! mountpoint -q m || fail "it stays mounted after a signal"
"$zmpi" mount d m >out 2>&1 || fail "again"
kill -KILL "$(server m)"
sleep 0.2
"$zmpi" mount d m >out 2>&1 && fail "over one whose process was killed"
unmount m >out 2>&1 || fail "unmount of one whose process was killed"
"$zmpi" mount d d >out 2>&1 && cmp -s d/x.z raw && unmount d || fail "over itself"
(($(stat -c %s d/x.z) < 20000000)) || fail "after that"
exit 0

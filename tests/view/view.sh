#!/bin/bash
# view.sh: under zmpi view, programs that know nothing of zmpi read a container's logical bytes by all that opens files; one that
# writes gets a plain file first; what cannot be shown is an error with one line, and no other file is looked at twice.
set -u
zmpi=$ZMPI_TEST_BIN/zmpi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset "${!ZMPI_@}" LD_PRELOAD TMPDIR
python=/usr/bin/python3

fail() {
    printf 'FAIL: %s\n' "$*"
    cat out
    exit 1
}

# lines N TEXT: so many lines of what was said have it.
lines() {
    (($(grep -c -- "$2" out) == $1)) || fail "not $1 lines with '$2'"
}

view() {
    timeout 60 "$zmpi" view "$@" >out 2>&1
}

# refused FILE WHY: a program that appends to it is told so, and nothing is left beside it.
refused() {
    printf end | view tee -a "$1" && fail "$1: written to"
    lines 1 "cannot be made plain: .*$2"
    [[ -z $(find . -name '*.z.??????') ]] || fail "$1: left something"
}

: >out
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "%c%c%c%c", 65 + i % 7, 66, int(i / 3000), 66 }' | LC_ALL=C head -c 800000 >raw
"$zmpi" compress -t f32 -e lossless raw x.z || fail compress
(($(stat -c %s x.z) < 800000)) || fail "it did not get smaller"
touch -d '2020-02-02 02:02:02' x.z

# ---- the usual programs ----

view cat x.z && cmp -s out raw || fail cat
view cmp x.z raw || fail cmp
view md5sum x.z && [[ $(cut -d' ' -f1 out) == "$(md5sum <raw | cut -d' ' -f1)" ]] || fail md5sum
view tail -c 12345 x.z && cmp -s out <(tail -c 12345 raw) || fail tail
view cp x.z copy && cmp -s copy raw || fail cp
view sh -c 'cat <x.z' && cmp -s out raw || fail "a child, redirection"
view stat -c '%s %y' x.z && lines 1 '^800000 2020-02-02 02:02:02' || fail stat
view ls -l x.z && lines 1 ' 800000 ' || fail "ls -l"
view sh -c 'ln -s x.z link; wc -c <link; stat -Lc %s link; stat -c %s link; rm link' && lines 2 '^800000$' && lines 1 '^3$'
view sh -c '"$0" info --json x.z' "$zmpi" && lines 1 logical_size || fail "the tool sees the container"
ZMPI_VIEW=off view cmp x.z raw && fail "switched off"
lines 1 'ZMPI_VIEW=off'
! cmp -s x.z raw || fail "it stays a container"

head -c 100000 /dev/zero >zeros
"$zmpi" compress -t f32 -e lossless zeros zeros.z || fail "compress zeros"
view cmp zeros zeros.z || fail "a plain file that begins as one whose header is lost"

# One that a program wrote over a container, and that begins with zeros.
$python -c 'import array, random; array.array("f", (random.gauss(0, 1) for i in range(200000))).tofile(open("noise", "wb"))'
"$zmpi" compress -t f32 -e rel=1e-6 --components 4 noise over.z >out 2>&1 || fail "compress four variables"
{ head -c 100 /dev/zero && head -c $(($(stat -c %s over.z) - 400)) /dev/urandom; } >mine
dd if=mine of=over.z conv=notrunc status=none
"$zmpi" info over.z >out 2>&1
lines 1 'is a plain file'
cp over.z over.raw
view cmp over.raw over.z || fail "a plain file over a container"

# ---- each name of open and stat; threads, forks, errno ----

cat >names.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
enum { SIZE = 800000 };
static char want[SIZE];
#define CHECK(x) do { if (!(x)) { printf("FAIL %d: %s: %s\n", __LINE__, #x, strerror(errno)); exit(1); } } while (0)
static void same(int fd)
{
    static _Thread_local char got[SIZE + 1];
    struct stat s, t;
    CHECK(fd >= 0 && pread(fd, got, sizeof got, 0) == SIZE && memcmp(got, want, SIZE) == 0);
    CHECK(fstat(fd, &s) == 0 && s.st_size == SIZE && stat("x.z", &t) == 0 && t.st_size == SIZE);
    CHECK(s.st_dev == t.st_dev && s.st_ino == t.st_ino && s.st_mtime == t.st_mtime && s.st_nlink == 1);
    CHECK(write(fd, "a", 1) < 0 && errno == EBADF);
    CHECK(close(fd) == 0);
}
static void file(FILE *f)
{
    CHECK(f && fseek(f, 0, SEEK_END) == 0 && ftell(f) == SIZE && fseek(f, 1000, SEEK_SET) == 0 && fgetc(f) == want[1000]);
    same(dup(fileno(f)));
    fclose(f);
}
static void *often(void *unused)
{
    for (int i = 0; i < 30; i++) {
        errno = 77;
        int fd = open("x.z", O_RDONLY | O_CLOEXEC);
        CHECK(errno == 77 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
        same(fd);
        if (i % 5 == 0) {
            pid_t child = fork();
            if (child == 0) {
                same(open("x.z", O_RDONLY));
                _exit(0);
            }
            int status;
            CHECK(waitpid(child, &status, 0) == child && status == 0);
        }
    }
    return unused;
}
int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "x.z"; /* not known when this is compiled */
    const int flags = argc > 2 ? atoi(argv[2]) : O_RDONLY;
    struct statx x;
    struct stat64 s;
    pthread_t thread[8];
    int raw = open("raw", O_RDONLY), low;
    CHECK(read(raw, want, SIZE) == SIZE && close(raw) == 0);
    low = open("/dev/null", O_RDONLY);
    close(low);
    raw = open(path, flags);
    CHECK(raw == low && fcntl(raw, F_GETFD) == 0);
    same(raw);
    same(open64(path, flags));
    same(openat(AT_FDCWD, path, flags));
    same(openat64(AT_FDCWD, path, flags));
    file(fopen(path, "r"));
    file(fopen64(path, "rb"));
    file(freopen(path, "r", fopen("raw", "r")));
    file(freopen64(path, "r", fopen("raw", "r")));
    CHECK(statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &x) == 0 && x.stx_size == SIZE);
    CHECK(stat64(path, &s) == 0 && s.st_size == SIZE && lstat64(path, &s) == 0 && s.st_size == SIZE);
    CHECK(fstatat64(AT_FDCWD, path, &s, 0) == 0 && s.st_size == SIZE);
    raw = open(path, O_RDONLY);
    CHECK(statx(raw, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &x) == 0 && x.stx_size == SIZE && x.stx_nlink == 1);
    CHECK(fstatat(raw, "", (struct stat *)&s, AT_EMPTY_PATH) == 0 && s.st_size == SIZE && fstat64(raw, &s) == 0 && s.st_size == SIZE);
    char *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, raw, 0);
    CHECK(map != MAP_FAILED && close(raw) == 0 && memcmp(map, want, SIZE) == 0);
    CHECK(open("nothing", O_RDONLY) < 0 && errno == ENOENT);
    CHECK(open(path, O_PATH) >= 0);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&thread[i], NULL, often, NULL) == 0);
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
C
for options in "-O1" "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2" "-O1 -D_FILE_OFFSET_BITS=64"; do
    # shellcheck disable=SC2086
    gcc $options -o names names.c -pthread 2>out || fail "names.c $options"
    view ./names || fail "names $options"
done

# Names that programs of older C libraries call, those of fortified ones, and threads that are cancelled while they open a file.
cat >old.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
enum { SIZE = 800000 };
#define CHECK(x) do { if (!(x)) { printf("FAIL %d: %s: %s\n", __LINE__, #x, strerror(errno)); exit(1); } } while (0)
int __open_2(const char *, int), __open64_2(const char *, int), __openat_2(int, const char *, int), __openat64_2(int, const char *, int);
#if defined(__x86_64__) && defined(__GLIBC__) /* by the versions that old programs have */
#define OLD(name) __asm__(".symver old" name ", __" name "@GLIBC_2.2.5")
#define OLD_AT(name) __asm__(".symver old" name ", __" name "@GLIBC_2.4")
enum { VERSION = 1 };
int oldxstat(int, const char *, struct stat *), oldxstat64(int, const char *, struct stat64 *);
int oldlxstat(int, const char *, struct stat *), oldlxstat64(int, const char *, struct stat64 *);
int oldfxstat(int, int, struct stat *), oldfxstat64(int, int, struct stat64 *);
int oldfxstatat(int, int, const char *, struct stat *, int), oldfxstatat64(int, int, const char *, struct stat64 *, int);
OLD("xstat"); OLD("xstat64"); OLD("lxstat"); OLD("lxstat64"); OLD("fxstat"); OLD("fxstat64");
OLD_AT("fxstatat"); OLD_AT("fxstatat64");
static void old_names(const char *path, int fd)
{
    struct stat s;
    struct stat64 t;
    CHECK(oldxstat(VERSION, path, &s) == 0 && s.st_size == SIZE && oldxstat64(VERSION, path, &t) == 0 && t.st_size == SIZE);
    CHECK(oldlxstat(VERSION, path, &s) == 0 && s.st_size == SIZE && oldlxstat64(VERSION, path, &t) == 0 && t.st_size == SIZE);
    CHECK(oldfxstat(VERSION, fd, &s) == 0 && s.st_size == SIZE && s.st_ino == t.st_ino && s.st_nlink == 1);
    CHECK(oldfxstat64(VERSION, fd, &t) == 0 && t.st_size == SIZE && t.st_ino == s.st_ino);
    CHECK(oldfxstatat(VERSION, AT_FDCWD, path, &s, 0) == 0 && s.st_size == SIZE);
    CHECK(oldfxstatat64(VERSION, AT_FDCWD, path, &t, AT_SYMLINK_NOFOLLOW) == 0 && t.st_size == SIZE);
    CHECK(oldxstat(VERSION, "nothing", &s) < 0 && errno == ENOENT);
    CHECK(oldlxstat(VERSION, "to_x", &s) == 0 && S_ISLNK(s.st_mode) && s.st_size == 3);
    CHECK(oldxstat(VERSION, "to_x", &s) == 0 && s.st_size == SIZE);
}
#else
static void old_names(const char *path, int fd) { (void)path, (void)fd; }
#endif
/* Descriptors of views. (One of the file may be left: the C library's open can be cancelled just after it has opened it.) */
static int views(void)
{
    char name[40], path[40];
    int n = 0;
    for (int i = 0; i < 1024; i++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", i);
        n += readlink(name, path, sizeof path) > 7 && memcmp(path, "/memfd:", 7) == 0;
    }
    return n;
}
static const char *file;
static void *for_ever(void *unused)
{
    for (int n = 0, old;; n++) {
        int fd = open(file, O_RDONLY); /* where it may be cancelled */
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
        CHECK(fd >= 0 && old == PTHREAD_CANCEL_ENABLE && lseek(fd, 0, SEEK_END) == SIZE && close(fd) == 0);
        FILE *f = n % 2 ? fopen(file, "r") : NULL;
        CHECK(n % 2 == 0 || (f && fclose(f) == 0));
        pthread_setcancelstate(old, NULL);
    }
    return unused;
}
int main(int argc, char **argv)
{
    file = argc > 1 ? argv[1] : "x.z"; /* not known when this is compiled */
    int (*const twice[])(const char *, int) = {__open_2, __open64_2};
    int (*const twice_at[])(int, const char *, int) = {__openat_2, __openat64_2};
    struct statx x, y;
    struct stat s;
    char link[3] = {0};
    int fd = -1;
    CHECK(symlink(file, "to_x") == 0);
    for (int i = 0; i < 2; i++) {
        CHECK((fd = twice[i](file, O_RDONLY)) >= 0 && lseek(fd, 0, SEEK_END) == SIZE && close(fd) == 0);
        CHECK((fd = twice_at[i](AT_FDCWD, file, O_RDONLY)) >= 0 && lseek(fd, 0, SEEK_END) == SIZE);
        old_names(file, fd);
        CHECK(close(fd) == 0);
    }
    /* statx: by path, by link, by descriptor, with other fields only. */
    CHECK((fd = open(file, O_RDONLY)) >= 0 && stat(file, &s) == 0);
    CHECK(statx(AT_FDCWD, "to_x", 0, STATX_SIZE, &x) == 0 && x.stx_size == SIZE);
    CHECK(statx(AT_FDCWD, "to_x", AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &x) == 0 && S_ISLNK(x.stx_mode) && x.stx_size == 3);
    CHECK(readlink("to_x", link, sizeof link) == 3 && memcmp(link, file, 3) == 0);
    CHECK(statx(AT_FDCWD, file, 0, STATX_BASIC_STATS, &x) == 0 && statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &y) == 0);
    CHECK(x.stx_ino == y.stx_ino && x.stx_dev_major == y.stx_dev_major && x.stx_dev_minor == y.stx_dev_minor);
    CHECK(x.stx_ino == s.st_ino && makedev(x.stx_dev_major, x.stx_dev_minor) == s.st_dev && y.stx_nlink == 1);
    CHECK(x.stx_mtime.tv_sec == y.stx_mtime.tv_sec && x.stx_mode == y.stx_mode && y.stx_size == SIZE);
    CHECK(statx(AT_FDCWD, file, 0, STATX_MODE, &x) == 0 && S_ISREG(x.stx_mode));
    CHECK(statx(AT_FDCWD, "nothing", 0, STATX_SIZE, &x) < 0 && errno == ENOENT);
    CHECK(close(fd) == 0 && unlink("to_x") == 0);
    for (int i = 0; i < 40; i++) {
        pthread_t t[2];
        void *result;
        for (int k = 0; k < 2; k++)
            CHECK(pthread_create(&t[k], NULL, for_ever, NULL) == 0);
        usleep((useconds_t)(i * 137 % 3000));
        for (int k = 0; k < 2; k++)
            CHECK(pthread_cancel(t[k]) == 0);
        for (int k = 0; k < 2; k++)
            CHECK(pthread_join(t[k], &result) == 0 && result == PTHREAD_CANCELED);
    }
    CHECK(views() == 0);
    CHECK((fd = open(file, O_RDONLY)) >= 0 && lseek(fd, 0, SEEK_END) == SIZE); /* no lock was left */
    return 0;
}
C
gcc -O1 -U_FORTIFY_SOURCE -o old old.c -pthread 2>out || fail "old.c"
view ./old x.z || fail "old names, statx, cancelled threads"

# ---- Python, Fortran, HDF5 ----

if "$python" -c 'import numpy' 2>/dev/null; then
    view "$python" - <<'P' || fail "NumPy"
import mmap, os
import numpy as np
want = np.fromfile("raw", "f4").view("u4")
for got in np.fromfile("x.z", "f4"), np.memmap("x.z", "f4", "r"), np.frombuffer(open("x.z", "rb").read(), "f4"):
    assert np.array_equal(got.view("u4"), want)
with open("x.z", "rb") as f:
    assert len(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)) == os.path.getsize("x.z") == os.stat("x.z").st_size == 800000
P
fi
cat >direct.f90 <<'F'
program direct
    implicit none
    real :: a(1000), b(1000)
    integer :: i
    open(10, file="x.z", access="direct", recl=4000, action="read", status="old")
    open(11, file="raw", access="stream", action="read")
    open(12, file="x.z", access="stream", action="read")
    do i = 200, 1, -1
        read(10, rec=i) a
        read(11, pos=4000 * (i - 1) + 1) b
        if (any(transfer(a, [1]) /= transfer(b, [1]))) stop 1
        read(12, pos=4000 * (i - 1) + 1) a
        if (any(transfer(a, [1]) /= transfer(b, [1]))) stop 2
    end do
end program
F
if command -v gfortran >/dev/null && gfortran -o direct direct.f90 2>out; then
    view ./direct || fail Fortran
fi
if command -v h5dump >/dev/null && command -v h5import >/dev/null; then
    head -c 16384 raw >h5.raw
    h5import h5.raw -dims 4096 -type FP -size 32 -o a.h5 >out 2>&1 || fail h5import
    truncate -s %4 a.h5
    "$zmpi" compress -t f32 -e lossless a.h5 b.h5 || fail "compress a.h5"
    h5dump a.h5 | tail -n +2 >want
    view h5dump b.h5 && cmp -s want <(tail -n +2 out) || fail h5dump
fi

# ---- writing: plain first ----

cp x.z w.z
chmod 640 w.z
marked=0
setfattr -n user.mark -v yes w.z 2>/dev/null && marked=1
view sh -c 'printf end >>w.z' || fail append
lines 1 'made plain, since it is opened for writing'
cmp -s w.z <(cat raw; printf end) || fail "what was appended to"
[[ $(stat -c %a w.z) == 640 ]] || fail "its mode"
((!marked)) || [[ $(getfattr --only-values -n user.mark w.z 2>/dev/null) == yes ]] || fail "its attributes"
for _ in 1 2 3 4 5 6 7 8; do # some open it just before another's plain file takes its name
    cp x.z w.z
    view sh -c '(for i in 1 2 3 4 5 6 7 8; do printf "$i" | dd of=w.z bs=1 seek=$((i * 10)) conv=notrunc status=none & done; wait)' || fail "eight at once"
    for i in 1 2 3 4 5 6 7 8; do
        [[ $(dd if=w.z bs=1 skip=$((i * 10)) count=1 2>/dev/null) == "$i" ]] || fail "byte of writer $i"
    done
    lines 1 'made plain'
done
(($(stat -c %s w.z) == 800000)) && [[ -z $(find . -name 'w.z.*') ]] || fail "what eight left"
cp x.z w.z
view sh -c ': >w.z' || fail truncation
lines 0 plain
[[ ! -s w.z ]] || fail "an emptied file"
cp x.z w.z
ln w.z other.z
view sh -c 'printf end >>w.z' && fail "a file with two names"
lines 1 'several names'
refused w.z 'several names'
cmp -s w.z x.z || fail "it has changed"
long=$(printf '%0250d' 0)
cp x.z "$long"
refused "$long" 'File name too long' # of the file beside it
cmp -s "$long" x.z || fail "it has changed"
rm "$long"
cp x.z gone.z
exec 9<gone.z
rm gone.z
refused /dev/fd/9 'it has no name'
cp x.z gone.z
refused /dev/fd/9 'it was replaced by another'
exec 9<&-
cmp -s gone.z x.z || fail "the other has changed"

# ---- what cannot be shown ----

cp x.z bad.z
dd if=/dev/urandom of=bad.z bs=1 seek=20000 count=400 conv=notrunc 2>/dev/null
view cat bad.z && fail "a damaged file"
lines 1 'bad.z: record at offset'
lines 1 'Input/output error'
cp bad.z damaged.z
view sh -c 'printf end >>damaged.z' && fail "a damaged file, for writing"
refused damaged.z 'record at offset'
cmp -s bad.z damaged.z || fail "a damaged file was written to"
head -c 100000 x.z >damaged.z
refused damaged.z 'it is damaged (zmpi recover)'
(($(stat -c %s damaged.z) == 100000)) || fail "a cut file was written to"
view --max 100K cat x.z && fail "more than may be"
lines 1 'ZMPI_VIEW_MAX'
mkdir tmp
TMPDIR=$work/tmp view --max 100K cmp x.z raw || fail "in TMPDIR"
[[ -z $(ls tmp) ]] || fail "left in TMPDIR"
view --max 1600K sh -c 'exec 3<x.z 4<x.z 5<x.z; cmp /dev/fd/5 raw' || fail "one file, opened again"
cp x.z y.z
view --max 1500K sh -c 'exec 3<x.z 4<y.z' && fail "two files, more than may be together"
view --max 10Q cat x.z && fail "a wrong size"
lines 1 'ZMPI_VIEW_MAX=10Q'

# ---- programs that cannot have it ----

if printf 'int main(void){return 3;}' | gcc -static -x c -o static - 2>/dev/null; then
    view ./static
    (($? == 3)) || fail "a static program"
    lines 1 'linked statically'
fi
# What they are under a program that has it: they see the compressed bytes, which nothing can tell them.
cat >reader.c <<'C'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    char head[5] = {0};
    int fd = open("x.z", O_RDONLY);
    return fd < 0 || read(fd, head, 4) != 4 || lseek(fd, 0, SEEK_END) >= 800000;
}
C
if gcc -static -o static_reader reader.c 2>/dev/null; then
    view sh -c ./static_reader || fail "a static child does not see the file as it is"
fi
cp "$(command -v cat)" setuid && chmod u+s setuid
view ./setuid raw || fail "a setuid program"
lines 1 'setuid'
view ./not-there
(($? == 127)) || fail "status of no program"
view sh -c 'exit 41'
(($? == 41)) || fail "exit status"
view && fail "no program"
view ls --help || fail "the program's --help"
lines 0 'usage: zmpi'
view --help || fail "--help"
lines 1 'usage: zmpi view'

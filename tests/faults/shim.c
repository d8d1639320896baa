/* shim.c - see shim.h. Until fault_set every call goes straight to libc. */
#define _GNU_SOURCE // RTLD_NEXT
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* libc's own function behind ours. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static _Atomic(const struct fault *) current;
static atomic_long seen;

void fault_set(const struct fault *fault)
{
    atomic_store(&current, NULL);
    atomic_store(&seen, 0);
    atomic_store(&current, fault);
}

long fault_count(void)
{
    return atomic_load(&seen);
}

static bool is_called(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, name) == 0;
}

static bool is_file(int fd, const char *name)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return false;
    path[n] = 0;
    return is_called(path, name);
}

__attribute__((constructor)) static void begin(void)
{
    static struct fault fault = {
        .calls = FAULT_READ, .act = FAULT_ERROR, .error = EIO, .below = 512};
    fault.file = getenv("ZMPI_TEST_FIRST_SECTOR");
    if (fault.file)
        fault_set(&fault);
}

/* What happens to a call that is meant. */
static enum fault_act act_now(const struct fault *f)
{
    long n = atomic_fetch_add(&seen, 1) + 1;
    if (n < f->at || (f->times && n >= f->at + f->times))
        return FAULT_NONE;
    if (f->act == FAULT_ERROR)
        errno = f->error;
    return f->act;
}

/* What happens to this call, at `offset` if that matters. */
static enum fault_act act_of(enum fault_call call, int fd, off_t offset)
{
    const struct fault *f = atomic_load(&current);
    int saved = errno;
    bool meant =
        f && (f->calls & (int)call) && (f->below == 0 || offset < f->below) && is_file(fd, f->file);
    errno = saved;
    return meant ? act_now(f) : FAULT_NONE;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
}

/* Of calls that do not say. */
static off_t here(int fd)
{
    const int saved = errno;
    const off_t offset = lseek(fd, 0, SEEK_CUR);
    errno = saved;
    return offset;
}

/* How much of a transfer is done; -1: it fails. *last: the process dies afterwards. */
static ssize_t allowed(enum fault_call call, int fd, size_t size, off_t offset, bool *last)
{
    const enum fault_act act = act_of(call, fd, offset);
    *last = act == FAULT_TEAR || act == FAULT_AFTER;
    if (act == FAULT_KILL)
        die();
    if (act == FAULT_ERROR)
        return -1;
    if (act == FAULT_END)
        return 0;
    return (ssize_t)(act == FAULT_SHORT || act == FAULT_TEAR ? size - size / 2 : size);
}

static ssize_t done(bool last, ssize_t result)
{
    if (last)
        die();
    return result;
}

ssize_t write(int fd, const void *buf, size_t n)
{
    bool last;
    ssize_t most = allowed(FAULT_WRITE, fd, n, here(fd), &last);
    return most < 0 ? -1 : done(last, NEXT(write)(fd, buf, (size_t)most));
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
    bool last;
    ssize_t most = allowed(FAULT_WRITE, fd, n, offset, &last);
    return most < 0 ? -1 : done(last, NEXT(pwrite)(fd, buf, (size_t)most, offset));
}

ssize_t read(int fd, void *buf, size_t n)
{
    bool last;
    ssize_t most = allowed(FAULT_READ, fd, n, here(fd), &last);
    return most < 0 ? -1 : done(last, NEXT(read)(fd, buf, (size_t)most));
}

ssize_t pread(int fd, void *buf, size_t n, off_t offset)
{
    bool last;
    ssize_t most = allowed(FAULT_READ, fd, n, offset, &last);
    return most < 0 ? -1 : done(last, NEXT(pread)(fd, buf, (size_t)most, offset));
}

/* The first `most` bytes of the parts, in `cut`; returns their number. */
static int cut_parts(const struct iovec *part, int parts, size_t most, struct iovec *cut)
{
    int n = 0;
    for (; n < parts && most; n++) {
        cut[n] = part[n];
        if (cut[n].iov_len > most)
            cut[n].iov_len = most;
        most -= cut[n].iov_len;
    }
    return n;
}

static size_t total(const struct iovec *part, int parts)
{
    size_t size = 0;
    for (int i = 0; i < parts; i++)
        size += part[i].iov_len;
    return size;
}

enum { PARTS_MAX = 1024 }; /* IOV_MAX on Linux */

ssize_t writev(int fd, const struct iovec *part, int parts)
{
    bool last;
    struct iovec cut[PARTS_MAX];
    ssize_t most = allowed(FAULT_WRITE, fd, total(part, parts), here(fd), &last);
    if (most < 0 || parts > PARTS_MAX)
        return -1;
    return done(last, NEXT(writev)(fd, cut, cut_parts(part, parts, (size_t)most, cut)));
}

ssize_t pwritev(int fd, const struct iovec *part, int parts, off_t offset)
{
    bool last;
    struct iovec cut[PARTS_MAX];
    ssize_t most = allowed(FAULT_WRITE, fd, total(part, parts), offset, &last);
    if (most < 0 || parts > PARTS_MAX)
        return -1;
    return done(last, NEXT(pwritev)(fd, cut, cut_parts(part, parts, (size_t)most, cut), offset));
}

ssize_t readv(int fd, const struct iovec *part, int parts)
{
    bool last;
    struct iovec cut[PARTS_MAX];
    ssize_t most = allowed(FAULT_READ, fd, total(part, parts), here(fd), &last);
    if (most < 0 || parts > PARTS_MAX)
        return -1;
    return done(last, NEXT(readv)(fd, cut, cut_parts(part, parts, (size_t)most, cut)));
}

ssize_t preadv(int fd, const struct iovec *part, int parts, off_t offset)
{
    bool last;
    struct iovec cut[PARTS_MAX];
    ssize_t most = allowed(FAULT_READ, fd, total(part, parts), offset, &last);
    if (most < 0 || parts > PARTS_MAX)
        return -1;
    return done(last, NEXT(preadv)(fd, cut, cut_parts(part, parts, (size_t)most, cut), offset));
}

/* A call that is done as a whole or not at all. */
static bool refused(enum fault_call call, int fd, bool *last)
{
    const enum fault_act act = act_of(call, fd, 0);
    *last = act == FAULT_AFTER;
    if (act == FAULT_KILL || act == FAULT_TEAR)
        die();
    return act == FAULT_ERROR;
}

int fsync(int fd)
{
    bool last;
    return refused(FAULT_SYNC, fd, &last) ? -1 : (int)done(last, NEXT(fsync)(fd));
}

int fdatasync(int fd)
{
    bool last;
    return refused(FAULT_SYNC, fd, &last) ? -1 : (int)done(last, NEXT(fdatasync)(fd));
}

int fallocate(int fd, int mode, off_t offset, off_t size)
{
    bool last;
    ssize_t most = allowed(FAULT_PUNCH, fd, (size_t)size, offset, &last);
    return most < 0 ? -1 : (int)done(last, NEXT(fallocate)(fd, mode, offset, most));
}

/* All commands take a number or a pointer; both pass through as a pointer. */
int fcntl(int fd, int command, ...)
{
    bool last;
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    const bool sets = command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_SETLK ||
                      command == F_SETLKW;
    if (sets && ((struct flock *)argument)->l_type != F_UNLCK && refused(FAULT_LOCK, fd, &last))
        return -1;
    return NEXT(fcntl)(fd, command, argument);
}

int rename(const char *from, const char *to)
{
    const struct fault *f = atomic_load(&current);
    const bool meant = f && (f->calls & FAULT_RENAME) && is_called(from, f->file);
    if (f && f->stuck && is_called(from, f->stuck)) {
        errno = EIO;
        return -1;
    }
    return meant && act_now(f) == FAULT_ERROR ? -1 : NEXT(rename)(from, to);
}

int ftruncate(int fd, off_t size)
{
    bool last;
    return refused(FAULT_RESIZE, fd, &last) ? -1 : (int)done(last, NEXT(ftruncate)(fd, size));
}

/* trace.c - see trace.h. Calls that fail leave no entry. */
#define _GNU_SOURCE // RTLD_NEXT
#include "trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* libc's own function behind ours. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int log_fd = -1;
static const char *file;

static void open_log(void)
{
    const char *path = getenv("POWER_TRACE");
    file = getenv("POWER_FILE");
    if (path == NULL || file == NULL)
        return;
    log_fd =
        (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0) {
        fprintf(stderr, "FAIL: %s cannot be opened\n", path);
        abort();
    }
}

/* Meanwhile no other process or thread does anything to a traced file. */
static void begin(void)
{
    pthread_mutex_lock(&lock);
    while (flock(log_fd, LOCK_EX) != 0 && errno == EINTR)
        ;
}

static void end(void)
{
    (void)flock(log_fd, LOCK_UN);
    pthread_mutex_unlock(&lock);
}

static void put(const void *bytes, size_t size)
{
    const char *p = bytes;
    while (size > 0) {
        const long put = syscall(SYS_write, log_fd, p, size);
        if (put <= 0) {
            fprintf(stderr, "FAIL: the trace cannot be written\n");
            abort();
        }
        p += put;
        size -= (size_t)put;
    }
}

/* The folder of the traced file. */
static bool is_folder(const char *path)
{
    const char *const slash = strrchr(file, '/');
    return strlen(path) == (size_t)(slash - file) && strncmp(path, file, strlen(path)) == 0;
}

/* Is it a traced file, or their folder, of which only fsync is logged? Then *e gets its inode. */
static bool is_traced(int fd, struct trace_entry *e)
{
    char link[64], path[4096];
    struct stat s;
    const int saved = errno;
    pthread_once(&once, open_log);
    bool traced = false;
    if (log_fd >= 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t n = readlink(link, path, sizeof path - 1);
        path[n > 0 ? n : 0] = 0;
        traced =
            fstat(fd, &s) == 0 &&
            (S_ISDIR(s.st_mode) ? is_folder(path)
                                : S_ISREG(s.st_mode) && strncmp(path, file, strlen(file)) == 0);
    }
    if (traced)
        *e = (struct trace_entry){.named = strcmp(path, file) == 0, .inode = s.st_ino};
    errno = saved;
    return traced;
}

/* Logs the call, and lets others go on. */
static void done(struct trace_entry *e, enum trace_kind kind, const void *bytes, bool well)
{
    const int saved = errno;
    e->kind = kind;
    if (well) {
        put(e, sizeof *e);
        put(bytes, e->bytes);
    }
    end();
    errno = saved;
}

void trace_mark(const void *bytes, size_t size)
{
    pthread_once(&once, open_log);
    if (log_fd < 0)
        return;
    begin();
    struct trace_entry e = {.bytes = size};
    done(&e, TRACE_MARK, bytes, true);
}

static ssize_t written(struct trace_entry *e, off_t offset, const void *bytes, ssize_t size)
{
    e->offset = (uint64_t)offset;
    e->bytes = size > 0 ? (uint64_t)size : 0;
    done(e, TRACE_WRITE, bytes, size > 0);
    return size;
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
    struct trace_entry e;
    if (!is_traced(fd, &e))
        return NEXT(pwrite)(fd, buf, n, offset);
    begin();
    return written(&e, offset, buf, NEXT(pwrite)(fd, buf, n, offset));
}

ssize_t write(int fd, const void *buf, size_t n)
{
    struct trace_entry e;
    if (!is_traced(fd, &e))
        return NEXT(write)(fd, buf, n);
    begin();
    const off_t offset = lseek(fd, 0, SEEK_CUR);
    return written(&e, offset, buf, NEXT(write)(fd, buf, n));
}

/* As one write: the entry needs the bytes in a row. */
static char *gather(const struct iovec *part, int parts)
{
    size_t size = 0;
    for (int i = 0; i < parts; i++)
        size += part[i].iov_len;
    char *all = malloc(size + 1), *p = all;
    if (all == NULL)
        abort();
    for (int i = 0; i < parts; p += part[i++].iov_len)
        memcpy(p, part[i].iov_base, part[i].iov_len);
    return all;
}

ssize_t pwritev(int fd, const struct iovec *part, int parts, off_t offset)
{
    struct trace_entry e;
    if (!is_traced(fd, &e))
        return NEXT(pwritev)(fd, part, parts, offset);
    char *all = gather(part, parts);
    begin();
    const ssize_t n = written(&e, offset, all, NEXT(pwritev)(fd, part, parts, offset));
    free(all);
    return n;
}

ssize_t writev(int fd, const struct iovec *part, int parts)
{
    struct trace_entry e;
    if (!is_traced(fd, &e))
        return NEXT(writev)(fd, part, parts);
    char *all = gather(part, parts);
    begin();
    const off_t offset = lseek(fd, 0, SEEK_CUR);
    const ssize_t n = written(&e, offset, all, NEXT(writev)(fd, part, parts));
    free(all);
    return n;
}

int fsync(int fd)
{
    struct trace_entry e;
    if (!is_traced(fd, &e))
        return NEXT(fsync)(fd);
    begin();
    const int failed = NEXT(fsync)(fd);
    done(&e, TRACE_SYNC, NULL, !failed);
    return failed;
}

int fdatasync(int fd)
{
    struct trace_entry e;
    if (!is_traced(fd, &e))
        return NEXT(fdatasync)(fd);
    begin();
    const int failed = NEXT(fdatasync)(fd);
    done(&e, TRACE_SYNC, NULL, !failed);
    return failed;
}

int ftruncate(int fd, off_t size)
{
    struct trace_entry e;
    if (!is_traced(fd, &e))
        return NEXT(ftruncate)(fd, size);
    begin();
    const int failed = NEXT(ftruncate)(fd, size);
    e.offset = (uint64_t)size;
    done(&e, TRACE_RESIZE, NULL, !failed);
    return failed;
}

int fallocate(int fd, int mode, off_t offset, off_t size)
{
    struct trace_entry e;
    if (!is_traced(fd, &e))
        return NEXT(fallocate)(fd, mode, offset, size);
    begin();
    const int failed = NEXT(fallocate)(fd, mode, offset, size);
    const bool punches = mode & FALLOC_FL_PUNCH_HOLE;
    e.offset = (uint64_t)(punches ? offset : offset + size);
    e.length = (uint64_t)size;
    done(&e, punches ? TRACE_PUNCH : TRACE_GROW, NULL, !failed);
    return failed;
}

int rename(const char *from, const char *to)
{
    char path[4096];
    struct stat s;
    pthread_once(&once, open_log);
    const bool traced = log_fd >= 0 && stat(from, &s) == 0;
    if (!traced)
        return NEXT(rename)(from, to);
    begin();
    const int failed = NEXT(rename)(from, to);
    struct trace_entry e = {.named = 1, .inode = s.st_ino};
    const bool meant = !failed && realpath(to, path) != NULL && strcmp(path, file) == 0;
    done(&e, TRACE_RENAME, NULL, meant);
    return failed;
}

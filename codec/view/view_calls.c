/*
 * view_calls.c - the calls by which programs open files. Each is passed on to whoever comes behind
 * us, the C library at last; then its descriptor is looked at. (creat empties a file: it is not
 * ours.)
 *
 * Functions have names of their own here, and the C library's in the object file: its headers may
 * declare these in other ways (fortified, 64 bits).
 */
#define _GNU_SOURCE // RTLD_NEXT, O_TMPFILE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/real_files.h"
#include "view/view.h"

_Static_assert(sizeof(off_t) == 8, "open and open64 are alike");

bool zmpi_view_is_on(void)
{
    return atomic_load_explicit(&zmpi_view_on, memory_order_relaxed) && zmpi_real_files == 0;
}

/* dlsym may allocate memory, and the allocator may open a file. */
void *zmpi_view_next(const char *name, _Atomic(void *) *kept)
{
    static _Thread_local bool looking __attribute__((tls_model("initial-exec")));
    void *next = atomic_load_explicit(kept, memory_order_relaxed);
    if (next || looking)
        return next;
    looking = true;
    next = dlsym(RTLD_NEXT, name);
    atomic_store_explicit(kept, next, memory_order_relaxed);
    looking = false;
    return next;
}

#define SHOWN __attribute__((visibility("default")))

/* Does this call leave a file's bytes as they are, and give a descriptor that can read or write? */
static bool is_wanted(int fd, int flags)
{
    return fd >= 0 && zmpi_view_is_on() && !(flags & (O_TRUNC | O_PATH | O_DIRECTORY)) &&
           !(flags & O_CREAT && flags & O_EXCL) && (flags & O_TMPFILE) != O_TMPFILE;
}

static int shown(int fd, int flags)
{
    if (!is_wanted(fd, flags) || zmpi_view_open(fd, flags))
        return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static bool has_mode(int flags)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

/* ---- open ---- */

typedef int open_call(const char *path, int flags, ...);
typedef int openat_call(int at, const char *path, int flags, ...);
typedef int open_2_call(const char *path, int flags);
typedef int openat_2_call(int at, const char *path, int flags);

static mode_t mode_of(int flags, va_list rest)
{
    return has_mode(flags) ? va_arg(rest, mode_t) : 0;
}

#define OPEN(ours, name)                                                                           \
    SHOWN int ours(const char *path, int flags, ...) __asm__(name);                                \
    int ours(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        static _Atomic(void *) kept;                                                               \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        const mode_t mode = mode_of(flags, rest);                                                  \
        va_end(rest);                                                                              \
        open_call *next = (open_call *)zmpi_view_next(name, &kept);                                \
        return shown(next ? next(path, flags, mode)                                                \
                          : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode),                 \
                     flags);                                                                       \
    }

#define OPENAT(ours, name)                                                                         \
    SHOWN int ours(int at, const char *path, int flags, ...) __asm__(name);                        \
    int ours(int at, const char *path, int flags, ...)                                             \
    {                                                                                              \
        static _Atomic(void *) kept;                                                               \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        const mode_t mode = mode_of(flags, rest);                                                  \
        va_end(rest);                                                                              \
        openat_call *next = (openat_call *)zmpi_view_next(name, &kept);                            \
        return shown(next ? next(at, path, flags, mode)                                            \
                          : (int)syscall(SYS_openat, at, path, flags, mode),                       \
                     flags);                                                                       \
    }

/* Calls of fortified programs without a mode. */
#define OPEN_2(ours, name)                                                                         \
    SHOWN int ours(const char *path, int flags) __asm__(name);                                     \
    int ours(const char *path, int flags)                                                          \
    {                                                                                              \
        static _Atomic(void *) kept;                                                               \
        open_2_call *next = (open_2_call *)zmpi_view_next(name, &kept);                            \
        return shown(                                                                              \
            next ? next(path, flags) : (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0), flags); \
    }

#define OPENAT_2(ours, name)                                                                       \
    SHOWN int ours(int at, const char *path, int flags) __asm__(name);                             \
    int ours(int at, const char *path, int flags)                                                  \
    {                                                                                              \
        static _Atomic(void *) kept;                                                               \
        openat_2_call *next = (openat_2_call *)zmpi_view_next(name, &kept);                        \
        return shown(next ? next(at, path, flags) : (int)syscall(SYS_openat, at, path, flags, 0),  \
                     flags);                                                                       \
    }

OPEN(zmpi_view_open_, "open")
OPEN(zmpi_view_open64, "open64")
OPENAT(zmpi_view_openat, "openat")
OPENAT(zmpi_view_openat64, "openat64")
OPEN_2(zmpi_view_open_2, "__open_2")
OPEN_2(zmpi_view_open64_2, "__open64_2")
OPENAT_2(zmpi_view_openat_2, "__openat_2")
OPENAT_2(zmpi_view_openat64_2, "__openat64_2")

/* ---- fopen ---- */

typedef FILE *fopen_call(const char *path, const char *mode);
typedef FILE *freopen_call(const char *path, const char *mode, FILE *file);

/* The flags by which the C library opens a file for this mode. */
static int flags_of(const char *mode)
{
    const int access = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
    return access |
           (mode[0] == 'w'   ? O_CREAT | O_TRUNC
            : mode[0] == 'a' ? O_CREAT | O_APPEND
                             : 0) |
           (strchr(mode, 'x') ? O_EXCL : 0);
}

/* Its buffer is empty yet, so that the descriptor under it may be replaced. */
static FILE *file_shown(FILE *file, const char *mode)
{
    if (!file || !is_wanted(fileno(file), flags_of(mode)) ||
        zmpi_view_open(fileno(file), flags_of(mode)))
        return file;
    const int error = errno;
    fclose(file);
    errno = error;
    return NULL;
}

#define FOPEN(ours, name)                                                                          \
    SHOWN FILE *ours(const char *path, const char *mode) __asm__(name);                            \
    FILE *ours(const char *path, const char *mode)                                                 \
    {                                                                                              \
        static _Atomic(void *) kept;                                                               \
        fopen_call *next = (fopen_call *)zmpi_view_next(name, &kept);                              \
        if (next)                                                                                  \
            return file_shown(next(path, mode), mode);                                             \
        errno = ENOSYS;                                                                            \
        return NULL;                                                                               \
    }

#define FREOPEN(ours, name)                                                                        \
    SHOWN FILE *ours(const char *path, const char *mode, FILE *file) __asm__(name);                \
    FILE *ours(const char *path, const char *mode, FILE *file)                                     \
    {                                                                                              \
        static _Atomic(void *) kept;                                                               \
        freopen_call *next = (freopen_call *)zmpi_view_next(name, &kept);                          \
        if (next) {                                                                                \
            FILE *opened = next(path, mode, file);                                                 \
            return path ? file_shown(opened, mode) : opened;                                       \
        }                                                                                          \
        errno = ENOSYS;                                                                            \
        return NULL;                                                                               \
    }

FOPEN(zmpi_view_fopen, "fopen")
FOPEN(zmpi_view_fopen64, "fopen64")
FREOPEN(zmpi_view_freopen, "freopen")
FREOPEN(zmpi_view_freopen64, "freopen64")

/* view_stat.c - the calls that tell a file's size: of a container they tell the logical one. Times,
 * owner and rights are the container's; so is st_blocks, which tells the room on the disk. */
#define _GNU_SOURCE // statx, AT_EMPTY_PATH
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "reader/source.h"
#include "view/view.h"
#include "zmpi_reader.h"

#ifdef __GLIBC__ /* musl has one struct since 1.2.4, for both names */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "both are alike");
#endif

#define SHOWN __attribute__((visibility("default")))

/* ZMPI_VIEW_PLAIN: it is none, or nothing of it can be read. */
static uint64_t size_of(int fd, const struct stat *s)
{
    struct zmpi_reader_info info = {.size = sizeof info};
    struct zmpi_reader_file *file;
    uint64_t size = ZMPI_VIEW_PLAIN;
    if (!zmpi_view_is_container(fd, s) || zmpi_reader_open_fd(fd, "", NULL, &file, NULL))
        return ZMPI_VIEW_PLAIN;
    if (zmpi_reader_info(file, &info, NULL) == ZMPI_OK)
        size = info.logical_size;
    zmpi_reader_close(file);
    return size;
}

static uint64_t look_at(int at, const char *path, const struct stat *s)
{
    struct stat opened;
    uint64_t size = ZMPI_VIEW_PLAIN;
    const int fd = openat(at, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return ZMPI_VIEW_PLAIN;
    if (fstat(fd, &opened) == 0 && zmpi_view_same(&opened, s)) {
        size = size_of(fd, &opened);
        zmpi_view_note(&opened, size);
    }
    close(fd);
    return size;
}

/* Corrects what stat returned for this path. */
static void show(int at, const char *path, struct stat *s)
{
    const int before = errno;
    uint64_t size = ZMPI_VIEW_PLAIN;
    int cancel;
    if (!S_ISREG(s->st_mode) || s->st_size < ZMPI_HEADER_BYTES)
        return;
    if (!zmpi_view_recall(s, &size)) {
        zmpi_view_enter(&cancel);
        size = look_at(at, path, s);
        zmpi_view_leave(cancel);
    }
    if (size <= ZMPI_SIZE_MAX)
        s->st_size = (off_t)size;
    errno = before;
}

/* Corrects what stat returned for a descriptor, of a view or another. */
static void show_open(struct stat *s)
{
    struct stat container;
    if (zmpi_view_find(s, &container))
        *s = container;
}

/* ---- stat, lstat, fstatat: what a link says of itself is no regular file ---- */

typedef int stat_call(const char *path, struct stat *s);
typedef int fstat_call(int fd, struct stat *s);
typedef int fstatat_call(int at, const char *path, struct stat *s, int flags);

static int raw(int at, const char *path, struct stat *s, int flags)
{
    return (int)syscall(SYS_newfstatat, at, path, s, flags);
}

static int shown_at(int failed, int at, const char *path, struct stat *s)
{
    if (!failed && zmpi_view_is_on()) {
        if (path && *path)
            show(at, path, s);
        else
            show_open(s);
    }
    return failed;
}

#define STAT(ours, name, flags)                                                                    \
    SHOWN int ours(const char *path, struct stat *s) __asm__(name);                                \
    int ours(const char *path, struct stat *s)                                                     \
    {                                                                                              \
        static _Atomic(void *) kept;                                                               \
        stat_call *next = (stat_call *)zmpi_view_next(name, &kept);                                \
        return shown_at(next ? next(path, s) : raw(AT_FDCWD, path, s, flags), AT_FDCWD, path, s);  \
    }

#define FSTAT(ours, name)                                                                          \
    SHOWN int ours(int fd, struct stat *s) __asm__(name);                                          \
    int ours(int fd, struct stat *s)                                                               \
    {                                                                                              \
        static _Atomic(void *) kept;                                                               \
        fstat_call *next = (fstat_call *)zmpi_view_next(name, &kept);                              \
        return shown_at(next ? next(fd, s) : raw(fd, "", s, AT_EMPTY_PATH), fd, NULL, s);          \
    }

#define FSTATAT(ours, name)                                                                        \
    SHOWN int ours(int at, const char *path, struct stat *s, int flags) __asm__(name);             \
    int ours(int at, const char *path, struct stat *s, int flags)                                  \
    {                                                                                              \
        static _Atomic(void *) kept;                                                               \
        fstatat_call *next = (fstatat_call *)zmpi_view_next(name, &kept);                          \
        return shown_at(next ? next(at, path, s, flags) : raw(at, path, s, flags), at, path, s);   \
    }

STAT(zmpi_view_stat, "stat", 0)
STAT(zmpi_view_stat64, "stat64", 0)
STAT(zmpi_view_lstat, "lstat", AT_SYMLINK_NOFOLLOW)
STAT(zmpi_view_lstat64, "lstat64", AT_SYMLINK_NOFOLLOW)
FSTAT(zmpi_view_fstat, "fstat")
FSTAT(zmpi_view_fstat64, "fstat64")
FSTATAT(zmpi_view_fstatat, "fstatat")
FSTATAT(zmpi_view_fstatat64, "fstatat64")

/* ---- the names of these in programs built with older C libraries ---- */

typedef int xstat_call(int version, const char *path, struct stat *s);
typedef int fxstat_call(int version, int fd, struct stat *s);
typedef int fxstatat_call(int version, int at, const char *path, struct stat *s, int flags);

#define XSTAT(ours, name, flags)                                                                   \
    SHOWN int ours(int version, const char *path, struct stat *s) __asm__(name);                   \
    int ours(int version, const char *path, struct stat *s)                                        \
    {                                                                                              \
        static _Atomic(void *) kept;                                                               \
        xstat_call *next = (xstat_call *)zmpi_view_next(name, &kept);                              \
        return shown_at(next ? next(version, path, s) : raw(AT_FDCWD, path, s, flags), AT_FDCWD,   \
                        path, s);                                                                  \
    }

#define FXSTAT(ours, name)                                                                         \
    SHOWN int ours(int version, int fd, struct stat *s) __asm__(name);                             \
    int ours(int version, int fd, struct stat *s)                                                  \
    {                                                                                              \
        static _Atomic(void *) kept;                                                               \
        fxstat_call *next = (fxstat_call *)zmpi_view_next(name, &kept);                            \
        return shown_at(next ? next(version, fd, s) : raw(fd, "", s, AT_EMPTY_PATH), fd, NULL, s); \
    }

#define FXSTATAT(ours, name)                                                                       \
    SHOWN int ours(int version, int at, const char *path, struct stat *s,                          \
                   int flags) __asm__(name);                                                       \
    int ours(int version, int at, const char *path, struct stat *s, int flags)                     \
    {                                                                                              \
        static _Atomic(void *) kept;                                                               \
        fxstatat_call *next = (fxstatat_call *)zmpi_view_next(name, &kept);                        \
        return shown_at(next ? next(version, at, path, s, flags) : raw(at, path, s, flags), at,    \
                        path, s);                                                                  \
    }

XSTAT(zmpi_view_xstat, "__xstat", 0)
XSTAT(zmpi_view_xstat64, "__xstat64", 0)
XSTAT(zmpi_view_lxstat, "__lxstat", AT_SYMLINK_NOFOLLOW)
XSTAT(zmpi_view_lxstat64, "__lxstat64", AT_SYMLINK_NOFOLLOW)
FXSTAT(zmpi_view_fxstat, "__fxstat")
FXSTAT(zmpi_view_fxstat64, "__fxstat64")
FXSTATAT(zmpi_view_fxstatat, "__fxstatat")
FXSTATAT(zmpi_view_fxstatat64, "__fxstatat64")

/* ---- statx, which musl has since 1.2.5 ---- */

#ifdef STATX_SIZE
typedef int statx_call(int at, const char *path, int flags, unsigned mask, struct statx *x);

static struct statx_timestamp time_of(const struct timespec *t)
{
    return (struct statx_timestamp){.tv_sec = t->tv_sec, .tv_nsec = (uint32_t)t->tv_nsec};
}

/* Of a view: stat of its container. */
static void give(const struct stat *s, struct statx *x)
{
    x->stx_dev_major = major(s->st_dev);
    x->stx_dev_minor = minor(s->st_dev);
    x->stx_ino = s->st_ino;
    x->stx_mode = (uint16_t)s->st_mode;
    x->stx_nlink = (uint32_t)s->st_nlink;
    x->stx_uid = s->st_uid;
    x->stx_gid = s->st_gid;
    x->stx_size = (uint64_t)s->st_size;
    x->stx_blocks = (uint64_t)s->st_blocks;
    x->stx_atime = time_of(&s->st_atim);
    x->stx_mtime = time_of(&s->st_mtim);
    x->stx_ctime = time_of(&s->st_ctim);
    x->stx_mask &= ~(uint32_t)STATX_BTIME;
}

SHOWN int zmpi_view_statx(int at, const char *path, int flags, unsigned mask,
                          struct statx *x) __asm__("statx");
int zmpi_view_statx(int at, const char *path, int flags, unsigned mask, struct statx *x)
{
    static _Atomic(void *) kept;
    statx_call *next = (statx_call *)zmpi_view_next("statx", &kept);
    const int failed =
        next ? next(at, path, flags, mask, x) : (int)syscall(SYS_statx, at, path, flags, mask, x);
    const bool is_path = path && *path;
    struct stat s;
    if (failed || !zmpi_view_is_on() || (is_path && !(mask & STATX_SIZE)))
        return failed;
    const int before = errno;
    if (raw(at, is_path ? path : "", &s, is_path ? flags & AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH)) {
        errno = before;
        return 0;
    }
    if (is_path) {
        show(at, path, &s);
        x->stx_size = s.st_ino == x->stx_ino ? (uint64_t)s.st_size : x->stx_size;
    } else if (zmpi_view_find(&s, &s)) {
        give(&s, x);
    }
    return 0;
}
#endif

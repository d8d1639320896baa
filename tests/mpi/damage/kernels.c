/*
 * kernels.c - stands behind libzmpi: every rank finds a boot id of its own, as on nodes of their
 * own. Where independent writes put their records is then not asked of the file's locks
 * (docs/architecture.md, 5).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *rank_as_text(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    return rank ? rank : getenv("PMI_RANK");
}

/* A file that holds nothing but this rank's number. */
static int own_id(void)
{
    const char *rank = rank_as_text();
    int fd = memfd_create("boot_id", MFD_CLOEXEC);
    if (fd < 0 || !rank || dprintf(fd, "%s\n", rank) < 0 || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    return fd;
}

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (strcmp(path, "/proc/sys/kernel/random/boot_id") == 0)
        return own_id();
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

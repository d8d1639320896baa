/*
 * reopen.c - opens a descriptor of our own for a file that the MPI library has open, for locks and
 * for writes by other threads.
 *
 * Its name may be gone by now, or belong to another file: a program deletes scratch files while
 * they are open, and the next job uses the name again. But the MPI library's descriptor is among
 * those of the process, and Linux can open a descriptor's file again.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/physical.h"
#include "file/zfile.h"

static bool is_known(const struct zfile *f)
{
    static const unsigned char none[16];
    return memcmp(f->container.header.id, none, sizeof none) != 0;
}

static bool has_its_id(const struct zfile *f, int fd)
{
    unsigned char b[ZMPI_HEADER_BYTES];
    struct zmpi_header h;
    return zfd_read(fd, b, sizeof b, 0) == (ssize_t)sizeof b &&
           zmpi_header_decode(&h, b) == ZMPI_OK &&
           memcmp(h.id, f->container.header.id, sizeof h.id) == 0;
}

/* The result of a search among the files that this process has open. */
struct found {
    int container;  /* the lowest descriptor of a file with the container's id, -1: none */
    bool has_named; /* the file that has the name now */
};

static void look_at(const struct zfile *f, const struct stat *named, int fd, struct found *found)
{
    struct stat s;
    if (fstat(fd, &s) || !S_ISREG(s.st_mode))
        return;
    found->has_named |= named && s.st_dev == named->st_dev && s.st_ino == named->st_ino;
    if (found->container < 0 && has_its_id(f, fd))
        found->container = fd;
}

/* named: the file with the name, which is open as `fd`. */
static struct found find(const struct zfile *f, const struct stat *named, int fd)
{
    struct found found = {.container = -1};
    DIR *fds = opendir("/proc/self/fd");
    for (struct dirent *d; fds && (d = readdir(fds));) {
        char *end;
        const int one = (int)strtol(d->d_name, &end, 10);
        if (!*end && end != d->d_name && one != fd)
            look_at(f, named, one, &found);
    }
    if (fds)
        closedir(fds);
    return found;
}

/* If somebody has made the file unwritable meanwhile, this shares the MPI library's file
 * description. That is as good, since the MPI library's locks belong to processes. */
static int open_descriptor(const struct zfile *f, int fd, int flags)
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int again = open(link, flags);
    if (again < 0)
        again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (again < 0 || has_its_id(f, again)) /* another thread may have closed it */
        return again;
    close(again);
    return -1;
}

int zreopen(const struct zfile *f)
{
    const int flags = (zfile_may_write(f) ? O_RDWR : O_RDONLY) | O_CLOEXEC;
    struct stat named;
    const int fd = open(f->place, flags);
    if (!is_known(f) || (fd >= 0 && has_its_id(f, fd)))
        return fd;
    const struct found found = find(f, fd >= 0 && fstat(fd, &named) == 0 ? &named : NULL, fd);
    if (found.container < 0 && found.has_named) /* its header cannot be read just now */
        return fd;
    if (fd >= 0)
        close(fd);
    return found.container < 0 ? -1 : open_descriptor(f, found.container, flags);
}

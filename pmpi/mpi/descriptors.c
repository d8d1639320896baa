/*
 * descriptors.c - finds new files that the program itself has open while it calls MPI_File_open.
 * ABINIT, for example, writes a file's first records by Fortran and the others by MPI-IO; what is
 * still in Fortran's buffers would overwrite the container. Such a file stays plain.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/descriptors.h"

int zdescriptors_of(const struct stat *wanted)
{
    DIR *fds = opendir("/proc/self/fd");
    struct stat s;
    int n = fds ? 0 : -1;
    for (struct dirent *d; fds && (d = readdir(fds));) {
        char *end;
        const int fd = (int)strtol(d->d_name, &end, 10);
        n += !*end && end != d->d_name && fstat(fd, &s) == 0 && s.st_dev == wanted->st_dev &&
             s.st_ino == wanted->st_ino;
    }
    if (fds)
        closedir(fds);
    return n;
}

/* Threads that are inside MPI_File_open: their descriptors of empty files are not the program's. */
static atomic_int opening;

void zdescriptors_opening(bool begins)
{
    atomic_fetch_add(&opening, begins ? 1 : -1);
}

static bool is_written_at(int fd, const struct stat *s)
{
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && !(flags & O_PATH) && (flags & O_ACCMODE) != O_RDONLY &&
           S_ISREG(s->st_mode) && s->st_size == 0;
}

/* Looks at the path only if the process has any empty file open, since a stat by all ranks at once
 * is a burden for parallel file systems. */
bool zdescriptors_writing(const char *path)
{
    DIR *fds = atomic_load(&opening) == 1 ? opendir("/proc/self/fd") : NULL;
    struct stat s, wanted;
    bool known = false, found = false;
    for (struct dirent *d; fds && !found && (d = readdir(fds));) {
        char *end;
        const int fd = (int)strtol(d->d_name, &end, 10);
        if (*end || end == d->d_name || fstat(fd, &s) || !is_written_at(fd, &s))
            continue;
        if (!known && stat(path, &wanted))
            break;
        known = true;
        found = s.st_dev == wanted.st_dev && s.st_ino == wanted.st_ino;
    }
    if (fds)
        closedir(fds);
    return found;
}

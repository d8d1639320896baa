/* view_open.c - what a descriptor of a container becomes. */
#define _GNU_SOURCE // dup3
#include "view/view.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/real_files.h"
#include "reader/source.h"

void zmpi_view_enter(int *cancel)
{
    zmpi_real_files++;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel);
}

void zmpi_view_leave(int cancel)
{
    zmpi_real_files--;
    pthread_setcancelstate(cancel, NULL);
}

/* The number stays: what it means changes. */
static bool replace(int fd, int by)
{
    const int flags = fcntl(fd, F_GETFD);
    const bool done = dup3(by, fd, flags & FD_CLOEXEC ? O_CLOEXEC : 0) >= 0;
    const int error = errno;
    close(by);
    errno = error;
    return done;
}

static bool open_here(int fd, int flags)
{
    char self[40];
    struct stat s;
    if (fstat(fd, &s) || !S_ISREG(s.st_mode) || s.st_size < ZMPI_HEADER_BYTES)
        return true;
    if ((flags & O_ACCMODE) == O_RDONLY) {
        const int view = zmpi_view_is_container(fd, &s) ? zmpi_view_make(fd, &s) : fd;
        return view == fd || (view >= 0 && replace(fd, view));
    }
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    int other = open(self, O_RDONLY | O_CLOEXEC); /* to read a file that was opened write-only */
    const bool is_container = other >= 0 && zmpi_view_is_container(other, &s);
    if (other >= 0)
        close(other);
    other = fd;
    return !is_container || (zmpi_view_make_plain(&other, flags) && replace(fd, other));
}

bool zmpi_view_open(int fd, int flags)
{
    const int before = errno;
    int cancel;
    zmpi_view_enter(&cancel);
    const bool done = open_here(fd, flags);
    zmpi_view_leave(cancel);
    if (done)
        errno = before;
    return done;
}

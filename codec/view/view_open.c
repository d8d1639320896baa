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

static bool is_zero(const unsigned char *p, size_t n)
{
    return n && *p == 0 && memcmp(p, p + 1, n - 1) == 0;
}

/* Most files are told by eight bytes. Zeros may be a container whose header is lost. */
bool zmpi_view_is_container(int fd, const struct stat *s)
{
    unsigned char head[8];
    uint64_t size;
    enum zmpi_kind kind;
    struct zmpi_source source = {.fd = fd};
    struct zmpi_reader in = zmpi_source_reader(&source, (uint64_t)s->st_size, 1);
    in.data_at = NULL; /* it would move the program's position */
    if (!S_ISREG(s->st_mode) || s->st_size < ZMPI_HEADER_BYTES ||
        pread(fd, head, sizeof head, 0) != sizeof head)
        return false;
    if (zmpi_is_container(head, sizeof head))
        return true;
    if (!is_zero(head, sizeof head) || zmpi_view_recall(s, &size))
        return false;
    if (zmpi_source_look(&in, &kind) || !zmpi_kind_is_plain(kind))
        return true; /* reading tells what is wrong */
    zmpi_view_note(s, ZMPI_VIEW_PLAIN);
    return false;
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
    int other = open(self, O_RDONLY | O_CLOEXEC); /* what is written only may be read so */
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

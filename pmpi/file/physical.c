/*
 * physical.c - reads and writes the container's own bytes through the MPI library, and reports
 * failures.
 *
 * MPI libraries lose the reason (seen with Open MPI 4.1.4 and MPICH 4.0): ROMIO calls every failed
 * write MPI_ERR_IO, OMPIO reports success and fewer bytes. But they leave errno as the system set
 * it, and that tells the reason.
 */
#define _GNU_SOURCE // SEEK_DATA
#include "file/physical.h"
#include "mpi/runtime.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct reason {
    int error, error_class;
    const char *advice;
};

static const struct reason reasons[] = {
    {ENOSPC, MPI_ERR_NO_SPACE, "make room, or write to another file system"},
    {EDQUOT, MPI_ERR_QUOTA, "make room, or ask for a larger quota"},
    {EROFS, MPI_ERR_READ_ONLY, "write to another file system, or have it mounted for writing"},
    {EACCES, MPI_ERR_ACCESS, "see who owns the file and its folder"},
    {EPERM, MPI_ERR_ACCESS, "see who owns the file and its folder, and its attributes (lsattr)"},
    {EFBIG, MPI_ERR_IO, "see the limit on the size of files (ulimit -f)"},
    {EIO, MPI_ERR_IO, "the device or the network behind the file system fails: see the system log"},
};

static const struct reason *reason_of(int error)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].error == error)
            return &reasons[i];
    return NULL;
}

int zphysical_class(int error)
{
    const struct reason *r = reason_of(error);
    return r ? r->error_class : MPI_ERR_IO;
}

/* Does the class say what is wrong? */
static bool is_vague(int error_class)
{
    return error_class == MPI_SUCCESS || error_class == MPI_ERR_OTHER ||
           error_class == MPI_ERR_UNKNOWN || error_class == MPI_ERR_IO ||
           error_class == MPI_ERR_FILE || error_class == MPI_ERR_INTERN;
}

static bool disk_is_full(const struct zfile *f)
{
    struct statvfs s;
    return statvfs(f->place, &s) == 0 && s.f_bavail == 0;
}

/* A full disk fails every write: it is logged once. */
static void report(struct zfile *f, int error_class, const struct reason *r, const char *what)
{
    if (f->reported == error_class)
        return;
    f->reported = error_class;
    if (r)
        zmpi_log(ZMPI_LOG_ERROR, "%s: %s: %s; %s", f->path, what, strerror(r->error), r->advice);
    else
        zmpi_log(ZMPI_LOG_ERROR, "%s: %s failed", f->path, what);
}

int zphysical_failed(struct zfile *f, int rc, int error, const char *what)
{
    int error_class = MPI_SUCCESS;
    if (rc)
        PMPI_Error_class(rc, &error_class);
    if (is_vague(error_class) && !reason_of(error) && disk_is_full(f))
        error = ENOSPC;
    const bool better = is_vague(error_class);
    error_class = better ? zphysical_class(error) : error_class;
    report(f, error_class, reason_of(error), what);
    if (!rc) /* else the MPI library has called it */
        PMPI_File_call_errhandler(f->handle, error_class);
    return better ? error_class : rc;
}

/* Reads or writes at least one byte of `size`, or returns an error. */
static int write_some(struct zfile *f, uint64_t offset, const void *src, size_t size, size_t *done)
{
    MPI_Status status;
    int n = size < INT_MAX ? (int)size : INT_MAX, written = 0;
    const MPI_Errhandler handler = zfile_defer_handler(f);
    errno = 0;
    int rc = PMPI_File_write_at(f->fh, (MPI_Offset)offset, src, n, MPI_BYTE, &status);
    const int error = errno;
    zfile_call_handler(f, handler, rc);
    if (!rc)
        PMPI_Get_count(&status, MPI_BYTE, &written);
    *done = written > 0 ? (size_t)written : 0;
    return rc || written <= 0 ? zphysical_failed(f, rc, error, "writing") : MPI_SUCCESS;
}

int zwrite_at(struct zfile *f, uint64_t offset, const void *src, size_t size)
{
    const unsigned char *p = src;
    double start = zmpi_seconds();
    int rc = MPI_SUCCESS;
    while (size && !rc) {
        size_t done;
        rc = write_some(f, offset, p, size, &done);
        offset += done;
        p += done;
        size -= done;
    }
    double elapsed = zmpi_seconds() - start;
    f->stats.n.seconds_write += elapsed;
    if (!rc)
        zmpi_codec_written(&f->choice, ZMPI_CODEC_HERE, (double)(p - (const unsigned char *)src),
                           elapsed, false);
    return rc;
}

int zphysical_sync(struct zfile *f)
{
    const MPI_Errhandler handler = zfile_defer_handler(f);
    errno = 0;
    int rc = PMPI_File_sync(f->fh);
    const int error = errno;
    zfile_call_handler(f, handler, rc);
    if (rc && error == 0) { /* as OMPIO does */
        zmpi_log(
            ZMPI_LOG_WARN,
            "%s: the MPI library refuses MPI_File_sync while requests of this process are under "
            "way; complete them before",
            f->path);
        return rc;
    }
    return rc ? zphysical_failed(f, rc, error, "MPI_File_sync") : MPI_SUCCESS;
}

static enum zmpi_status read_callback(void *context, uint64_t offset, void *dst, size_t size)
{
    struct zfile *f = context;
    unsigned char *p = dst;
    while (size) {
        MPI_Status status;
        int n = size < (1U << 30) ? (int)size : 1 << 30, got = 0;
        const MPI_Errhandler handler = zfile_defer_handler(f);
        const int rc = PMPI_File_read_at(f->fh, (MPI_Offset)offset, p, n, MPI_BYTE, &status);
        if (zfile_call_handler(f, handler, rc))
            return ZMPI_ERR_IO;
        PMPI_Get_count(&status, MPI_BYTE, &got);
        /* Nobody reads beyond the size that zfile_reader told: this is not the end of the file. */
        if (got <= 0)
            return ZMPI_ERR_IO;
        offset += (uint64_t)got;
        p += got;
        size -= (size_t)got;
    }
    return ZMPI_OK;
}

uint64_t zfile_data_at(void *context, uint64_t offset)
{
    const struct zfile *f = context;
    const off_t data = f->session.fd < 0 ? -1 : lseek(f->session.fd, (off_t)offset, SEEK_DATA);
    if (data >= 0)
        return (uint64_t)data;
    return f->session.fd >= 0 && errno == ENXIO ? UINT64_MAX : offset;
}

struct zmpi_reader zfile_reader(struct zfile *f)
{
    MPI_Offset size = 0;
    PMPI_File_get_size(f->fh, &size);
    return (struct zmpi_reader){.read = read_callback,
                                .context = f,
                                .file_size = (uint64_t)size,
                                .threads = zruntime_threads(&f->options)};
}

ssize_t zfd_read(int fd, void *dst, size_t size, off_t offset)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, (char *)dst + done, size - done, offset + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

int zfd_write(int fd, const void *src, size_t size, off_t offset)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pwrite(fd, (const char *)src + done, size - done, offset + (off_t)done);
        if (n < 0 && errno != EINTR)
            return -1;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

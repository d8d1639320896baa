/*
 * shared.c - the shared file pointer (MPI 3.1, 13.4.4).
 *
 * Ranks move it one by one without the others' help, so it lives where all can reach it: in a small
 * file beside the container, made when it is first needed, locked for each step and removed at
 * close. It counts data bytes of the view.
 */
#define _GNU_SOURCE // F_OFD_SETLKW
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls/access.h"
#include "transfer/transfer.h"
#include "file/physical.h"
#include "wrappers.h"

void zshared_remove(const struct zfile *f)
{
    if (f->rank == 0)
        unlink(f->shared.path);
}

static int lock(const struct zfile *f, int *fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    *fd = open(f->shared.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*fd < 0)
        return errno;
    while (fcntl(*fd, F_OFD_SETLKW, &whole) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

static int raise(struct zfile *f, int error)
{
    return zfile_raise(f, zphysical_class(error), "shared file pointer, %s: %s", f->shared.path,
                       strerror(error));
}

/* The change of the pointer by a step. */
enum step { STEP_ADD, STEP_ADD_TO_END, STEP_SET };

/* One locked step; *before is where the pointer was. STEP_ADD_TO_END does not go beyond `limit`;
 * *amount becomes what it went. */
static int step(struct zfile *f, enum step how, uint64_t *amount, uint64_t limit, uint64_t *before)
{
    int fd = -1, error = lock(f, &fd);
    uint64_t value = f->shared.start;
    if (!error) {
        ssize_t got = pread(fd, &value, sizeof value, 0);
        if (got < 0)
            error = errno;
        else if (got != (ssize_t)sizeof value)
            value = f->shared.start; /* just made */
    }
    *before = value;
    if (how == STEP_ADD_TO_END) {
        uint64_t left = value < limit ? limit - value : 0;
        *amount = *amount < left ? *amount : left;
    }
    value = how == STEP_SET ? *amount : value + *amount;
    if (!error && pwrite(fd, &value, sizeof value, 0) != (ssize_t)sizeof value)
        error = errno ? errno : ENOSPC;
    if (fd >= 0) {
        /* A child that another thread forks just now would keep the lock. */
        (void)fcntl(fd, F_OFD_SETLK, &(struct flock){.l_type = F_UNLCK, .l_whence = SEEK_SET});
        close(fd);
    }
    return error ? raise(f, error) : MPI_SUCCESS;
}

/* Bytes that a request moves at most. */
static int request_bytes(struct zfile *f, const struct zrequest *r, uint64_t *bytes)
{
    MPI_Count size = 0;
    *bytes = 0;
    int rc = ztype_size(r->datatype, &size);
    if (rc)
        return zfile_raise(f, rc, "shared file pointer: datatype");
    if (r->count < 0 || __builtin_mul_overflow((uint64_t)size, (uint64_t)r->count, bytes))
        return zfile_raise(f, MPI_ERR_COUNT, "shared file pointer: count");
    return MPI_SUCCESS;
}

static uint64_t readable(struct zfile *f)
{
    return zview_bytes_below(&f->view, zfile_size(f));
}

int zshared_access(struct zfile *f, struct zrequest *r, ztransfer *go)
{
    uint64_t bytes;
    int rc = request_bytes(f, r, &bytes);
    if (!rc && go == zread_request)
        rc = step(f, STEP_ADD_TO_END, &bytes, readable(f), &r->position);
    else if (!rc)
        rc = step(f, STEP_ADD, &bytes, 0, &r->position);
    if (!rc)
        rc = go(f, r, &r->done);
    zstatus_set(r->status, r->done);
    return rc;
}

/* Each rank's data follow those of the ranks before it; rank 0 moves the pointer for all. */
int zshared_ordered(struct zfile *f, struct zrequest *r, ztransfer *go)
{
    uint64_t mine = 0, before = 0, total = 0, base[2] = {0, 0};
    int flushed = go == zread_request ? zflush_independent(f) : MPI_SUCCESS;
    int sized = request_bytes(f, r, &mine), rc = flushed ? flushed : sized;
    PMPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, f->comm);
    PMPI_Allreduce(&mine, &total, 1, MPI_UINT64_T, MPI_SUM, f->comm);
    if (f->rank == 0) {
        before = 0;
        int moved = go == zread_request ? step(f, STEP_ADD_TO_END, &total, readable(f), &base[0])
                                        : step(f, STEP_ADD, &total, 0, &base[0]);
        base[1] = (uint64_t)moved;
    }
    int sent = PMPI_Bcast(base, 2, MPI_UINT64_T, 0, f->comm);
    rc = rc ? rc : sent ? sent : (int)base[1];
    r->position = base[0] + before;
    if (rc)
        r->count = 0; /* the others go on */
    int moved = go(f, r, &r->done);
    zstatus_set(r->status, r->done);
    return rc ? rc : moved;
}

int zshared_reset(struct zfile *f, bool changed)
{
    /* Others may still be using it as it was. */
    int rc = PMPI_Barrier(f->comm);
    if (changed)
        f->shared.start = 0;
    if (!rc && changed && f->rank == 0 && access(f->shared.path, F_OK) == 0) {
        uint64_t zero = 0, before;
        rc = step(f, STEP_SET, &zero, 0, &before);
    }
    /* Nobody may move it before it is reset. */
    int waited = PMPI_Barrier(f->comm);
    return rc ? rc : waited;
}

int zshared_position(struct zfile *f, uint64_t *position)
{
    uint64_t nothing = 0;
    return step(f, STEP_ADD, &nothing, 0, position);
}

int zf_file_get_position_shared(struct zfile *f, MPI_Offset *offset)
{
    uint64_t position = 0;
    int rc = zfile_sequential(f, "get_position_shared");
    rc = rc ? rc : zshared_position(f, &position);
    *offset = (MPI_Offset)(position / f->view.etype_size);
    return rc;
}

/* Collective; rank 0 moves it. */
int zf_file_seek_shared(struct zfile *f, MPI_Offset offset, int whence)
{
    uint64_t size = 0, at = 0;
    MPI_Offset from = 0;
    int rc = zfile_sequential(f, "seek_shared");
    if (rc)
        return rc;
    int flushed = zflush_independent(f);
    uint64_t mine = zfile_size(f);
    PMPI_Allreduce(&mine, &size, 1, MPI_UINT64_T, MPI_MAX, f->comm);
    if (f->rank == 0) {
        if (whence == MPI_SEEK_CUR)
            rc = zshared_position(f, &at);
        else if (whence == MPI_SEEK_END)
            at = (zview_bytes_below(&f->view, size) + f->view.etype_size - 1) / f->view.etype_size *
                 f->view.etype_size;
        from = (MPI_Offset)(at / f->view.etype_size);
        bool known = whence == MPI_SEEK_SET || whence == MPI_SEEK_CUR || whence == MPI_SEEK_END;
        if (!rc && (!known || __builtin_add_overflow(from, offset, &from) || from < 0 ||
                    __builtin_mul_overflow((uint64_t)from, f->view.etype_size, &at)))
            rc = zfile_raise(f, MPI_ERR_ARG, "seek_shared: offset %lld, whence %d",
                             (long long)offset, whence);
        uint64_t before;
        if (!rc)
            rc = step(f, STEP_SET, &at, 0, &before);
    }
    int worst = rc, sent = PMPI_Bcast(&worst, 1, MPI_INT, 0, f->comm);
    if (f->rank && worst)
        PMPI_File_call_errhandler(f->handle, worst);
    return sent ? sent : worst ? worst : flushed;
}

int zf_file_write_shared(struct zfile *f, const void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status *status)
{
    struct zrequest r = zrequest_make(buf, count, datatype, status);
    return zshared_access(f, &r, zwrite_independent);
}

int zf_file_read_shared(struct zfile *f, void *buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Status *status)
{
    struct zrequest r = zrequest_make(buf, count, datatype, status);
    return zshared_access(f, &r, zread_request);
}

int zf_file_write_ordered(struct zfile *f, const void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Status *status)
{
    struct zrequest r = zrequest_make(buf, count, datatype, status);
    return zshared_ordered(f, &r, zwrite_collective);
}

int zf_file_read_ordered(struct zfile *f, void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Status *status)
{
    struct zrequest r = zrequest_make(buf, count, datatype, status);
    return zshared_ordered(f, &r, zread_request);
}

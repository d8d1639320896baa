/*
 * nonblocking.c - MPI_File_i*: done with the program's buffer when the call returns, with a
 * generalized request that says so (MPI 3.1, 12.2).
 *
 * Small writes are a copy into the staging batch, large ones are compressed here and written in the
 * background. The collective
 * forms may not wait for other ranks either, so they are the independent ones: what is staged
 * becomes visible to others where MPI says that it must, at sync and close.
 */
#include <stdlib.h>

#include "calls/access.h"
#include "transfer/transfer.h"
#include "wrappers.h"

/* The status that MPI_Wait returns. */
struct outcome {
    uint64_t bytes;
};

static int query(void *state, MPI_Status *status)
{
    const struct outcome *o = state;
    zstatus_set(status, o->bytes);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int discard(void *state)
{
    free(state);
    return MPI_SUCCESS;
}

/* Too late for that, always. */
static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

/* A request that is complete already; none if the operation failed. */
static int complete(struct zfile *f, int rc, uint64_t bytes, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    f->behind = false;
    if (rc)
        return rc;
    struct outcome *o = malloc(sizeof *o);
    if (!o)
        return zfile_raise_status(f, ZMPI_ERR_MEMORY, "nonblocking access");
    o->bytes = bytes;
    rc = PMPI_Grequest_start(query, discard, cancel, o, request);
    if (rc) {
        free(o);
        return rc;
    }
    return PMPI_Grequest_complete(*request);
}

static int start_at(struct zfile *f, MPI_Offset offset, const void *buf, MPI_Count count,
                    MPI_Datatype datatype, ztransfer *go, MPI_Request *request)
{
    struct zrequest r = zrequest_make(buf, count, datatype, MPI_STATUS_IGNORE);
    f->behind = true;
    int rc = zaccess_at(f, offset, &r, go, false);
    return complete(f, rc, r.done, request);
}

static int start_pointer(struct zfile *f, const void *buf, MPI_Count count, MPI_Datatype datatype,
                         ztransfer *go, MPI_Request *request)
{
    struct zrequest r = zrequest_make(buf, count, datatype, MPI_STATUS_IGNORE);
    f->behind = true;
    int rc = zaccess_pointer(f, &r, go);
    return complete(f, rc, r.done, request);
}

int zf_file_iwrite_at(struct zfile *f, MPI_Offset offset, const void *buf, MPI_Count count,
                      MPI_Datatype datatype, MPI_Request *request)
{
    return start_at(f, offset, buf, count, datatype, zwrite_independent, request);
}

int zf_file_iwrite_at_all(struct zfile *f, MPI_Offset offset, const void *buf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Request *request)
{
    return start_at(f, offset, buf, count, datatype, zwrite_independent, request);
}

int zf_file_iwrite(struct zfile *f, const void *buf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Request *request)
{
    return start_pointer(f, buf, count, datatype, zwrite_independent, request);
}

int zf_file_iwrite_all(struct zfile *f, const void *buf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Request *request)
{
    return start_pointer(f, buf, count, datatype, zwrite_independent, request);
}

int zf_file_iread_at(struct zfile *f, MPI_Offset offset, void *buf, MPI_Count count,
                     MPI_Datatype datatype, MPI_Request *request)
{
    return start_at(f, offset, buf, count, datatype, zread_request, request);
}

int zf_file_iread_at_all(struct zfile *f, MPI_Offset offset, void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Request *request)
{
    return start_at(f, offset, buf, count, datatype, zread_request, request);
}

int zf_file_iread(struct zfile *f, void *buf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Request *request)
{
    return start_pointer(f, buf, count, datatype, zread_request, request);
}

int zf_file_iread_all(struct zfile *f, void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Request *request)
{
    return start_pointer(f, buf, count, datatype, zread_request, request);
}

static int start_shared(struct zfile *f, struct zrequest *r, ztransfer *go, MPI_Request *request)
{
    f->behind = true;
    int rc = zshared_access(f, r, go);
    return complete(f, rc, r->done, request);
}

int zf_file_iwrite_shared(struct zfile *f, const void *buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Request *request)
{
    struct zrequest r = zrequest_make(buf, count, datatype, MPI_STATUS_IGNORE);
    return start_shared(f, &r, zwrite_independent, request);
}

int zf_file_iread_shared(struct zfile *f, void *buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Request *request)
{
    struct zrequest r = zrequest_make(buf, count, datatype, MPI_STATUS_IGNORE);
    return start_shared(f, &r, zread_request, request);
}

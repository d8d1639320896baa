/* access.c - MPI_File_read*, write*: where each finds its position, and what it reports
 * (MPI 3.1, 13.4). */
#include "calls/access.h"
#include "transfer/transfer.h"
#include "wrappers.h"

void zstatus_set(MPI_Status *status, uint64_t bytes)
{
    if (status != MPI_STATUS_IGNORE) {
        PMPI_Status_set_elements_x(status, MPI_BYTE, (MPI_Count)bytes);
        PMPI_Status_set_cancelled(status, 0);
    }
}

int zfile_sequential(struct zfile *f, const char *what)
{
    return f->amode & MPI_MODE_SEQUENTIAL
               ? zfile_raise(f, MPI_ERR_UNSUPPORTED_OPERATION,
                             "%s in a file opened with MPI_MODE_SEQUENTIAL", what)
               : MPI_SUCCESS;
}

int zaccess_at(struct zfile *f, MPI_Offset offset, struct zrequest *r, ztransfer *go,
               bool collective)
{
    int bad = zfile_sequential(f, "an explicit offset");
    if (bad)
        return bad;
    if (offset < 0 || __builtin_mul_overflow((uint64_t)offset, f->view.etype_size, &r->position)) {
        bad = zfile_raise(f, MPI_ERR_ARG, "offset %lld is out of range", (long long)offset);
        r->position = 0;
        r->count = 0;
        if (!collective)
            return bad;
    }
    int rc = go(f, r, &r->done);
    zstatus_set(r->status, r->done);
    return bad ? bad : rc;
}

int zaccess_pointer(struct zfile *f, struct zrequest *r, ztransfer *go)
{
    int rc = zfile_sequential(f, "the individual file pointer");
    if (rc)
        return rc;
    r->position = f->position;
    rc = go(f, r, &r->done);
    f->position += r->done;
    zstatus_set(r->status, r->done);
    return rc;
}

struct zrequest zrequest_make(const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Status *status)
{
    return (struct zrequest){
        .buf = (void *)(uintptr_t)buf, .count = count, .datatype = datatype, .status = status};
}

int zf_file_write_at(struct zfile *f, MPI_Offset offset, const void *buf, MPI_Count count,
                     MPI_Datatype datatype, MPI_Status *status)
{
    struct zrequest r = zrequest_make(buf, count, datatype, status);
    return zaccess_at(f, offset, &r, zwrite_independent, false);
}

int zf_file_write_at_all(struct zfile *f, MPI_Offset offset, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, MPI_Status *status)
{
    struct zrequest r = zrequest_make(buf, count, datatype, status);
    return zaccess_at(f, offset, &r, zwrite_collective, true);
}

int zf_file_write(struct zfile *f, const void *buf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Status *status)
{
    struct zrequest r = zrequest_make(buf, count, datatype, status);
    return zaccess_pointer(f, &r, zwrite_independent);
}

int zf_file_write_all(struct zfile *f, const void *buf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Status *status)
{
    struct zrequest r = zrequest_make(buf, count, datatype, status);
    return zaccess_pointer(f, &r, zwrite_collective);
}

int zf_file_read_at(struct zfile *f, MPI_Offset offset, void *buf, MPI_Count count,
                    MPI_Datatype datatype, MPI_Status *status)
{
    struct zrequest r = zrequest_make(buf, count, datatype, status);
    return zaccess_at(f, offset, &r, zread_request, false);
}

int zf_file_read_at_all(struct zfile *f, MPI_Offset offset, void *buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Status *status)
{
    struct zrequest r = zrequest_make(buf, count, datatype, status);
    return zaccess_at(f, offset, &r, zread_collective, true);
}

int zf_file_read(struct zfile *f, void *buf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Status *status)
{
    struct zrequest r = zrequest_make(buf, count, datatype, status);
    return zaccess_pointer(f, &r, zread_request);
}

int zf_file_read_all(struct zfile *f, void *buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Status *status)
{
    struct zrequest r = zrequest_make(buf, count, datatype, status);
    return zaccess_pointer(f, &r, zread_collective);
}

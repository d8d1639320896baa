/*
 * split.c - split collectives (MPI 3.1, 13.4.5): begin does it all, end tells how it was.
 *
 * A file has at most one of them under way; an end must match its begin.
 */
#include "calls/access.h"
#include "transfer/transfer.h"
#include "wrappers.h"

/* May this begin? */
static int check_begin(struct zfile *f, const char *name)
{
    if (!f->split.call)
        return MPI_SUCCESS;
    return zfile_raise(f, MPI_ERR_OTHER, "%s_begin: %s_end has not been called yet", name,
                       f->split.call);
}

static void remember(struct zfile *f, const char *name, int rc, uint64_t done)
{
    f->split.call = name;
    f->split.error = rc;
    f->split.done = done;
}

static int finish(struct zfile *f, const char *name, MPI_Status *status)
{
    if (f->split.call != name)
        return zfile_raise(f, MPI_ERR_OTHER, "%s_end without its begin", name);
    f->split.call = NULL;
    zstatus_set(status, f->split.done);
    return f->split.error;
}

/* Names are compared by address: one string each. */
static const char write_all[] = "MPI_File_write_all", read_all[] = "MPI_File_read_all",
                  write_at_all[] = "MPI_File_write_at_all", read_at_all[] = "MPI_File_read_at_all",
                  write_ordered[] = "MPI_File_write_ordered",
                  read_ordered[] = "MPI_File_read_ordered";

static int begin_at(struct zfile *f, const char *name, MPI_Offset offset, const void *buf,
                    MPI_Count count, MPI_Datatype datatype, ztransfer *go)
{
    struct zrequest r = zrequest_make(buf, count, datatype, MPI_STATUS_IGNORE);
    int rc = check_begin(f, name);
    if (rc)
        return rc;
    rc = zaccess_at(f, offset, &r, go, true);
    remember(f, name, rc, r.done);
    return rc;
}

static int begin_pointer(struct zfile *f, const char *name, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, ztransfer *go)
{
    struct zrequest r = zrequest_make(buf, count, datatype, MPI_STATUS_IGNORE);
    int rc = check_begin(f, name);
    if (rc)
        return rc;
    rc = zaccess_pointer(f, &r, go);
    remember(f, name, rc, r.done);
    return rc;
}

static int begin_ordered(struct zfile *f, const char *name, const void *buf, MPI_Count count,
                         MPI_Datatype datatype, ztransfer *go)
{
    struct zrequest r = zrequest_make(buf, count, datatype, MPI_STATUS_IGNORE);
    int rc = check_begin(f, name);
    if (rc)
        return rc;
    rc = zshared_ordered(f, &r, go);
    remember(f, name, rc, r.done);
    return rc;
}

int zf_file_write_all_begin(struct zfile *f, const void *buf, MPI_Count count,
                            MPI_Datatype datatype)
{
    return begin_pointer(f, write_all, buf, count, datatype, zwrite_collective);
}

int zf_file_write_all_end(struct zfile *f, const void *buf, MPI_Status *status)
{
    (void)buf;
    return finish(f, write_all, status);
}

int zf_file_read_all_begin(struct zfile *f, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return begin_pointer(f, read_all, buf, count, datatype, zread_collective);
}

int zf_file_read_all_end(struct zfile *f, void *buf, MPI_Status *status)
{
    (void)buf;
    return finish(f, read_all, status);
}

int zf_file_write_at_all_begin(struct zfile *f, MPI_Offset offset, const void *buf, MPI_Count count,
                               MPI_Datatype datatype)
{
    return begin_at(f, write_at_all, offset, buf, count, datatype, zwrite_collective);
}

int zf_file_write_at_all_end(struct zfile *f, const void *buf, MPI_Status *status)
{
    (void)buf;
    return finish(f, write_at_all, status);
}

int zf_file_read_at_all_begin(struct zfile *f, MPI_Offset offset, void *buf, MPI_Count count,
                              MPI_Datatype datatype)
{
    return begin_at(f, read_at_all, offset, buf, count, datatype, zread_collective);
}

int zf_file_read_at_all_end(struct zfile *f, void *buf, MPI_Status *status)
{
    (void)buf;
    return finish(f, read_at_all, status);
}

int zf_file_write_ordered_begin(struct zfile *f, const void *buf, MPI_Count count,
                                MPI_Datatype datatype)
{
    return begin_ordered(f, write_ordered, buf, count, datatype, zwrite_collective);
}

int zf_file_write_ordered_end(struct zfile *f, const void *buf, MPI_Status *status)
{
    (void)buf;
    return finish(f, write_ordered, status);
}

int zf_file_read_ordered_begin(struct zfile *f, void *buf, MPI_Count count, MPI_Datatype datatype)
{
    return begin_ordered(f, read_ordered, buf, count, datatype, zread_request);
}

int zf_file_read_ordered_end(struct zfile *f, void *buf, MPI_Status *status)
{
    (void)buf;
    return finish(f, read_ordered, status);
}

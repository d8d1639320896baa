/* read.c - one read call: reads the view's runs from the container into the program's buffer. */
#include "mpi/timeline.h"
#include "transfer/transfer.h"
#include "file/zfile.h"

#include <stdlib.h>

/* Views for reading may overlap or go backwards; then it reads run by run. */
static enum zmpi_status read_runs(struct zfile *f, const struct zmpi_run *run, size_t runs,
                                  const struct zmpi_device *holder, unsigned char *dst,
                                  uint64_t *bad)
{
    enum zmpi_status status = ZMPI_OK;
    size_t step = f->view.increasing ? runs : 1;
    for (size_t i = 0; i < runs && !status; i += step) {
        if (holder || !zreadahead_read(f, run + i, step, dst))
            status = zread_stored(f, run + i, step, holder, dst, bad);
        dst += run[i].length;
    }
    return status;
}

static int raise_read(struct zfile *f, enum zmpi_status status, uint64_t bad)
{
    /* A damaged stream may look like one that only a later version can read. */
    return zfile_raise(f, status == ZMPI_ERR_MEMORY ? MPI_ERR_NO_MEM : MPI_ERR_IO,
                       "reading: %s, in the record at offset %llu (zmpi verify tells more)",
                       zmpi_strerror(status), (unsigned long long)bad);
}

/* Reads `bytes` data bytes from `position` on to dst, in the holder's memory or the host's. */
static int read_bytes(struct zfile *f, uint64_t position, uint64_t bytes,
                      const struct zmpi_device *holder, unsigned char *dst)
{
    struct zmpi_run *run;
    size_t runs;
    uint64_t bad = 0;
    enum zmpi_status status = zview_runs(&f->view, position, bytes, &run, &runs);
    if (status)
        return zfile_raise_status(f, status, "reading");
    status = read_runs(f, run, runs, holder, dst, &bad);
    if (!status && !holder) /* for a device flush_own has left nothing staged */
        zstage_overlay(f, run, runs, dst);
    free(run);
    return status ? raise_read(f, status, bad) : MPI_SUCCESS;
}

/* A rank must see its own writes: this brings them into the file, unless they are staged and
 * exact. */
static int flush_own(struct zfile *f, bool to_device)
{
    int rc = zstage_is_exact(f) && !to_device ? MPI_SUCCESS : zstage_flush(f);
    int assigned = zplace_own(f);
    return rc ? rc : assigned;
}

/* Returns how many of `bytes` exist from `position` on. */
static uint64_t available(struct zfile *f, uint64_t position, uint64_t bytes)
{
    uint64_t below = zview_bytes_below(&f->view, zfile_size(f));
    if (position >= below)
        return 0;
    return below - position < bytes ? below - position : bytes;
}

/* Reads for a buffer that is not contiguous by way of one that is; on the same device, if that has
 * memory. */
static int read_spread(struct zfile *f, const struct zrequest *r, const struct ztarget *t,
                       uint64_t bytes)
{
    unsigned char *there = t->holder ? t->holder->take(t->first, bytes) : NULL;
    unsigned char *packed = there ? there : malloc(bytes);
    if (!packed)
        return zfile_raise_status(f, ZMPI_ERR_MEMORY, "reading");
    int rc = read_bytes(f, r->position, bytes, there ? t->holder : NULL, packed);
    if (!rc && zmemory_copy(&t->type, t->holder, r->buf, 0, packed, bytes, false))
        rc = zfile_raise_status(f, ZMPI_ERR_DEVICE, "reading: copying to the program's buffer");
    if (there)
        t->holder->give(there);
    else
        free(packed);
    return rc;
}

static int read_to_buffer(struct zfile *f, const struct zrequest *r, const struct ztarget *t,
                          uint64_t bytes)
{
    return t->direct ? read_bytes(f, r->position, bytes, t->holder, t->direct)
                     : read_spread(f, r, t, bytes);
}

/* *bytes: wanted, and then read. */
static int read_available(struct zfile *f, const struct zrequest *r, const struct ztarget *t,
                          uint64_t *bytes)
{
    int rc = flush_own(f, t->holder != NULL);
    if (!rc)
        rc = zsession_atomic_begin(f, false);
    if (rc)
        return rc;
    rc = znews_known(f);
    *bytes = rc ? 0 : available(f, r->position, *bytes);
    if (*bytes)
        rc = read_to_buffer(f, r, t, *bytes);
    return zsession_atomic_end(f, rc);
}

int zread_request(struct zfile *f, const struct zrequest *r, uint64_t *done)
{
    MPI_Count size;
    uint64_t bytes;
    double start = zmpi_seconds();
    *done = 0;
    if (!zfile_may_read(f))
        return zfile_raise(f, MPI_ERR_ACCESS, "reading: the file was opened with MPI_MODE_WRONLY");
    if (r->count < 0)
        return zfile_raise(f, MPI_ERR_COUNT, "reading: negative count");
    int rc = ztype_size(r->datatype, &size);
    if (rc || __builtin_mul_overflow((uint64_t)size, (uint64_t)r->count, &bytes))
        return zfile_raise(f, rc ? rc : MPI_ERR_COUNT, "reading: datatype or count");
    struct ztarget target = {.direct = r->buf};
    if (bytes)
        rc = ztarget_make(&target, r->buf, r->count, r->datatype);
    if (rc)
        return zfile_raise(f, rc, "reading: datatype or memory");
    rc = read_available(f, r, &target, &bytes);
    ztarget_free(&target);
    if (!rc) {
        *done = bytes;
        f->stats.n.bytes_read += bytes;
    }
    f->stats.n.seconds_read += zmpi_seconds() - start;
    ztimeline_call(ZTIMELINE_READ, start, (double)*done);
    return rc;
}

/* Each rank reads by itself, but sees what the others wrote before this call: programs rely on that
 * without a sync. */
int zread_collective(struct zfile *f, const struct zrequest *r, uint64_t *done)
{
    int flushed = zflush_independent(f), rc = zread_request(f, r, done);
    return flushed ? flushed : rc;
}

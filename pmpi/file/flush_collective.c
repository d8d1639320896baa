/* flush_collective.c - collective points: all ranks write what they hold back, and all learn of it.
 */
#include "file/zfile.h"

/* The logical size with the data held back, but without those that are being written in the
 * background. */
static uint64_t held_size(const struct zfile *f)
{
    const uint64_t known = f->container.logical_size, offloaded = zoffload_end(f);
    uint64_t size = known < offloaded ? offloaded : known;
    for (int i = 0; i < ZBATCHES; i++) {
        const struct zbatch *b = &f->batch[i];
        if (b->count) {
            const struct zpatch *last = &b->patch[b->count - 1];
            if (last->offset + last->length > size)
                size = last->offset + last->length;
        }
    }
    for (size_t i = 0; i < f->outbox.count; i++)
        if (f->outbox.record[i].extent.hi > size)
            size = f->outbox.record[i].extent.hi;
    return size;
}

uint64_t zfile_size(struct zfile *f)
{
    if (!zsession_atomic_begin(f, false))
        zsession_atomic_end(f, MPI_SUCCESS);
    f->late = zbackground_wait(f); /* the next call that depends on it returns the error */
    (void)znews_take(f);
    return held_size(f);
}

int zflush_share(struct zfile *f)
{
    f->unshared = false;
    if (f->session.atomic) { /* each rank finds the records in the file */
        zmpi_entries_free(&f->fresh);
        return PMPI_Barrier(f->comm);
    }
    if (zfile_may_read(f))
        return znews_exchange(f);
    /* Nobody will read: ranks exchange the size alone. */
    uint64_t mine = held_size(f);
    return PMPI_Allreduce(&mine, &f->container.logical_size, 1, MPI_UINT64_T, MPI_MAX, f->comm);
}

int zflush_rounds(struct zfile *f, uint64_t most)
{
    int rc = MPI_SUCCESS;
    while (f->offload_write.unassigned > most) {
        zoffload_postpone(f, --f->offload_write.unassigned);
        int one = zplace_dense(f, true);
        rc = rc ? rc : one;
    }
    return rc;
}

int zflush_outbox(struct zfile *f)
{
    int mine = f->outbox.used > 0, any = 0;
    int rc = PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, f->comm);
    if (rc || !any)
        return rc;
    zoffload_postpone(f, f->offload_write.unassigned);
    return zplace_dense(f, true);
}

int zflush_independent(struct zfile *f)
{
    int mine = f->unshared, any = 0;
    if (!zfile_may_read(f) || !zfile_may_write(f) || f->session.atomic)
        return MPI_SUCCESS;
    int rc = PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, f->comm);
    return rc || !any ? rc : zflush_collective(f);
}

int zflush_hdf5(MPI_Comm program)
{
    struct zfile *f = zfile_find_hdf5(program);
    if (!f)
        return MPI_SUCCESS;
    int rc = zflush_independent(f);
    zfile_done(f);
    return rc;
}

int zflush_collective(struct zfile *f)
{
    int rounds = zflush_rounds(f, 0);
    int staged = zstage_flush(f);
    int assigned = zplace_dense(f, false);
    int shared = zflush_share(f);
    return rounds ? rounds : staged ? staged : assigned ? assigned : shared;
}

/* settle.c - collective points: what ranks held back goes out, and all know of it. */
#include "internal.h"

#include <limits.h>
#include <stdlib.h>

/* With what is held back, but for what is being written in the background. */
static uint64_t held_size(const struct zfile *f)
{
    const uint64_t known = f->container.logical_size, handed = zthrough_end(f);
    uint64_t size = known < handed ? handed : known;
    for (int i = 0; i < ZBATCHES; i++) {
        const struct zbatch *b = &f->batch[i];
        if (b->count) {
            const struct zpatch *last = &b->patch[b->count - 1];
            if (last->offset + last->length > size)
                size = last->offset + last->length;
        }
    }
    for (size_t i = 0; i < f->waiting_count; i++)
        if (f->waiting[i].extent.hi > size)
            size = f->waiting[i].extent.hi;
    return size;
}

uint64_t zfile_size(struct zfile *f)
{
    if (!zsession_atomic_begin(f, false))
        zsession_atomic_end(f, MPI_SUCCESS);
    f->late = zbackground_wait(f); /* for the next one to whom it matters */
    return held_size(f);
}

/* Entries of all other ranks, from a gathered buffer, to the container. */
static enum zmpi_status take_entries(struct zfile *f, const unsigned char *all, const int *sizes,
                                     const int *places)
{
    enum zmpi_status status = ZMPI_OK;
    for (int r = 0; r < f->ranks && !status; r++)
        if (r != f->rank && sizes[r])
            status = zmpi_container_add_entries(&f->container, all + places[r], (size_t)sizes[r]);
    if (!status && f->container.size_unknown) {
        struct zmpi_reader reader = zfile_reader(f);
        status = zmpi_container_seal(&f->container, &reader);
    }
    return status;
}

/* Tell all ranks of the records written since the last time. */
static int exchange(struct zfile *f)
{
    size_t total = 0;
    int mine = (int)f->fresh.size, rc;
    int *sizes = calloc((size_t)f->ranks, sizeof *sizes);
    int *places = calloc((size_t)f->ranks, sizeof *places);
    unsigned char *all = NULL;
    if (!sizes || !places)
        rc = zfile_raise_status(f, ZMPI_ERR_MEMORY, "sharing the index");
    else
        rc = PMPI_Allgather(&mine, 1, MPI_INT, sizes, 1, MPI_INT, f->comm);
    for (int r = 0; r < f->ranks && !rc; r++) {
        places[r] = (int)total;
        total += (size_t)sizes[r];
    }
    if (!rc && total > INT_MAX)
        rc = zfile_raise(f, MPI_ERR_OTHER, "more than 2 GiB of new index entries at once");
    if (!rc && total) {
        all = malloc(total);
        rc = all ? PMPI_Allgatherv(f->fresh.data, mine, MPI_BYTE, all, sizes, places, MPI_BYTE,
                                   f->comm)
                 : zfile_raise_status(f, ZMPI_ERR_MEMORY, "sharing the index");
        enum zmpi_status status = rc ? ZMPI_OK : take_entries(f, all, sizes, places);
        if (status)
            rc = zfile_raise_status(f, status, "sharing the index");
    }
    zmpi_entries_free(&f->fresh);
    free(sizes);
    free(places);
    free(all);
    return rc;
}

int zsettle_share(struct zfile *f)
{
    f->untold = false;
    if (f->session.atomic) { /* each finds them in the file */
        zmpi_entries_free(&f->fresh);
        return PMPI_Barrier(f->comm);
    }
    if (zfile_may_read(f))
        return exchange(f);
    /* Nobody will read: the size is all that must be known. */
    uint64_t mine = held_size(f);
    return PMPI_Allreduce(&mine, &f->container.logical_size, 1, MPI_UINT64_T, MPI_MAX, f->comm);
}

int zsettle_owed(struct zfile *f, uint64_t most)
{
    int rc = MPI_SUCCESS;
    while (f->through.owed > most) {
        zthrough_keep(f, --f->through.owed);
        int one = zplace_dense(f, true);
        rc = rc ? rc : one;
    }
    return rc;
}

int zsettle_here(struct zfile *f)
{
    int mine = f->outbox_used > 0, any = 0;
    int rc = PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, f->comm);
    if (rc || !any)
        return rc;
    zthrough_keep(f, f->through.owed);
    return zplace_dense(f, true);
}

int zsettle_told(struct zfile *f)
{
    int mine = f->untold, any = 0;
    if (!zfile_may_read(f) || !zfile_may_write(f) || f->session.atomic)
        return MPI_SUCCESS;
    int rc = PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, f->comm);
    return rc || !any ? rc : zsettle_collective(f);
}

int zsettle_collective(struct zfile *f)
{
    int owed = zsettle_owed(f, 0);
    int staged = zstage_flush(f);
    int placed = zplace_dense(f, false);
    int shared = zsettle_share(f);
    return owed ? owed : staged ? staged : placed ? placed : shared;
}

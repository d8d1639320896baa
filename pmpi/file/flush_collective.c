/* flush_collective.c - collective points: what ranks held back goes out, and all know of it. */
#include "file/zfile.h"

#include <limits.h>
#include <stdlib.h>

/* With what is held back, but for what is being written in the background. */
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
    (void)zflush_take(f);
    return held_size(f);
}

/* A larger buffer of all ranks' entries is not kept. */
#define KEPT ((size_t)1 << 20)

enum { NO_NEWS = INT_MAX };

void znews_forget(struct znews *n)
{
    n->next = NO_NEWS;
    n->lost = false;
}

bool znews_make(struct znews *n, int ranks)
{
    n->sizes = calloc((size_t)ranks, sizeof *n->sizes);
    n->places = calloc((size_t)ranks, sizeof *n->places);
    n->next = NO_NEWS;
    return n->sizes && n->places;
}

enum zmpi_status zflush_take(struct zfile *f)
{
    struct znews *n = &f->news;
    enum zmpi_status status = ZMPI_OK;
    if (n->next == NO_NEWS)
        return ZMPI_OK;
    for (; n->next < f->ranks && !status; n->next += !status)
        if (n->next != f->rank && n->sizes[n->next])
            status = zmpi_container_add_entries(&f->container, n->bytes + n->places[n->next],
                                                (size_t)n->sizes[n->next]);
    if (!status && f->container.size_unknown) {
        struct zmpi_reader reader = zfile_reader(f);
        status = zmpi_container_seal(&f->container, &reader);
    }
    if (!status)
        n->next = NO_NEWS;
    return status;
}

int zflush_known(struct zfile *f)
{
    const enum zmpi_status status = f->news.lost ? ZMPI_ERR_MEMORY : zflush_take(f);
    return status ? zfile_raise_status(f, status, "learning what other ranks wrote") : MPI_SUCCESS;
}

/* Room for all ranks' entries, on all ranks or on none. */
static int make_room(struct zfile *f, size_t size)
{
    struct znews *n = &f->news;
    if (size <= n->room)
        return MPI_SUCCESS;
    const size_t room = size + size / 2;
    unsigned char *grown = realloc(n->bytes, room);
    int bad = grown == NULL, any = 0;
    if (grown)
        n->bytes = grown;
    int rc = PMPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, f->comm);
    if (!rc && any)
        rc = zfile_raise_status(f, ZMPI_ERR_MEMORY, "sharing the index");
    if (!rc)
        n->room = room;
    return rc;
}

/* Tell all ranks of the records written since the last time. Without memory for that on one of them
 * it is left to the next time. */
static int exchange(struct zfile *f)
{
    struct znews *n = &f->news;
    size_t total = 0;
    int mine = (int)f->fresh.size;
    n->lost = n->lost || zflush_take(f); /* the last chance: what came last goes */
    n->next = NO_NEWS;
    int rc = PMPI_Allgather(&mine, 1, MPI_INT, n->sizes, 1, MPI_INT, f->comm);
    for (int r = 0; r < f->ranks && !rc; r++) {
        n->places[r] = (int)total;
        total += (size_t)n->sizes[r];
    }
    if (!rc && total > INT_MAX)
        rc = zfile_raise(f, MPI_ERR_OTHER, "more than 2 GiB of new index entries at once");
    else if (!rc && total && (rc = make_room(f, total)))
        return rc;
    if (!rc && total) {
        rc = PMPI_Allgatherv(f->fresh.data, mine, MPI_BYTE, n->bytes, n->sizes, n->places, MPI_BYTE,
                             f->comm);
        n->next = rc ? NO_NEWS : 0;
    }
    zmpi_entries_free(&f->fresh);
    rc = rc ? rc : zflush_known(f);
    if (n->room > KEPT) {
        if (n->next == NO_NEWS) {
            free(n->bytes);
            n->bytes = NULL;
        }
        n->room = 0;
    }
    return rc;
}

int zflush_share(struct zfile *f)
{
    f->unshared = false;
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

int zflush_rounds(struct zfile *f, uint64_t most)
{
    int rc = MPI_SUCCESS;
    while (f->offload_write.unplaced > most) {
        zoffload_postpone(f, --f->offload_write.unplaced);
        int one = zplace_dense(f, true);
        rc = rc ? rc : one;
    }
    return rc;
}

int zflush_outbox(struct zfile *f)
{
    int mine = f->outbox_used > 0, any = 0;
    int rc = PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, f->comm);
    if (rc || !any)
        return rc;
    zoffload_postpone(f, f->offload_write.unplaced);
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
    int placed = zplace_dense(f, false);
    int shared = zflush_share(f);
    return rounds ? rounds : staged ? staged : placed ? placed : shared;
}

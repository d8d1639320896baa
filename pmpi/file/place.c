/*
 * place.c - coded records to places in the file (docs/architecture.md, "Where records go").
 *
 * Collective: an exclusive scan of the sizes gives every rank its dense place. Each writes there on
 * its own: the places do not interleave, so that two-phase I/O has nothing to gather, and Open
 * MPI's OMPIO loses errors of MPI_File_write_at_all (seen with 4.1.4 and a full disk). Independent:
 * behind the end that all ranks agreed on at the last collective call, slot k of rank r begins at
 * end + (k * ranks + r) * slot size; nobody needs to be asked.
 */
#include <stdlib.h>

#include "file/zfile.h"

uint64_t zplace_slot_size(const struct zfile *f)
{
    return f->slot_size;
}

/* Give the waiting records their final places. */
static void bind_records(struct zfile *f, uint64_t base)
{
    for (size_t i = 0; i < f->waiting_count; i++) {
        struct zmpi_record *r = &f->waiting[i];
        unsigned char *head = f->outbox + r->offset;
        r->offset += base;
        zmpi_record_rebind(head, f->container.header.id, r->offset);
        zmpi_record_copy(r, head, head + zmpi_record_size(r));
    }
}

int zplace_keep(struct zfile *f, struct zmpi_record *record, size_t n, int rc)
{
    enum zmpi_status status = ZMPI_OK;
    for (size_t i = 0; i < n; i++) {
        struct zmpi_record *r = &record[i];
        if (!rc && !status)
            status = zmpi_container_add(&f->container, r);
        if (!rc && !status && zfile_may_read(f) && !f->session.atomic)
            status = zmpi_entries_add(&f->fresh, r);
        f->hides |= r->extent.levels == ZMPI_EXTENT_LIST && r->extent.lo < f->promised;
        zmpi_extent_free(&r->extent);
        f->dirty = true;
    }
    return status ? zfile_raise_status(f, status, "keeping the index") : rc;
}

/* The outbox is in the file (or, on an error, lost): forget it, and know its records. */
static int empty_outbox(struct zfile *f, int rc)
{
    rc = zplace_keep(f, f->waiting, f->waiting_count, rc);
    f->waiting_count = 0;
    f->outbox_used = 0;
    return rc;
}

/* Room in this rank's slots. */
static uint64_t slab_place(struct zfile *f, uint64_t size)
{
    const uint64_t slot = zplace_slot_size(f);
    if (f->slots == 0 || f->slot_used + size > slot) {
        f->slots++;
        f->slot_used = 0;
    }
    uint64_t index = (f->slots - 1) * (uint64_t)f->ranks + (uint64_t)f->rank;
    uint64_t base = f->end + index * slot + f->slot_used;
    f->slot_used += size;
    return base;
}

int zplace_reserve(struct zfile *f, uint64_t size, uint64_t *base, bool *alone)
{
    int rc = zsession_alone(f, alone);
    if (!rc && !*alone)
        rc = zsession_reserve(f, size, base, NULL);
    if (*alone)
        *base = slab_place(f, size);
    return rc;
}

int zplace_slab(struct zfile *f)
{
    const uint64_t slot = zplace_slot_size(f);
    if (f->outbox_used == 0)
        return MPI_SUCCESS;
    if (f->outbox_used >
        slot) /* would run into another rank's slot; the callers' sizes exclude it */
        return empty_outbox(f, zfile_raise(f, MPI_ERR_OTHER,
                                           "%zu bytes of records do not fit a slot of %llu",
                                           f->outbox_used, (unsigned long long)slot));
    uint64_t base;
    bool alone = false;
    int rc = zplace_reserve(f, f->outbox_used, &base, &alone);
    bool background = false;
    if (!rc) {
        bind_records(f, base);
        /* In atomic mode the bytes must be there before the lock is given up. */
        background = f->behind && !f->session.atomic && zbackground_write(f, base, &rc);
    }
    if (!rc && !background)
        rc = zwrite_at(f, base, f->outbox, f->outbox_used);
    if (alone)
        zsession_alone_end(f);
    return background ? rc : empty_outbox(f, rc);
}

int zplace_own(struct zfile *f)
{
    int offloaded = zoffload_slab(f, SIZE_MAX), landed = zoffload_land(f, SIZE_MAX);
    int placed = zplace_slab(f), late = zbackground_wait(f);
    return offloaded ? offloaded : landed ? landed : placed ? placed : late;
}

/* Where everything written so far ends, on all ranks. */
static int agree_end(struct zfile *f, uint64_t *end)
{
    uint64_t mine = f->end;
    if (f->slots)
        mine += ((f->slots - 1) * (uint64_t)f->ranks + (uint64_t)f->rank) * zplace_slot_size(f) +
                f->slot_used;
    int rc = PMPI_Allreduce(&mine, end, 1, MPI_UINT64_T, MPI_MAX, f->comm);
    *end = zmpi_pad8(*end);
    return rc;
}

/* What rank 0 found out for all. */
struct place {
    uint64_t base, epoch;
    int status;
    bool shared;
};

/* The outbox and what was handed over, one behind the other from `base` on. */
static int write_dense(struct zfile *f, uint64_t base, bool more)
{
    const uint64_t behind = base + f->outbox_used;
    bool background = false;
    int rc = MPI_SUCCESS;
    if (f->outbox_used) {
        bind_records(f, base);
        background = more && zbackground_write(f, base, &rc);
        if (!background)
            rc = zwrite_at(f, base, f->outbox, f->outbox_used);
    }
    if (!background)
        rc = empty_outbox(f, rc);
    int offloaded = zoffload_place(f, behind);
    return rc ? rc : offloaded;
}

/* What has failed at a place and could not go there: to others. */
static int place_left(struct zfile *f)
{
    int mine = f->outbox_used > 0, any = 0;
    int rc = PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, f->comm);
    return rc || !any ? rc : zplace_dense(f, false);
}

int zplace_dense(struct zfile *f, bool more)
{
    struct place place = {.epoch = f->epoch};
    uint64_t before = 0, total = 0, offloaded = 0, mine;
    int landed = more ? MPI_SUCCESS : zoffload_land(f, SIZE_MAX);
    int sized = zoffload_sizes(f, &offloaded);
    int late = more ? MPI_SUCCESS : zbackground_wait(f), rc = agree_end(f, &place.base);
    mine = f->outbox_used + offloaded;
    if (!rc)
        rc = PMPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, f->comm);
    if (!rc)
        rc = PMPI_Allreduce(&mine, &total, 1, MPI_UINT64_T, MPI_SUM, f->comm);
    if (!rc && f->rank == 0) {
        before = 0; /* MPI_Exscan leaves it undefined */
        place.status = zsession_reserve(f, total, &place.base, &place.epoch);
        place.shared = f->session.shared;
    }
    if (!rc)
        rc = PMPI_Bcast(&place, (int)sizeof place, MPI_BYTE, 0, f->comm);
    if (rc)
        return rc;
    rc = place.status;
    if (rc) {
        empty_outbox(f, rc);
        zoffload_forget(f);
    } else {
        rc = write_dense(f, place.base + before, more);
    }
    f->end = place.base + total;
    f->epoch = place.epoch;
    f->session.shared = f->session.shared || place.shared;
    f->sequence = 0;
    f->slots = f->slot_used = 0;
    zoffload_renumber(f);
    int there = more ? MPI_SUCCESS : zoffload_land(f, SIZE_MAX);
    int again = more ? MPI_SUCCESS : f->offload_write.round ? place_left(f) : zplace_slab(f);
    return landed ? landed : sized ? sized : late ? late : rc ? rc : there ? there : again;
}

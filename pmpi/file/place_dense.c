/*
 * place_dense.c - coded records to places that all ranks find together (docs/architecture.md,
 * "Where records go").
 *
 * An exclusive scan of the sizes gives every rank its dense place. Each writes there on its own:
 * the places do not interleave, so that two-phase I/O has nothing to gather, and Open MPI's OMPIO
 * loses errors of MPI_File_write_at_all (seen with 4.1.4 and a full disk).
 */
#include "file/zfile.h"

int zplace_own(struct zfile *f)
{
    int offloaded = zoffload_slab(f, SIZE_MAX), landed = zoffload_land(f, SIZE_MAX);
    int placed = zplace_slab(f), late = zbackground_wait(f);
    return offloaded ? offloaded : landed ? landed : placed ? placed : late;
}

/* Where everything written so far ends, on all ranks. */
static int agree_end(struct zfile *f, uint64_t *end)
{
    uint64_t mine = f->log.end;
    if (f->log.slots)
        mine +=
            ((f->log.slots - 1) * (uint64_t)f->ranks + (uint64_t)f->rank) * zplace_slot_size(f) +
            f->log.slot_used;
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
    const uint64_t behind = base + f->outbox.used;
    bool background = false;
    int rc = MPI_SUCCESS;
    if (f->outbox.used) {
        zplace_bind(f, base);
        background = more && zbackground_write(f, base, &rc);
        if (!background)
            rc = zwrite_at(f, base, f->outbox.bytes, f->outbox.used);
    }
    if (!background)
        rc = zplace_empty_outbox(f, rc);
    int offloaded = zoffload_place(f, behind);
    return rc ? rc : offloaded;
}

/* What has failed at a place and could not go there: to others. */
static int place_left(struct zfile *f)
{
    int mine = f->outbox.used > 0, any = 0;
    int rc = PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, f->comm);
    return rc || !any ? rc : zplace_dense(f, false);
}

int zplace_dense(struct zfile *f, bool more)
{
    struct place place = {.epoch = f->log.epoch};
    uint64_t before = 0, total = 0, offloaded = 0, mine;
    int landed = more ? MPI_SUCCESS : zoffload_land(f, SIZE_MAX);
    int sized = zoffload_sizes(f, &offloaded);
    int late = more ? MPI_SUCCESS : zbackground_wait(f), rc = agree_end(f, &place.base);
    mine = f->outbox.used + offloaded;
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
        zplace_empty_outbox(f, rc);
        zoffload_forget(f);
    } else {
        rc = write_dense(f, place.base + before, more);
    }
    f->log.end = place.base + total;
    f->log.epoch = place.epoch;
    f->session.shared = f->session.shared || place.shared;
    f->log.sequence = 0;
    f->log.slots = f->log.slot_used = 0;
    zoffload_renumber(f);
    int there = more ? MPI_SUCCESS : zoffload_land(f, SIZE_MAX);
    int again = more ? MPI_SUCCESS : f->offload_write.round ? place_left(f) : zplace_slab(f);
    return landed ? landed : sized ? sized : late ? late : rc ? rc : there ? there : again;
}

/*
 * place_dense.c - writes coded records to places that all ranks find together
 * (docs/architecture.md, "Where records go").
 *
 * An exclusive scan of the sizes gives every rank its dense place. Each writes there on its own:
 * the places do not interleave, so that two-phase I/O has nothing to gather, and Open MPI's OMPIO
 * loses errors of MPI_File_write_at_all (seen with 4.1.4 and a full disk).
 */
#include "file/zfile.h"

/* Smaller records are not worth a gap. */
#define SPACED_LEAST ((uint64_t)128 << 10)

int zplace_own(struct zfile *f)
{
    int offloaded = zoffload_slab(f, SIZE_MAX), landed = zoffload_land(f, SIZE_MAX);
    int assigned = zplace_slab(f), late = zbackground_wait(f);
    return offloaded ? offloaded : landed ? landed : assigned ? assigned : late;
}

/* The end of everything written so far, the same on all ranks. */
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

/* Rank 0's decision for all: of the bytes of all ranks, one rank behind the other, those before
 * `cut` go to `gap`, the others behind all. */
struct place {
    uint64_t gap, cut, base, end, epoch;
    int status;
    bool shared;
};

/* Binds records to places. Bytes before `cut` go to another place than the rest, and no record has
 * both; this rank's bytes begin at `before`. */
static void bind(struct zfile *f, const struct place *p, uint64_t before)
{
    for (size_t i = 0; i < f->outbox.count; i++) {
        struct zmpi_record *r = &f->outbox.record[i];
        unsigned char *head = f->outbox.bytes + r->offset;
        const uint64_t at = before + r->offset;
        r->offset = at < p->cut ? p->gap + at : p->base + (at - p->cut);
        zmpi_record_rebind(head, f->container.header.id, r->offset);
        zmpi_record_copy(r, head, head + zmpi_record_size(r));
    }
}

/* Places the outbox and the pieces that devices have taken, one behind the other. */
static int write_dense(struct zfile *f, const struct place *p, uint64_t before, bool more)
{
    const uint64_t used = f->outbox.used, end = before + used;
    const uint64_t first = p->cut <= before ? 0 : p->cut < end ? p->cut - before : used;
    const uint64_t base = first ? p->gap + before : p->base + (before - p->cut);
    bool background = false;
    int rc = MPI_SUCCESS;
    if (used) {
        bind(f, p, before);
        const bool one = first == 0 || first == used;
        background = one && more && zbackground_write(f, base, &rc);
        if (!background)
            rc = zwrite_at(f, base, f->outbox.bytes, (size_t)(one ? used : first));
        if (!one && !rc)
            rc = zwrite_at(f, p->base, f->outbox.bytes + first, (size_t)(used - first));
    }
    if (!background)
        rc = zplace_empty_outbox(f, rc);
    int offloaded = zoffload_place(f, p->base + (end > p->cut ? end - p->cut : 0));
    return rc ? rc : offloaded;
}

/* Gives records that failed at their place another one. */
static int place_left(struct zfile *f)
{
    int mine = f->outbox.used > 0, any = 0;
    int rc = PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, f->comm);
    return rc || !any ? rc : zplace_dense(f, false);
}

/* The first writer that overwrites a dense file leaves a gap behind the old data, for the next data
 * of that kind, which may be larger. */
static uint64_t space(struct zfile *f)
{
    const struct zoutbox *o = &f->outbox;
    const uint64_t live = f->trim.live ? f->trim.live : f->log.end - ZMPI_HEADER_BYTES;
    const bool again = o->count > 0 && o->record[0].extent.bytes > 0 &&
                       o->record[0].extent.hi <= f->container.logical_size;
    if (f->reuse.spaced || !again || !f->session.counted || f->session.shared || !f->options.trim ||
        f->reuse.gaps || f->reuse.filled || live < SPACED_LEAST)
        return 0;
    f->reuse.spaced = true;
    return zmpi_pad8(live / 10);
}

/* Rank 0: is there a gap for `total` bytes, or for the first of them? */
static void find_place(struct zfile *f, uint64_t total, struct place *p)
{
    f->reuse.together += total;
    p->cut = f->reuse.own ? 0 : zreuse_offer(f, total, &p->gap);
    const uint64_t space_before = total && !p->cut ? space(f) : 0;
    p->status = zsession_reserve(f, p->cut ? 0 : total + space_before, &p->base, &p->epoch);
    p->base += space_before;
    p->end = p->base + (p->cut ? 0 : total);
    p->shared = f->session.shared;
    if (p->shared && p->cut) { /* since just now */
        p->cut = 0;
        p->status = p->status ? p->status : zsession_reserve(f, total, &p->base, NULL);
        p->end = p->base + total;
    }
}

/* Collective: the last end of a record before the cut, on all ranks. */
static int agree_cut(struct zfile *f, uint64_t before, struct place *p)
{
    uint64_t mine = before <= p->cut ? before : 0, cut = 0;
    for (size_t i = 0; i < f->outbox.count; i++) {
        const uint64_t next =
            i + 1 < f->outbox.count ? f->outbox.record[i + 1].offset : f->outbox.used;
        if (before + next <= p->cut)
            mine = before + next;
    }
    int rc = PMPI_Allreduce(&mine, &cut, 1, MPI_UINT64_T, MPI_MAX, f->comm);
    p->cut = cut;
    return rc;
}

/* Collective, when rank 0 has offered a gap: takes it, and a place for the rest. */
static int take_place(struct zfile *f, uint64_t before, uint64_t total, struct place *p)
{
    int rc = p->cut < total ? agree_cut(f, before, p) : MPI_SUCCESS;
    if (!rc && f->rank == 0) {
        if (p->cut && !zreuse_take_at(f, p->gap, p->cut))
            p->cut = 0;
        p->status = zsession_reserve(f, total - p->cut, &p->base, NULL);
        p->end = p->base + total - p->cut;
        p->shared = f->session.shared;
    }
    return rc ? rc : PMPI_Bcast(p, (int)sizeof *p, MPI_BYTE, 0, f->comm);
}

/* Places records in this rank's own gaps, if it has some. */
static int place_in_own(struct zfile *f)
{
    const size_t used = f->outbox.used;
    return f->reuse.own && used <= zplace_slot_size(f) && zreuse_fits(f, used) ? zplace_slab(f)
                                                                               : MPI_SUCCESS;
}

int zplace_dense(struct zfile *f, bool more)
{
    struct place place = {.epoch = f->log.epoch};
    uint64_t before = 0, total = 0, offloaded = 0, mine;
    int own = more ? MPI_SUCCESS : place_in_own(f);
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
        find_place(f, total, &place);
    }
    if (!rc)
        rc = PMPI_Bcast(&place, (int)sizeof place, MPI_BYTE, 0, f->comm);
    if (!rc && !place.status && place.cut)
        rc = take_place(f, before, total, &place);
    if (rc)
        return rc;
    rc = place.status;
    if (rc) {
        zplace_empty_outbox(f, rc);
        zoffload_forget(f);
    } else {
        rc = write_dense(f, &place, before, more);
    }
    f->log.end = place.end;
    f->log.epoch = place.epoch;
    f->session.shared = f->session.shared || place.shared;
    f->log.sequence = 0;
    f->log.slots = f->log.slot_used = 0;
    zoffload_renumber(f);
    int there = more ? MPI_SUCCESS : zoffload_land(f, SIZE_MAX);
    int again = more ? MPI_SUCCESS : f->offload_write.round ? place_left(f) : zplace_slab(f);
    return own      ? own
           : landed ? landed
           : sized  ? sized
           : late   ? late
           : rc     ? rc
           : there  ? there
                    : again;
}

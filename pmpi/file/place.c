/*
 * place.c - writes coded records to places that this rank finds by itself (docs/architecture.md,
 * "Where records go").
 *
 * Behind the end that all ranks agreed on at the last collective call, slot k of rank r begins at
 * end + (k * ranks + r) * slot size; no rank needs to ask another.
 */
#include "file/zfile.h"

uint64_t zplace_slot_size(const struct zfile *f)
{
    return f->log.slot_size;
}

void zplace_bind(struct zfile *f, uint64_t base)
{
    for (size_t i = 0; i < f->outbox.count; i++) {
        struct zmpi_record *r = &f->outbox.record[i];
        unsigned char *head = f->outbox.bytes + r->offset;
        r->offset += base;
        zmpi_record_rebind(head, f->container.header.id, r->offset);
        zmpi_record_copy(r, head, head + zmpi_record_size(r));
    }
}

int zplace_empty_outbox(struct zfile *f, int rc)
{
    rc = znews_keep(f, f->outbox.record, f->outbox.count, rc);
    f->outbox.count = 0;
    f->outbox.used = 0;
    return rc;
}

/* Finds space in this rank's slots. */
static uint64_t slab_place(struct zfile *f, uint64_t size)
{
    const uint64_t slot = zplace_slot_size(f);
    if (f->log.slots == 0 || f->log.slot_used + size > slot) {
        f->log.slots++;
        f->log.slot_used = 0;
    }
    uint64_t index = (f->log.slots - 1) * (uint64_t)f->ranks + (uint64_t)f->rank;
    uint64_t base = f->log.end + index * slot + f->log.slot_used;
    f->log.slot_used += size;
    return base;
}

int zplace_reserve(struct zfile *f, uint64_t size, uint64_t *base, bool *alone)
{
    int rc;
    f->reuse.alone += size;
    if (f->reuse.own && f->reuse.gaps) {
        *alone = false;
        rc = zsession_reserve(f, 0, base, NULL); /* is it shared by now? */
        if (rc || zreuse_take(f, size, base))
            return rc;
    }
    rc = zsession_alone(f, alone);
    if (!rc && !*alone)
        rc = zsession_reserve(f, size, base, NULL);
    if (*alone)
        *base = slab_place(f, size);
    return rc;
}

int zplace_slab(struct zfile *f)
{
    const uint64_t slot = zplace_slot_size(f);
    if (f->outbox.used == 0)
        return MPI_SUCCESS;
    if (f->outbox.used >
        slot) /* would run into another rank's slot; the callers' sizes exclude it */
        return zplace_empty_outbox(f, zfile_raise(f, MPI_ERR_OTHER,
                                                  "%zu bytes of records do not fit a slot of %llu",
                                                  f->outbox.used, (unsigned long long)slot));
    uint64_t base;
    bool alone = false;
    int rc = zplace_reserve(f, f->outbox.used, &base, &alone);
    bool background = false;
    if (!rc) {
        zplace_bind(f, base);
        /* In atomic mode the bytes must be there before the lock is given up. */
        background = f->behind && !f->session.atomic && zbackground_write(f, base, &rc);
    }
    if (!rc && !background)
        rc = zwrite_at(f, base, f->outbox.bytes, f->outbox.used);
    if (alone)
        zsession_alone_end(f);
    return background ? rc : zplace_empty_outbox(f, rc);
}

/*
 * vector_fuse_t.h - template: the rows of a tile to planes in one pass: each vector of words is
 * loaded, made integers, checked, predicted and packed while it is in registers, if no block
 * crosses the end of a row; else the integers are kept on their way. After vector_quant_t.h.
 */

#include "vector_take_t.h"

/* Words between one look for exceptions and the next; and in rows of any length so many integers,
 * in turns with blocks made of as many that lie as far behind: what was just stored is slow to load
 * in another alignment. Not many more: while blocks are made nothing is fetched. */
enum { PART = 256 };

#include "vector_aligned_t.h"

/* ---- rows of any length ---- */

#include "vector_walk_t.h"

/* Blocks from..end-1 of integers. */
VECTOR void make_blocks(const struct fuse *f, struct residuals *r, unsigned axes, size_t from,
                        size_t end, enum source source, struct packer *p)
{
    const unsigned char *const begin = p->dst;
    if (source >= LISTED)
        pack_blocks(f->s, r, axes, from, end, p);
    else
        pack_range(f->s, r, axes, from, end, p);
    room_ahead(begin, p->dst, ROOM_AHEAD);
}

/* Integers less base, and blocks of them some way behind. */
VECTOR enum outcome fuse_from(const struct fuse *f, unsigned axes, enum source source, V base,
                              struct packer *packer)
{
    enum { STEP = PART / ZMPI_BLOCK };
    struct packer own = *packer, *const p = source < LISTED ? &own : packer;
    const size_t whole = f->s->count / ZMPI_BLOCK;
    struct intake t = intake_of(f, source);
    struct residuals r = residuals_begin(f->s, f->work);
    struct walk w = walk_begin(f);
    U *q = (U *)(void *)(f->work->integers + ZMPI_CHUNK_BEFORE);
    size_t taken = 0, made = 0;
    while (taken < whole) {
        const size_t end = whole - taken < STEP ? whole : taken + STEP;
        for (; taken < end; taken++, q += ZMPI_BLOCK)
            take_next(&t, &w, base, source, q);
        if (taken == whole && f->s->count % ZMPI_BLOCK)
            take_rest(&t, &w, base, source, q);
        const enum outcome o = intake_outcome(&t, f, source);
        if (o)
            return o;
        if (taken > STEP) {
            make_blocks(f, &r, axes, made, taken - STEP, source, p);
            made = taken - STEP;
        }
    }
    make_blocks(f, &r, axes, made, f->s->blocks, source, p);
    pack_flush(p);
    if (source < LISTED)
        *packer = own;
    return DONE;
}

/* The plane before the first of the integers. */
VECTOR void fill_before(const struct fuse *f, V v)
{
    U *q = (U *)(void *)(f->work->integers + ZMPI_CHUNK_BEFORE);
    for (size_t i = LANES; i < f->s->plane + LANES; i += LANES)
        v_store(q - i, v);
}

/* Differences along z need no base but in the first plane, where it may as well lie before. */
VECTOR enum outcome fuse_loose(const struct fuse *f, unsigned axes, enum source source,
                               struct packer *p)
{
    if (source >= LISTED || !(axes & ZMPI_AXIS_Z))
        return fuse_from(f, axes, source, v_set1(f->base), p);
    fill_before(f, v_set1(f->base));
    const enum outcome o = fuse_from(f, axes, source, v_set1(0), p);
    fill_before(f, v_set1(0)); /* as others want it */
    return o;
}

VECTOR enum outcome fuse_rows(const struct fuse *f, unsigned axes, enum source source,
                              struct packer *p)
{
    const bool loose = f->s->x % ZMPI_BLOCK;
    if (loose && source >= LISTED)
        return fuse_loose(f, axes, source, p);
    switch (axes) {
#define CASE(a)                                                                                    \
    case a:                                                                                        \
        return loose ? fuse_loose(f, a, source, p) : fuse_aligned(f, a, source, p);
        EACH_AXES(CASE)
#undef CASE
    }
    return EXCEPTION;
}

KERNEL enum outcome fuse_quantized(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_rows(f, axes, QUANTIZE, p);
}

KERNEL enum outcome fuse_filled(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_rows(f, axes, FILLED, p);
}

KERNEL enum outcome fuse_masked(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_rows(f, axes, MASKED, p);
}

KERNEL enum outcome fuse_ordered(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_rows(f, axes, WORDS, p);
}

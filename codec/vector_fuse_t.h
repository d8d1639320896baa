/*
 * vector_fuse_t.h - template: the rows of a tile to planes in one pass: each vector of words is
 * loaded, made integers, checked, predicted and packed while it is in registers, if no block
 * crosses the end of a row; else the integers are kept on their way. After vector_quant_t.h.
 */

#include "vector_take_t.h"

/* A row that blocks fit in. */
VECTOR void fuse_blocks(struct intake *t, struct neighbours *n, const unsigned char *x,
                        size_t words, size_t ahead, unsigned axes, enum source source,
                        struct packer *p)
{
    for (size_t i = 0; i < words; i += ZMPI_BLOCK) {
        V r[VECTORS];
        uint32_t masks = 0, mask;
        for (unsigned k = 0; k < VECTORS; k++) {
            const size_t j = i + k * LANES;
            if (j * WIDTH % 64 == 0)
                fetch(x + j * WIDTH, ahead);
            const V word = v_load((const U *)(const void *)(x + j * WIDTH));
            r[k] = predict(n, j, axes, take(t, word, source, &mask));
            masks |= mask << (k * LANES);
        }
        if (source >= LISTED)
            *t->masks++ = masks;
        pack_next(p, r);
    }
}

/* Words between one look for exceptions and the next; and in rows of any length so many integers,
 * in turns with blocks made of as many that lie as far behind: what was just stored is slow to load
 * in another alignment. Not many more: while blocks are made nothing is fetched. */
enum { PART = 256 };

/* The rows of an aligned tile: no block crosses the end of one. `axes` and `source` are constants
 * to the compiler. If it is not done, the planes are worth nothing. */
VECTOR enum outcome fuse_aligned(const struct fuse *f, unsigned axes, enum source source,
                                 struct packer *packer)
{
    struct packer own = *packer, *const p = &own; /* in registers: bytes stored may be anything */
    const struct shape s = *f->s;
    const struct zmpi_rows rows = *f->rows;
    struct zmpi_chunk_work *work = f->work;
    const U *zeros = (const U *)(const void *)work->integers;
    U *bases = (U *)(void *)work->bases, *keep_y = (U *)(void *)work->sums;
    U *keep_z = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    const struct lines l = {rows.at, s.x, s.y, s.z, rows.row, rows.plane};
    struct coming coming = coming_of(f, &l);
    struct intake t = intake_of(f, source);
    struct neighbours n = {.base = v_set1(f->base), .last = v_set1(f->base)};
    if (axes & (ZMPI_AXIS_Y | ZMPI_AXIS_Z))
        for (size_t i = 0; i < s.x; i += LANES)
            v_store(bases + i, n.base);
    for (size_t z = 0, unseen = 0; z < s.z; z++)
        for (size_t y = 0; y < s.y; y++) {
            n.above = y ? keep_y : bases;
            n.keep_y = keep_y;
            n.keep_z = keep_z + y * s.x;
            n.before = z ? n.keep_z : axes & ZMPI_AXIS_Y ? zeros : bases;
            if (axes != ZMPI_AXIS_X)
                n.last = v_set1(0);
            const unsigned char *x = rows.at + z * rows.plane + y * rows.row;
            fuse_blocks(&t, &n, x, s.x, coming_ahead(&coming, x), axes, source, p);
            if ((unseen += s.x) < PART && (y + 1 < s.y || z + 1 < s.z))
                continue;
            unseen = 0;
            const enum outcome o = intake_outcome(&t, f, source);
            if (o)
                return o;
        }
    pack_flush(p);
    *packer = own;
    return DONE;
}

/* ---- rows of any length ---- */

#include "vector_walk_t.h"

/* Blocks from..end-1 of integers. */
VECTOR void make_blocks(const struct fuse *f, struct residuals *r, unsigned axes, size_t from,
                        size_t end, enum source source, struct packer *p)
{
    if (source >= LISTED)
        pack_blocks(f->s, r, axes, from, end, p);
    else
        pack_range(f->s, r, axes, from, end, p);
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

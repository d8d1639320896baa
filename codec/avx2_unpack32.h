/*
 * avx2_unpack32.h - the blocks of a chunk of 4-byte words, one after another, to residuals. After
 * vector_coded_t.h.
 *
 * Planes become bytes some blocks ahead: it takes twenty instructions, each of which waits for the
 * one before, so that those of several blocks are to be under way at once.
 */

enum { BLOCKS_AHEAD = 8 };

/* What is needed for the longest of some blocks is done for all: branches on each would be hard to
 * predict. */
enum kind { SHORT, MIDDLE, LONG };

struct unpacker {
    struct coded coded;
    size_t blocks;
    /* Some blocks of which planes became bytes, unless they are LONG: */
    enum kind kind;
    const unsigned char *src[BLOCKS_AHEAD];
    unsigned char length[BLOCKS_AHEAD];
    unsigned char low[BLOCKS_AHEAD][ZMPI_BLOCK], high[BLOCKS_AHEAD][ZMPI_BLOCK];
};

VECTOR void unpacker_begin(struct unpacker *u, const struct parts *p,
                           const struct zmpi_chunk_work *work, unsigned char *tail)
{
    coded_begin(&u->coded, p, work, tail);
    u->blocks = (size_t)(p->planes - p->lengths); /* and padding */
}

/* Where the next n blocks lie; returns their lengths, ORed. */
VECTOR unsigned unpack_places(struct unpacker *u, size_t n)
{
    struct coded c = u->coded;
    unsigned any = 0;
    for (size_t i = 0; i < n; i++) {
        if (__builtin_expect(c.src > c.safe, 0))
            coded_tail(&c);
        const unsigned length = block_length(c.lengths[c.block + i]);
        fetch_planes(&c, length);
        u->length[i] = (unsigned char)length;
        u->src[i] = c.src;
        any |= length;
        c.src += 4 * (size_t)(length + (length != 0));
    }
    u->coded.src = c.src;
    u->coded.safe = c.safe;
    return any;
}

VECTOR void unpack_ahead(struct unpacker *u)
{
    const size_t left = u->blocks - u->coded.block, n = left < BLOCKS_AHEAD ? left : BLOCKS_AHEAD;
    const unsigned any = unpack_places(u, n);
    u->kind = any < 8 ? SHORT : any < 16 ? MIDDLE : LONG;
    for (size_t i = 0; i < n && u->kind == SHORT; i++)
        v_store((U *)(void *)u->low[i], short_bytes(u->src[i], u->length[i]));
    for (size_t i = 0; i < n && u->kind == MIDDLE; i++) {
        v_store((U *)(void *)u->low[i], low_bytes_of(u->src[i], u->length[i]));
        v_store((U *)(void *)u->high[i], high_bytes_of(u->src[i], u->length[i]));
    }
}

/* Residuals of the next block, or with the x axis their running sums; not in the order of words
 * (block_order). */
VECTOR void unpack_next(struct unpacker *u, unsigned axes, V r[VECTORS])
{
    struct coded *c = &u->coded;
    const bool sums = axes & ZMPI_AXIS_X;
    if (c->given) {
        block_take(c->given + c->block++ * ZMPI_BLOCK, sums, r);
        return;
    }
    const size_t i = c->block % BLOCKS_AHEAD;
    if (i == 0)
        unpack_ahead(u);
    c->block++;
    const V low = v_load((const U *)(const void *)u->low[i]);
    if (__builtin_expect(u->kind == SHORT, 1))
        unpack_short(low, sums, r);
    else if (__builtin_expect(u->kind == MIDDLE, 1))
        unpack_middle(low, v_load((const U *)(const void *)u->high[i]), sums, r);
    else
        unpack_long(u->src[i], u->length[i], sums, r);
    if (sums)
        sum_lanes(r);
}

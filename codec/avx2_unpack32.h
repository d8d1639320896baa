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

KERNEL void unpack_ahead(struct unpacker *u)
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

/* Block i of those to residuals, or with the x axis their sums. */
VECTOR void unpack_made(const struct unpacker *u, enum kind kind, size_t i, bool sums, V r[VECTORS])
{
    const V low = v_load((const U *)(const void *)u->low[i]);
    if (kind == SHORT)
        unpack_short(low, sums, r);
    else if (kind == MIDDLE)
        unpack_middle(low, v_load((const U *)(const void *)u->high[i]), sums, r);
    else
        unpack_long(u->src[i], u->length[i], sums, r);
    if (sums)
        sum_lanes(r);
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
    if (__builtin_expect(u->kind == SHORT, 1))
        unpack_made(u, SHORT, i, sums, r);
    else if (__builtin_expect(u->kind == MIDDLE, 1))
        unpack_made(u, MIDDLE, i, sums, r);
    else
        unpack_made(u, LONG, i, sums, r);
}

/* Words of a block, with what lies before them, to memory. */
VECTOR void store_block(V r[VECTORS], bool sums, V *before, U *to)
{
    block_order(r);
    for (unsigned k = 0; k < VECTORS; k++)
        v_store(to + k * LANES, sums ? v_add(r[k], *before) : r[k]);
    if (sums)
        *before = v_add(v_last(r[VECTORS - 1]), *before);
}

/* Blocks from..end-1 of those. */
VECTOR V store_made(const struct unpacker *u, enum kind kind, size_t from, size_t end, bool sums,
                    V before, U *to)
{
    for (size_t i = from; i < end; i++, to += ZMPI_BLOCK) {
        V r[VECTORS];
        unpack_made(u, kind, i, sums, r);
        store_block(r, sums, &before, to);
    }
    return before;
}

VECTOR V store_given(const U *from, size_t n, bool sums, V before, U *to)
{
    for (size_t i = 0; i < n * ZMPI_BLOCK; i += ZMPI_BLOCK) {
        V r[VECTORS];
        block_take(from + i, sums, r);
        store_block(r, sums, &before, to + i);
    }
    return before;
}

/* The next n blocks in the order of words, or with the x axis their sums, which go on behind
 * `before`; returns it for the blocks to come. */
VECTOR V unpack_blocks(struct unpacker *u, size_t n, unsigned axes, V before, U *to)
{
    const bool sums = axes & ZMPI_AXIS_X;
    for (size_t some; n; n -= some, to += some * ZMPI_BLOCK) {
        const size_t from = u->coded.block % BLOCKS_AHEAD, left = BLOCKS_AHEAD - from;
        some = n < left ? n : left;
        if (u->coded.given) {
            before =
                store_given(u->coded.given + u->coded.block * ZMPI_BLOCK, some, sums, before, to);
        } else {
            if (from == 0)
                unpack_ahead(u);
            if (u->kind == SHORT)
                before = store_made(u, SHORT, from, from + some, sums, before, to);
            else if (u->kind == MIDDLE)
                before = store_made(u, MIDDLE, from, from + some, sums, before, to);
            else
                before = store_made(u, LONG, from, from + some, sums, before, to);
        }
        u->coded.block += some;
    }
    return before;
}

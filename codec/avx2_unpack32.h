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

/* The lengths of the next n blocks; returns what the longest of them needs. */
VECTOR enum kind unpack_lengths(struct unpacker *u, size_t n)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t bytes = 0;
    memcpy(&bytes, u->coded.lengths + u->coded.block, n);
    const uint64_t marked = bytes & 0x80 * ones;
    bytes &= ~(marked | marked >> 1); /* block_length */
    memcpy(u->length, &bytes, sizeof bytes);
    return bytes & 0xF0 * ones ? LONG : bytes & 0xF8 * ones ? MIDDLE : SHORT;
}

/* Those n. end: they may be the last ones of the chunk. */
VECTOR void unpack_some(struct unpacker *u, size_t n, enum kind kind, bool end)
{
    struct coded c = u->coded;
    for (size_t i = 0; i < n; i++) {
        if (end && __builtin_expect(c.src > c.safe, 0))
            coded_tail(&c);
        const unsigned length = u->length[i];
        fetch_planes(&c, kind == LONG ? length : 0);
        if (kind == LONG) {
            u->src[i] = c.src;
        } else if (kind == MIDDLE) {
            v_store((U *)(void *)u->low[i], low_bytes_of(c.src, length));
            v_store((U *)(void *)u->high[i], high_bytes_of(c.src, length));
        } else {
            v_store((U *)(void *)u->low[i], short_bytes(c.src, length));
        }
        c.src += 4 * (size_t)(length + (length != 0));
    }
    u->coded.src = c.src;
    u->coded.safe = c.safe;
}

KERNEL void unpack_ahead(struct unpacker *u)
{
    enum { MOST = (BLOCKS_AHEAD - 1) * 4 * (15 + 1) }; /* bytes of all but the last, unless LONG */
    const size_t left = u->blocks - u->coded.block, n = left < BLOCKS_AHEAD ? left : BLOCKS_AHEAD;
    const bool end = n < BLOCKS_AHEAD || u->coded.safe - u->coded.src < MOST;
    u->kind = end ? unpack_lengths(u, n) : unpack_lengths(u, BLOCKS_AHEAD);
    if (u->kind == LONG)
        unpack_some(u, n, LONG, true);
    else if (u->kind == MIDDLE && end)
        unpack_some(u, n, MIDDLE, true);
    else if (u->kind == MIDDLE)
        unpack_some(u, BLOCKS_AHEAD, MIDDLE, false);
    else if (end)
        unpack_some(u, n, SHORT, true);
    else
        unpack_some(u, BLOCKS_AHEAD, SHORT, false);
}

/* Block i of those to residuals, or with the x axis to sums that go on behind `carry`. */
VECTOR void unpack_made(const struct unpacker *u, enum kind kind, size_t i, bool sums, V *carry,
                        V r[VECTORS])
{
    const V low = v_load((const U *)(const void *)u->low[i]);
    if (kind == SHORT)
        unpack_short(low, sums, r);
    else if (kind == MIDDLE)
        unpack_middle(low, v_load((const U *)(const void *)u->high[i]), sums, r);
    else
        unpack_long(u->src[i], u->length[i], sums, r);
    if (sums)
        sum_lanes(r, carry);
}

/* Residuals of the next block, or with the x axis their running sums, which are not in the order of
 * words (block_order). */
VECTOR void unpack_next(struct unpacker *u, unsigned axes, V r[VECTORS])
{
    struct coded *c = &u->coded;
    const bool sums = axes & ZMPI_AXIS_X;
    V carry = v_set1(0);
    if (c->given) {
        block_take(c->given + c->block++ * ZMPI_BLOCK, sums, &carry, r);
        return;
    }
    const size_t i = c->block % BLOCKS_AHEAD;
    if (i == 0)
        unpack_ahead(u);
    c->block++;
    if (__builtin_expect(u->kind == SHORT, 1))
        unpack_made(u, SHORT, i, sums, &carry, r);
    else if (__builtin_expect(u->kind == MIDDLE, 1))
        unpack_made(u, MIDDLE, i, sums, &carry, r);
    else
        unpack_made(u, LONG, i, sums, &carry, r);
}

/* Words of a block to memory. */
VECTOR void store_block(V r[VECTORS], bool sums, U *to)
{
    if (sums)
        block_order(r);
    for (unsigned k = 0; k < VECTORS; k++)
        v_store(to + k * LANES, r[k]);
}

/* Blocks from..end-1 of those. */
VECTOR V store_made(const struct unpacker *u, enum kind kind, size_t from, size_t end, bool sums,
                    V before, U *to)
{
    for (size_t i = from; i < end; i++, to += ZMPI_BLOCK) {
        V r[VECTORS];
        unpack_made(u, kind, i, sums, &before, r);
        store_block(r, sums, to);
    }
    return before;
}

VECTOR V store_given(const U *from, size_t n, bool sums, V before, U *to)
{
    for (size_t i = 0; i < n * ZMPI_BLOCK; i += ZMPI_BLOCK) {
        V r[VECTORS];
        block_take(from + i, sums, &before, r);
        store_block(r, sums, to + i);
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

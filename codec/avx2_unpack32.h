/*
 * avx2_unpack32.h - the blocks of a chunk of 4-byte words, one after another, to residuals. After
 * vector_coded_t.h.
 *
 * Planes become bytes some blocks ahead: it takes twenty instructions, each of which waits for the
 * one before, so that those of several blocks are to be under way at once.
 */

enum { BLOCKS_AHEAD = 8 };

struct unpacker {
    struct coded coded;
    const unsigned char *lengths_end;
    /* Some blocks of which planes became bytes: */
    unsigned char bytes[BLOCKS_AHEAD][ZMPI_BLOCK];
    const unsigned char *src[BLOCKS_AHEAD];
    unsigned char length[BLOCKS_AHEAD];
};

VECTOR void unpacker_begin(struct unpacker *u, const struct parts *p,
                           const struct zmpi_chunk_work *work, unsigned char *tail)
{
    coded_begin(&u->coded, p, work, tail);
    u->lengths_end = p->planes;
}

VECTOR void unpack_ahead(struct unpacker *u)
{
    struct coded c = u->coded;
    const unsigned char *lengths = c.lengths + c.block;
    for (unsigned i = 0; i < BLOCKS_AHEAD && lengths + i < u->lengths_end; i++) {
        if (__builtin_expect(c.src > c.safe, 0))
            coded_tail(&c);
        const unsigned length = block_length(lengths[i]);
        fetch_planes(&c, length);
        u->length[i] = (unsigned char)length;
        u->src[i] = c.src;
        v_store((U *)(void *)u->bytes[i], block_bytes_of(c.src, length));
        c.src += 4 * (size_t)(length + (length != 0));
    }
    u->coded.src = c.src;
    u->coded.safe = c.safe;
}

/* Residuals of the next block, or with the x axis their running sums; not in the order of words
 * (block_order). */
VECTOR void unpack_next(struct unpacker *u, unsigned axes, V r[VECTORS])
{
    struct coded *c = &u->coded;
    if (c->given) {
        block_take(c->given + c->block++ * ZMPI_BLOCK, axes & ZMPI_AXIS_X, r);
        return;
    }
    const unsigned i = c->block % BLOCKS_AHEAD;
    if (i == 0)
        unpack_ahead(u);
    c->block++;
    const V bytes = v_load((const U *)(const void *)u->bytes[i]);
    if (axes & ZMPI_AXIS_X)
        block_sums(u->src[i], u->length[i], bytes, r);
    else
        block_residuals(u->src[i], u->length[i], bytes, r);
}

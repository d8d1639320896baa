/*
 * vector_unpack_t.h - template: the blocks of a chunk, one after another, to residuals. After
 * vector_coded_t.h.
 */

struct unpacker {
    struct coded coded;
};

static inline void unpacker_begin(struct unpacker *u, const struct parts *p,
                                  const struct zmpi_chunk_work *work, unsigned char *tail)
{
    coded_begin(&u->coded, p, work, tail);
}

/* Residuals of the next block, or their running sums. */
VECTOR void unpack_next(struct unpacker *u, bool sums, V r[VECTORS])
{
    struct coded *c = &u->coded;
    if (__builtin_expect(c->src > c->safe, 0))
        coded_tail(c);
    unsigned length = block_length(c->lengths[c->block++]);
    fetch_planes(c, length);
    if (sums)
        block_unpack_scan(c->src, length, r);
    else
        block_unpack(c->src, length, r);
    c->src += 4 * (size_t)(length + (length != 0));
}

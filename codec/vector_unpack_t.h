/*
 * vector_unpack_t.h - template: the blocks of a chunk, one after another, to residuals. After
 * layout_t.h.
 *
 * parse_chunk has checked everything before this begins. What is left to watch is that loads of
 * several planes at once stay inside src.
 */

struct unpacker {
    const unsigned char *lengths, *src, *end;
    const unsigned char *safe; /* a block may be read from here, but not beyond */
    size_t block;
    size_t ahead;        /* to the same place of the next chunk, or nearly so */
    unsigned char *tail; /* TAIL bytes for the last blocks, and zeros behind them */
    const U *given;      /* the residuals, if they are here; or NULL */
};

enum { TAIL = 2 * BLOCK_READ };

static inline void unpacker_begin(struct unpacker *u, const struct parts *p,
                                  const struct zmpi_chunk_work *work, unsigned char *tail)
{
    u->given = work->given ? (const U *)(const void *)work->residuals : NULL;
    u->tail = tail;
    u->lengths = p->lengths;
    u->src = p->planes;
    u->end = p->end;
    u->safe = p->end - p->planes >= BLOCK_READ ? p->end - BLOCK_READ : p->planes - 1;
    u->block = 0;
    u->ahead = (size_t)(p->end - p->lengths);
}

/* So close to the end of src, go on in a copy. All that is left fits in half of it. */
static inline void unpacker_tail(struct unpacker *u)
{
    size_t left = (size_t)(u->end - u->src);
    memcpy(u->tail, u->src, left);
    memset(u->tail + left, 0, TAIL - left);
    u->src = u->tail;
    u->safe = u->tail + BLOCK_READ;
}

/* Ask for what lies here in the next chunk: the hash that reads it first does nothing else, so it
 * would wait for memory, and decoding would not begin meanwhile. */
VECTOR void fetch_planes(const struct unpacker *u, unsigned length)
{
    v_prefetch(u->src, u->ahead);
    if (length > 15)
        for (size_t i = 64; i < 32 * WIDTH; i += 64)
            v_prefetch(u->src, u->ahead + i);
}

/* Residuals of the next block, or with the x axis their running sums; not in the order of words
 * (block_order). */
VECTOR void unpack_next(struct unpacker *u, unsigned axes, V r[VECTORS])
{
    if (u->given) {
        block_take(u->given + u->block++ * ZMPI_BLOCK, axes & ZMPI_AXIS_X, r);
        return;
    }
    if (__builtin_expect(u->src > u->safe, 0))
        unpacker_tail(u);
    unsigned length = block_length(u->lengths[u->block++]);
    fetch_planes(u, length);
    if (axes & ZMPI_AXIS_X)
        block_unpack_scan(u->src, length, r);
    else
        block_unpack(u->src, length, r);
    u->src += 4 * (size_t)(length + (length != 0));
}

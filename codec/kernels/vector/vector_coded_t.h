/*
 * vector_coded_t.h - template: the blocks of a chunk as they lie in memory, one after another.
 * After layout_t.h.
 *
 * parse_chunk has checked everything before. Only loads of several planes at once must still stay
 * inside src.
 */

struct coded {
    const unsigned char *lengths, *src, *end;
    const unsigned char *safe; /* a block may be read from here, but not beyond */
    size_t block;
    size_t ahead;        /* bytes to the same place of the next chunk, or nearly */
    unsigned char *tail; /* TAIL bytes with the last blocks and zeros behind them */
    const U *given;      /* the residuals, if another decoder has made them; or NULL */
};

enum { TAIL = 2 * BLOCK_READ };

static inline void coded_begin(struct coded *c, const struct parts *p,
                               const struct zmpi_chunk_work *work, unsigned char *tail)
{
    c->given = work->given ? (const U *)(const void *)work->residuals : NULL;
    c->tail = tail;
    c->lengths = p->lengths;
    c->src = p->planes;
    c->end = p->end;
    c->safe = p->end - p->planes >= BLOCK_READ ? p->end - BLOCK_READ : p->planes - 1;
    c->block = 0;
    c->ahead = (size_t)(p->end - p->lengths);
}

/* Close to the end of src it continues in a copy. All bytes that are left fit in half of the
 * copy. */
static inline void coded_tail(struct coded *c)
{
    size_t left = (size_t)(c->end - c->src);
    memcpy(c->tail, c->src, left);
    memset(c->tail + left, 0, TAIL - left);
    c->src = c->tail;
    c->safe = c->tail + BLOCK_READ;
}

VECTOR void fetch_coded(const unsigned char *src, size_t ahead)
{
    __builtin_prefetch((const void *)((uintptr_t)src + ahead));
}

/* Prefetches the same place of the next chunk. The hash reads that chunk first and does nothing
 * else meanwhile: without the prefetch it would wait for memory, and decoding could not begin. */
VECTOR void fetch_planes(const struct coded *c, unsigned length)
{
    fetch_coded(c->src, c->ahead);
    if (length > 15)
        for (size_t i = 64; i < 32 * WIDTH; i += 64)
            fetch_coded(c->src, c->ahead + i);
}

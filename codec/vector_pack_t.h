/*
 * vector_pack_t.h - template: integers of a chunk to residuals, lengths and planes, block by block.
 * After struct packer.
 */

#include "vector_residuals_t.h"

/* The last block of a chunk, which it does not fill: what is beyond is zero. */
VECTOR void pack_rest(struct packer *p, struct residuals *n, const struct shape *s, unsigned axes)
{
    const size_t b = s->blocks - 1, words = block_words(s, b);
    U few[ZMPI_BLOCK];
    V r[VECTORS];
    residuals_next(n, b, axes, r);
    for (unsigned k = 0; k < VECTORS; k++)
        v_store(few + k * LANES, r[k]);
    memset(few + words, 0, (ZMPI_BLOCK - words) * WIDTH);
    for (unsigned k = 0; k < VECTORS; k++)
        r[k] = v_load(few + k * LANES);
    pack_next(p, r);
}

/* Blocks from..end-1. `axes` is a constant to the compiler, which makes one loop for each. */
VECTOR void pack_range(const struct shape *s, struct residuals *n, unsigned axes, size_t from,
                       size_t end, struct packer *p)
{
    const size_t whole = s->count / ZMPI_BLOCK;
    for (; from < end && from < whole; from++) {
        V r[VECTORS];
        residuals_next(n, from, axes, r);
        pack_next(p, r);
    }
    if (end > whole)
        pack_rest(p, n, s, axes);
}

/* The same, with all in registers: bytes stored may be anything. */
VECTOR void pack_along(const struct shape *s, struct residuals *residuals, unsigned axes,
                       size_t from, size_t end, struct packer *packer)
{
    struct packer own = *packer;
    struct residuals n = *residuals;
    pack_range(s, &n, axes, from, end, &own);
    pack_flush(&own);
    *residuals = n;
    *packer = own;
}

KERNEL void pack_blocks(const struct shape *s, struct residuals *n, unsigned axes, size_t from,
                        size_t end, struct packer *p)
{
    switch (axes) {
#define CASE(a)                                                                                    \
    case a:                                                                                        \
        pack_along(s, n, a, from, end, p);                                                         \
        break;
        EACH_AXES(CASE)
#undef CASE
    }
}

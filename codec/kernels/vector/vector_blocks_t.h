/*
 * vector_blocks_t.h - template: many blocks of a chunk at a time, to words or their sums in memory.
 * After vector_unpack_t.h, or after a header that unpacks groups if the set has one.
 */

/* Takes residuals that another decoder has made. */
VECTOR void given_blocks(struct coded *c, V *carry, bool sums, size_t blocks, U *to)
{
    const U *from = c->given + c->block * ZMPI_BLOCK;
    c->block += blocks;
    for (size_t i = 0; i < blocks * ZMPI_BLOCK; i += LANES) {
        const V v = v_load(from + i), sum = v_add(sums ? v_scan(v) : v, *carry);
        v_store(to + i, sum);
        if (sums)
            *carry = v_last(sum);
    }
}

#ifdef UNPACKS_AHEAD
#include "kernels/avx2/avx2_blocks_t.h"
#else
/* The next blocks and `carry`; or their running sums, which continue from it. */
VECTOR void unpack_blocks(struct unpacker *u, V *carry, bool sums, size_t blocks, U *to)
{
    if (u->coded.given) {
        given_blocks(&u->coded, carry, sums, blocks, to);
        return;
    }
    for (size_t b = 0; b < blocks; b++, to += ZMPI_BLOCK) {
        V r[VECTORS];
        unpack_next(u, sums, r);
        for (unsigned k = 0; k < VECTORS; k++)
            v_store(to + k * LANES, v_add(r[k], *carry));
        if (sums)
            *carry = v_add(v_last(r[VECTORS - 1]), *carry);
    }
}
#endif

KERNEL void word_unpack_words(struct unpacker *u, V *carry, size_t blocks, U *to)
{
    unpack_blocks(u, carry, false, blocks, to);
}

KERNEL void word_unpack_sums(struct unpacker *u, V *carry, size_t blocks, U *to)
{
    V sum = *carry;
    unpack_blocks(u, &sum, true, blocks, to);
    *carry = sum;
}

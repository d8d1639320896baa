/* avx2_blocks_t.h - template: the blocks of a chunk to words or their sums. After avx2_unpack_t.h;
 * the AVX2 part of vector_blocks_t.h. */

/* Block i of the unpacked ones, to residuals plus `carry`, or to sums that continue from it. */
VECTOR void unpack_made(const struct unpacker *u, enum kind kind, size_t i, bool sums, V *carry,
                        V r[VECTORS])
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)u->low[i]);
    __m256i d[DWORDS];
    if (kind == LONG) {
        unpack_long(u->src[i], u->length[i], r);
        if (sums)
            block_sums(r);
    } else {
        if (kind == SHORT)
            unpack_short(low, sums, d);
        else
            unpack_middle(low, _mm256_loadu_si256((const __m256i *)(const void *)u->high[i]), sums,
                          d);
        if (sums) { /* running sums without the carry */
            __m256i none = _mm256_setzero_si256();
            sum_lanes(d, WIDTH == 4 ? carry : &none);
            block_order(d);
        }
        lengthen(d, true, r);
        if (WIDTH == 4 && sums)
            return;
    }
    for (unsigned k = 0; k < VECTORS; k++)
        r[k] = v_add(r[k], *carry);
    if (sums)
        *carry = v_last(r[VECTORS - 1]);
}

/* Stores blocks from..end-1 of the unpacked ones. */
VECTOR V store_made(const struct unpacker *u, enum kind kind, size_t from, size_t end, bool sums,
                    V carry, U *to)
{
    for (size_t i = from; i < end; i++, to += ZMPI_BLOCK) {
        V r[VECTORS];
        unpack_made(u, kind, i, sums, &carry, r);
        for (unsigned k = 0; k < VECTORS; k++)
            v_store(to + k * LANES, r[k]);
    }
    return carry;
}

/* The next n blocks. */
VECTOR void unpack_blocks(struct unpacker *u, V *carry, bool sums, size_t n, U *to)
{
    if (u->coded.given) {
        given_blocks(&u->coded, carry, sums, n, to);
        return;
    }
    for (size_t some; n; n -= some, to += some * ZMPI_BLOCK) {
        const size_t from = u->coded.block % BLOCKS_AHEAD, left = BLOCKS_AHEAD - from;
        some = n < left ? n : left;
        if (from == 0)
            unpack_ahead(u);
        if (u->kind == SHORT)
            *carry = store_made(u, SHORT, from, from + some, sums, *carry, to);
        else if (u->kind == MIDDLE)
            *carry = store_made(u, MIDDLE, from, from + some, sums, *carry, to);
        else
            *carry = store_made(u, LONG, from, from + some, sums, *carry, to);
        u->coded.block += some;
    }
}

/* avx2_unpack32.h - the blocks of a chunk of 4-byte words to words or their sums. After
 * avx2_unpack_t.h and vector_blocks_t.h. */

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

/* Blocks from..end-1 of those, and `carry`; with the x axis their sums, which go on from it. */
VECTOR V store_made(const struct unpacker *u, enum kind kind, size_t from, size_t end, bool sums,
                    V carry, U *to)
{
    for (size_t i = from; i < end; i++, to += ZMPI_BLOCK) {
        V r[VECTORS];
        unpack_made(u, kind, i, sums, &carry, r);
        if (sums)
            block_order(r);
        for (unsigned k = 0; k < VECTORS; k++)
            v_store(to + k * LANES, sums ? r[k] : v_add(r[k], carry));
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

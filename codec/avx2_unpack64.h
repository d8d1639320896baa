/* avx2_unpack64.h - what decoders of 8-byte words add to vector_unpack_t.h. */

/* The next n blocks in the order of words, or with the x axis their sums, which go on behind
 * `before`; returns it for the blocks to come. */
VECTOR V unpack_blocks(struct unpacker *unpacker, size_t n, unsigned axes, V before, U *to)
{
    struct unpacker u = *unpacker;
    for (; n; n--, to += ZMPI_BLOCK) {
        V r[VECTORS];
        unpack_next(&u, axes, r);
        block_order(r);
        for (unsigned k = 0; k < VECTORS; k++)
            v_store(to + k * LANES, axes & ZMPI_AXIS_X ? v_add(r[k], before) : r[k]);
        if (axes & ZMPI_AXIS_X)
            before = v_add(v_last(r[VECTORS - 1]), before);
    }
    *unpacker = u;
    return before;
}

/*
 * vector_pieces_t.h - template: blocks of a chunk, many at a time, to words or their sums in
 * memory. After vector_unpack_t.h, and where there is one after a header that unpacks groups.
 */

/* Blocks that are unpacked before they are summed, 4 KiB: both at once want too many registers. */
enum { PIECE = 4096 / (ZMPI_BLOCK * WIDTH) };

/* The next blocks, their words in order, or with the x axis their sums, which go on from carry. */
VECTOR void unpack_blocks(struct unpacker *u, V *carry, unsigned axes, size_t blocks, U *to)
{
    for (size_t b = 0; b < blocks; b++, to += ZMPI_BLOCK) {
        V r[VECTORS];
#ifdef UNPACKS_GROUPS
        if (b % GROUP == 0 && blocks - b >= GROUP &&
            unpack_group(&u->coded, carry, axes & ZMPI_AXIS_X, to)) {
            b += GROUP - 1;
            to += (GROUP - 1) * ZMPI_BLOCK;
            continue;
        }
#endif
        unpack_next(u, axes, r);
        block_order(r);
        for (unsigned k = 0; k < VECTORS; k++)
            v_store(to + k * LANES, axes & ZMPI_AXIS_X ? v_add(r[k], *carry) : r[k]);
        if (axes & ZMPI_AXIS_X)
            *carry = v_add(v_last(r[VECTORS - 1]), *carry);
    }
}

KERNEL void unpack_words(struct unpacker *u, V *carry, size_t blocks, U *to)
{
    unpack_blocks(u, carry, 0, blocks, to);
}

KERNEL void unpack_sums(struct unpacker *u, V *carry, size_t blocks, U *to)
{
    V sum = *carry;
    unpack_blocks(u, &sum, ZMPI_AXIS_X, blocks, to);
    *carry = sum;
}

/* PIECE blocks, or those that are left. */
VECTOR void unpack_piece(struct unpacker *u, V *carry, unsigned axes, size_t left, U *to)
{
    const size_t blocks = left < PIECE ? left : PIECE;
    if (axes & ZMPI_AXIS_X)
        unpack_sums(u, carry, blocks, to);
    else
        unpack_words(u, carry, blocks, to);
}

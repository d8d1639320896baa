/*
 * vector_order_t.h - template: blocks whose words lie in vectors in their own order. Where they do
 * not (avx2_words32.h), these functions are others.
 */

/* From the order in which blocks are unpacked and summed to that of words, and back; the last word
 * is last in both. */
VECTOR void block_order(V r[VECTORS])
{
    (void)r;
}

/* Running sums of a block. */
VECTOR void block_sums(V r[VECTORS])
{
    r[0] = v_scan(r[0]);
    for (unsigned k = 1; k < VECTORS; k++)
        r[k] = v_add(v_scan(r[k]), v_last(r[k - 1]));
}

/* A block of words to the order of blocks; sums: their running sums. */
VECTOR void block_take(const U *from, bool sums, V r[VECTORS])
{
    for (unsigned k = 0; k < VECTORS; k++)
        r[k] = v_load(from + k * LANES);
    if (sums)
        block_sums(r);
}

/*
 * vector_order_t.h - template: blocks whose words lie in vectors in their own order. Where they do
 * not (avx2_words32.h), these functions are others.
 */

/* Running sums of a block. */
VECTOR void block_sums(V r[VECTORS])
{
    r[0] = v_scan(r[0]);
    for (unsigned k = 1; k < VECTORS; k++)
        r[k] = v_add(v_scan(r[k]), v_last(r[k - 1]));
}

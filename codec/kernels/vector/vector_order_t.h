/*
 * vector_order_t.h - template: blocks whose words lie in vectors in their own order. Sets with
 * another order have functions of their own (avx2_words32.h).
 */

/* Running sums of a block. */
VECTOR void block_sums(V r[VECTORS])
{
    r[0] = v_scan(r[0]);
    for (unsigned k = 1; k < VECTORS; k++)
        r[k] = v_add(v_scan(r[k]), v_last(r[k - 1]));
}

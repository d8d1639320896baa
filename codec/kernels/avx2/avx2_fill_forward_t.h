/*
 * avx2_fill_forward_t.h - template: integers in the places of exceptions. After v_last.
 */

/* In the lanes of `hole`, which are all ones, what the last one below has that is none, or what all
 * lanes of `before` have, which becomes what the next ones need. */
VECTOR V v_fill_forward_on(V v, M hole, V *before)
{
    /* One, two and four lanes of 32 bits below; where there are none, the same again. */
    static const U below[][LANES] = {
#if WIDTH == 4
        {0, 0, 1, 2, 3, 4, 5, 6},
        {0, 1, 0, 1, 2, 3, 4, 5},
        {0, 1, 2, 3, 0, 1, 2, 3}
#else
        {0x100000000, 0x100000000, 0x300000002, 0x500000004},
        {0x100000000, 0x300000002, 0x100000000, 0x300000002}
#endif
    };
    const uint32_t holes = m_bits(hole); /* worth branches, though coasts are hard to foresee */
    if (holes == UINT32_MAX >> (32 - LANES))
        return *before;
    if (!holes) {
        *before = v_last(v);
        return v;
    }
    for (unsigned i = 0; i < sizeof below / sizeof *below; i++) {
        const V from = v_load(below[i]);
        v = v_blend(v, v_take(v, from), hole);
        hole = v_and(hole, v_take(hole, from));
    }
    v = v_blend(v, *before, hole);
    *before = v_last(v);
    return v;
}

/* The same where bits are not set, behind a vector of which only the last lane counts. */
VECTOR V v_fill_forward(V v, uint32_t fine, V before)
{
    V last = v_last(before);
    return v_fill_forward_on(v, v_signs_at(~fine, 0), &last);
}

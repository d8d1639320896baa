/*
 * avx2_fill_forward_t.h - template: integers for exceptions. After v_last.
 */

/* Gives each lane of `hole` (all ones there) the value of the last lane below it that is no hole,
 * or the value in all lanes of `before`. `before` becomes what the next vector needs. */
VECTOR V v_fill_forward_on(V v, M hole, V *before)
{
    /* The lanes one, two and four below, in lanes of 32 bits; a lane without one takes itself. */
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
    const uint32_t holes = m_bits(hole); /* branches pay, though coasts are hard to predict */
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

/* The same for lanes whose bits are not set, after a vector of which only the last lane counts. */
VECTOR V v_fill_forward(V v, uint32_t fine, V before)
{
    V last = v_last(before);
    return v_fill_forward_on(v, v_signs_at(~fine, 0), &last);
}

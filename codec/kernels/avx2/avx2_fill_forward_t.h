/*
 * avx2_fill_forward_t.h - template: integers in the places of exceptions. After v_last.
 */

/* For each of the masks of a vector's lanes, where the dwords of a lane come from: from the last
 * lane up to it whose bit is set; negative: there is none. */
#define UP_TO(n, i) ((n) & ((2 << (i)) - 1))
#define LAST(n, i)  (31 - __builtin_clz((unsigned)UP_TO(n, i) | 1))
#if WIDTH == 4
#define PART(n, i) UP_TO(n, i) ? LAST(n, i) : -1
#else
#define PART(n, i) UP_TO(n, (i) / 2) ? 2 * LAST(n, (i) / 2) + (i) % 2 : -1
#endif
#define FROM(n)                                                                                    \
    {                                                                                              \
        PART(n, 0), PART(n, 1), PART(n, 2), PART(n, 3), PART(n, 4), PART(n, 5), PART(n, 6),        \
            PART(n, 7)                                                                             \
    }
#define FROM4(n)  FROM(n), FROM((n) + 1), FROM((n) + 2), FROM((n) + 3)
#define FROM16(n) FROM4(n), FROM4((n) + 4), FROM4((n) + 8), FROM4((n) + 12)
#if WIDTH == 4
#define FROM64(n) FROM16(n), FROM16((n) + 16), FROM16((n) + 32), FROM16((n) + 48)
#define FROM_ALL  FROM64(0), FROM64(64), FROM64(128), FROM64(192)
#else
#define FROM_ALL FROM16(0)
#endif

/* The last lane whose bit is set, in all lanes: a number for each of its dwords, or negative ones.
 */
#if WIDTH == 4
#define LAST_OF(n) ((n) ? (U)LAST(n, 7) : (U)-1)
#else
#define LAST_OF(n) ((n) ? (U)(2 * LAST(n, 3) + 1) << 32 | (U)(2 * LAST(n, 3)) : (U)-1)
#endif
#define LAST4(n)  LAST_OF(n), LAST_OF((n) + 1), LAST_OF((n) + 2), LAST_OF((n) + 3)
#define LAST16(n) LAST4(n), LAST4((n) + 4), LAST4((n) + 8), LAST4((n) + 12)
#if WIDTH == 4
#define LAST64(n) LAST16(n), LAST16((n) + 16), LAST16((n) + 32), LAST16((n) + 48)
#define LAST_ALL  LAST64(0), LAST64(64), LAST64(128), LAST64(192)
#else
#define LAST_ALL LAST16(0)
#endif

VECTOR V v_lanes_from(V v, V from, V before)
{
    const V inside = _mm256_permutevar8x32_epi32(v, from);
    return f_bits(F_OP(blendv)(f_of_bits(inside), f_of_bits(before), f_of_bits(from)));
}

/* In the lanes whose bits are not set what the last one below has whose bit is, or what all lanes
 * of `before` have, which becomes what the next ones need: not by way of what is returned, as that
 * takes longer. */
VECTOR V v_fill_forward_on(V v, uint32_t fine, V *before)
{
    static const int8_t last_of[1 << LANES][8] = {FROM_ALL};
    static const U last[1 << LANES] = {LAST_ALL};
    const V from = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)last_of[fine]));
    const V held = v_lanes_from(v, from, *before);
    *before = v_lanes_from(v, v_set1(last[fine]), *before);
    return held;
}

/* The same behind a vector of which only the last lane counts. */
VECTOR V v_fill_forward(V v, uint32_t fine, V before)
{
    V last = v_last(before);
    return v_fill_forward_on(v, fine, &last);
}

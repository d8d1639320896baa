/*
 * avx2_hold_t.h - template: integers in the places of exceptions. After v_last.
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

/* In the lanes whose bits are not set what the last one below has whose bit is, or what `before`
 * ends with. */
VECTOR V v_hold(V v, uint32_t fine, V before)
{
    static const int8_t last_of[1 << LANES][8] = {FROM_ALL};
    const V from = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)last_of[fine]));
    const V held = v_last(before), inside = _mm256_permutevar8x32_epi32(v, from);
    return f_bits(F_OP(blendv)(f_of_bits(inside), f_of_bits(held), f_of_bits(from)));
}

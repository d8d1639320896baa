/*
 * neon_words_t.h - template: operations that are the same for both word sizes. U_OP(op) is the
 * instruction for unsigned integers of that size, F_OP(op) that for floats; LANE_BITS: a bit for
 * each lane. Casts between vectors change no bits.
 */

#include "kernels/vector/vector_words_ops_t.h"

/* Nothing to do: no NEON operation takes an operand from memory. */
VECTOR V v_loaded(V v)
{
    return v;
}

VECTOR void v_stream(void *p, V v)
{
    v_store(p, v);
}

VECTOR V v_abs(V a)
{
    const V negative = (V)((v_signed_lanes)a < 0);
    return v_sub(a ^ negative, negative);
}

/* Stores lanes from..end-1 where a store of the whole vector would put them. */
VECTOR void v_store_lanes(unsigned char *p, V v, size_t from, size_t end)
{
    U few[LANES];
    v_store(few, v);
    memcpy(p + from * WIDTH, few + from, (end - from) * WIDTH);
}

/* Stores the first n lanes. */
VECTOR void v_store_part(unsigned char *p, V v, size_t from, size_t n)
{
    (void)from;
    v_store_lanes(p, v, 0, n);
}

/* !(a <= b), true for NaN; !(a < b) likewise. */
VECTOR M f_not_le(F a, F b)
{
    return ~F_OP(vcleq)(a, b);
}

VECTOR M f_not_lt(F a, F b)
{
    return ~F_OP(vcltq)(a, b);
}

/* Gives the second operand if one is NaN; vminq would return NaN. */
VECTOR F f_min(F a, F b)
{
    return F_OP(vbslq)(F_OP(vcltq)(a, b), a, b);
}

VECTOR F f_max(F a, F b)
{
    return F_OP(vbslq)(F_OP(vcgtq)(a, b), a, b);
}

/* ---- lanes ---- */

/* The lanes whose bits are set for vector k of a block. */
VECTOR M lanes_at(V bits, unsigned k)
{
    const v_lanes lane = LANE_BITS;
    return U_OP(vtstq)(bits, (V)(lane << LANES * k));
}

/* a - b in these lanes, a elsewhere. */
VECTOR V v_sub_at(V a, V b, uint32_t bits, unsigned k)
{
    return v_sub(a, v_and(b, lanes_at(v_set1(bits), k)));
}

/* b in these lanes, a elsewhere. */
VECTOR V v_choose_at(V a, V b, uint32_t bits, unsigned k)
{
    return U_OP(vbslq)(lanes_at(v_set1(bits), k), b, a);
}

/* Magnitudes to residuals, for vector k of a block. signs: the block's sign word in every lane. */
VECTOR V v_signed(V m, V signs, unsigned k)
{
    const V s = lanes_at(signs, k);
    return v_sub(m ^ s, s);
}

/* The last lane in all lanes. */
VECTOR V v_last(V v)
{
    return U_OP(vdupq_laneq)(v, LANES - 1);
}

/* v_take takes the number of a byte for each of its bytes. */
VECTOR V v_take(V v, V numbers)
{
    return (V)vqtbl1q_u8((uint8x16_t)v, (uint8x16_t)numbers);
}

/* For v_take: the lanes from number `first` on, then those before it. */
VECTOR V v_rotate(size_t first)
{
    static const unsigned char numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                                            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return (V)vld1q_u8(numbers + first * WIDTH);
}

/* Moves lanes up by one; the first lane gets the last one of `before`. */
VECTOR V v_shift_in(V before, V v)
{
    return U_OP(vextq)(before, v, LANES - 1);
}

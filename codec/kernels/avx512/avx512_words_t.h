/*
 * avx512_words_t.h - template: operations that are the same for both word sizes. U_OP(op) is the
 * instruction for integers of that size, F_OP(op) that for floats; U_MASK_OP(op) and F_MASK_OP(op)
 * give a mask.
 */

#include "kernels/vector/vector_words_ops_t.h"

/* Makes the compiler load it once and keep it in a register. */
VECTOR V v_loaded(V v)
{
    __asm__("" : "+v"(v));
    return v;
}

VECTOR void v_stream(void *p, V v)
{
    _mm512_stream_si512(p, v);
}

VECTOR V v_abs(V a)
{
    return U_OP(abs)(a);
}

/* a - b in the lanes whose bits are set for vector k of a block; a elsewhere. */
VECTOR V v_sub_at(V a, V b, uint32_t bits, unsigned k)
{
    return U_OP(mask_sub)(a, (M)(bits >> LANES * k), a, b);
}

VECTOR V v_choose_at(V a, V b, uint32_t bits, unsigned k)
{
    return U_OP(mask_mov)(a, (M)(bits >> LANES * k), b);
}

VECTOR M v_equal(V a, V b)
{
    return U_MASK_OP(cmpeq)(a, b);
}

VECTOR M v_differ(V a, V b)
{
    return U_MASK_OP(cmpneq)(a, b);
}

/* Of the lanes of m, those in which a and b differ. */
VECTOR M m_differ(M m, V a, V b)
{
    return U_MASK_OP(mask_cmpneq)(m, a, b);
}

VECTOR M m_none(void)
{
    return 0;
}

VECTOR M m_or(M a, M b)
{
    return (M)(a | b);
}

VECTOR bool m_any(M m)
{
    return m != 0;
}

VECTOR uint32_t m_bits(M m)
{
    return m;
}

/* Sign and magnitude to two's complement order and back; `flip`: the bits that a sign inverts. */
VECTOR V v_ordered(V u, V flip)
{
    /* u ^ (sign & flip) */
    return U_OP(ternarylogic)(u, U_OP(srai)(u, 8 * WIDTH - 1), flip, 0xF0 ^ (0xCC & 0xAA));
}

/* The lanes of v with these numbers. */
VECTOR V v_take(V v, V numbers)
{
    return U_OP(permutexvar)(numbers, v);
}

/* For v_take: the lanes from number `first` on, then those before it. */
VECTOR V v_rotate(size_t first)
{
    static const U up[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return v_add(v_load(up), v_set1((U)first)); /* only the lowest bits count */
}

/* Stores lanes from..end-1 where a store of the whole vector would put them. */
VECTOR void v_store_lanes(unsigned char *p, V v, size_t from, size_t end)
{
    const uint32_t below = _bzhi_u32(UINT32_MAX >> (32 - LANES), (unsigned)end);
    U_OP(mask_storeu)(p, (M)(below & UINT32_MAX << from), v);
}

/* Stores the first n lanes. `to` is `from` words behind the start of an aligned vector in memory. A
 * store that reaches into the next one would read that line, whatever its mask. */
VECTOR void v_store_part(unsigned char *to, V v, size_t from, size_t n)
{
    v_store_lanes(to - from * WIDTH, v_take(v, v_rotate(LANES - from)), from, from + n);
}

/* !(a <= b), true for NaN; !(a < b) likewise. */
VECTOR M f_not_le(F a, F b)
{
    return F_MASK_OP(cmp)(a, b, _CMP_NLE_UQ);
}

VECTOR M f_not_lt(F a, F b)
{
    return F_MASK_OP(cmp)(a, b, _CMP_NLT_UQ);
}

/* NaN in the lanes of m. */
VECTOR F f_nan_where(M m, F x)
{
    return F_OP(mask_mov)(x, m, f_set1((T)NAN));
}

VECTOR F f_min(F a, F b)
{
    return F_OP(min)(a, b);
}

VECTOR F f_max(F a, F b)
{
    return F_OP(max)(a, b);
}

/* Moves lanes up by one; the first lane gets the last one of `before`. */
VECTOR V v_shift_in(V before, V v)
{
    return U_OP(alignr)(v, before, LANES - 1);
}

/* ---- exceptions ---- */

/* Where x can be quantized: it is within the limit and is not -0. If all steps are finite, the
 * limit keeps the bound (format.md 4.4). */
VECTOR uint32_t f_fine(F x, F limit)
{
    const M m = F_MASK_OP(cmp)(f_abs(x), limit, _CMP_LE_OQ);
    return U_MASK_OP(mask_cmpneq)(m, f_bits(x), v_set1(SIGN_BIT));
}

/* Copies those words of a block whose bits are set to dst, which has room for all. Returns the
 * end. */
VECTOR U *words_compress(U *dst, const unsigned char *x, uint32_t bits)
{
    for (unsigned k = 0; k < VECTORS; k++) {
        const M m = (M)(bits >> k * LANES);
        v_store(dst, U_OP(maskz_compress)(m, _mm512_loadu_si512(x + k * LANES * WIDTH)));
        dst += __builtin_popcount(m);
    }
    return dst;
}

/* Replaces the lanes whose bits are set by words at src. */
VECTOR V v_expand(V v, uint32_t bits, const unsigned char *src)
{
    return U_OP(mask_expandloadu)(v, (M)bits, src);
}

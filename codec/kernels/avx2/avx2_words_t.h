/*
 * avx2_words_t.h - template: operations that are the same for both word sizes. F_OP(op) is the
 * instruction for floats of that size.
 */

#include "kernels/vector/vector_words_ops_t.h"

/* Makes the compiler load it once and keep it in a register. */
VECTOR V v_loaded(V v)
{
    __asm__("" : "+x"(v));
    return v;
}

VECTOR void v_stream(void *p, V v)
{
    _mm256_stream_si256((__m256i *)p, v);
}

VECTOR bool m_any(M m)
{
    return !_mm256_testz_si256(m, m);
}

VECTOR uint32_t m_bits(M m)
{
    return (uint32_t)F_OP(movemask)(F_OP(castsi256)(m));
}

/* Exchanges the halves. */
VECTOR V halves_of(V both)
{
    return _mm256_permute2x128_si256(both, both, 0x01);
}

/* ---- floats ---- */

/* !(a <= b), true for NaN; !(a < b) likewise. */
VECTOR M f_not_le(F a, F b)
{
    return f_bits(F_OP(cmp)(a, b, _CMP_NLE_UQ));
}

VECTOR M f_not_lt(F a, F b)
{
    return f_bits(F_OP(cmp)(a, b, _CMP_NLT_UQ));
}

VECTOR F f_min(F a, F b)
{
    return F_OP(min)(a, b);
}

VECTOR F f_max(F a, F b)
{
    return F_OP(max)(a, b);
}

/* ---- lanes ---- */

/* b in the lanes where `where` has a sign, a elsewhere. */
VECTOR V v_blend(V a, V b, V where)
{
    return f_bits(F_OP(blendv)(f_of_bits(a), f_of_bits(b), f_of_bits(where)));
}

/* Sets the sign in the lanes whose bits are set for vector k of a block. */
VECTOR V v_signs_at(uint32_t bits, unsigned k)
{
#if WIDTH == 4
    const V lane = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
    return _mm256_sllv_epi32(v_set1(bits), v_sub(lane, v_set1(LANES * k)));
#else
    const V lane = _mm256_setr_epi64x(63, 62, 61, 60);
    return _mm256_sllv_epi64(v_set1(bits), v_sub(lane, v_set1(LANES * k)));
#endif
}

/* b in the lanes whose bits are set for vector k of a block, a elsewhere. */
VECTOR V v_choose_at(V a, V b, uint32_t bits, unsigned k)
{
    return v_blend(a, b, v_signs_at(bits, k));
}

/* a - b in these lanes. */
VECTOR V v_sub_at(V a, V b, uint32_t bits, unsigned k)
{
    return v_choose_at(a, v_sub(a, b), bits, k);
}

/* For v_take: the lanes from number `first` on, then those before it. */
VECTOR V v_rotate(size_t first)
{
    static const uint32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
    return v_load((const U *)(const void *)(numbers + first * (WIDTH / 4)));
}

/* v_take takes the number of a 32-bit lane for each of its lanes. */
VECTOR V v_take(V v, V numbers)
{
    return _mm256_permutevar8x32_epi32(v, numbers);
}

/*
 * avx2_words_t.h - template: the operations that are alike for both word sizes. U_OP(op) is the
 * instruction for integers of that size, F_OP(op) that for floats.
 */

VECTOR V v_load(const U *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* In a register, whatever is made of it. */
VECTOR V v_loaded(V v)
{
    __asm__("" : "+x"(v));
    return v;
}

VECTOR void v_store(U *p, V v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}

VECTOR void v_stream(void *p, V v)
{
    _mm256_stream_si256((__m256i *)p, v);
}

/* Address arithmetic on integers: what is fetched need not be of the same array, nor exist. */
VECTOR void v_prefetch(const void *p, size_t ahead)
{
    _mm_prefetch((const char *)((uintptr_t)p + ahead), _MM_HINT_T1);
}

VECTOR V v_add(V a, V b)
{
    return U_OP(add)(a, b);
}

VECTOR V v_sub(V a, V b)
{
    return U_OP(sub)(a, b);
}

VECTOR V v_and(V a, V b)
{
    return _mm256_and_si256(a, b);
}

VECTOR V v_or(V a, V b)
{
    return _mm256_or_si256(a, b);
}

VECTOR M v_equal(V a, V b)
{
    return U_OP(cmpeq)(a, b);
}

VECTOR M v_differ(V a, V b)
{
    return _mm256_xor_si256(v_equal(a, b), _mm256_set1_epi32(-1));
}

/* Those lanes of m in which a and b differ. */
VECTOR M m_differ(M m, V a, V b)
{
    return _mm256_andnot_si256(v_equal(a, b), m);
}

VECTOR M m_none(void)
{
    return _mm256_setzero_si256();
}

VECTOR M m_or(M a, M b)
{
    return v_or(a, b);
}

VECTOR bool m_any(M m)
{
    return !_mm256_testz_si256(m, m);
}

VECTOR uint32_t m_bits(M m)
{
    return (uint32_t)F_OP(movemask)(F_OP(castsi256)(m));
}

/* The halves exchanged. */
VECTOR V halves_of(V both)
{
    return _mm256_permute2x128_si256(both, both, 0x01);
}

/* ---- floats ---- */

VECTOR F f_load(const unsigned char *p)
{
    return F_OP(loadu)((const T *)(const void *)p);
}

VECTOR F f_set1(T x)
{
    return F_OP(set1)(x);
}

VECTOR F f_add(F a, F b)
{
    return F_OP(add)(a, b);
}

VECTOR F f_sub(F a, F b)
{
    return F_OP(sub)(a, b);
}

VECTOR F f_mul(F a, F b)
{
    return F_OP(mul)(a, b);
}

VECTOR F f_abs(F a)
{
    return F_OP(andnot)(f_set1((T)-0.0), a);
}

/* !(a <= b), true for NaN; !(a < b) likewise. */
VECTOR M f_not_le(F a, F b)
{
    return f_bits(F_OP(cmp)(a, b, _CMP_NLE_UQ));
}

VECTOR M f_not_lt(F a, F b)
{
    return f_bits(F_OP(cmp)(a, b, _CMP_NLT_UQ));
}

VECTOR F f_of_bits(V v)
{
    return F_OP(castsi256)(v);
}

/* NaN in these lanes. */
VECTOR F f_nan_where(M m, F x)
{
    return f_of_bits(v_or(m, f_bits(x)));
}

VECTOR F f_min(F a, F b)
{
    return F_OP(min)(a, b);
}

VECTOR F f_max(F a, F b)
{
    return F_OP(max)(a, b);
}

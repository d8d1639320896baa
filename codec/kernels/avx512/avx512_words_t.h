/*
 * avx512_words_t.h - template: the operations that are alike for both word sizes. U_OP(op) is the
 * instruction for integers of that size, F_OP(op) that for floats; U_MASK_OP(op) and
 * F_MASK_OP(op) give a mask.
 */

VECTOR V v_load(const U *p)
{
    return _mm512_loadu_si512(p);
}

/* In a register, whatever is made of it. */
VECTOR V v_loaded(V v)
{
    __asm__("" : "+v"(v));
    return v;
}

VECTOR void v_store(U *p, V v)
{
    _mm512_storeu_si512(p, v);
}

VECTOR void v_stream(void *p, V v)
{
    _mm512_stream_si512(p, v);
}

/* Address arithmetic on integers: what is fetched need not be of the same array, nor exist. */
VECTOR void v_prefetch(const void *p, size_t ahead)
{
    _mm_prefetch((const char *)((uintptr_t)p + ahead), _MM_HINT_T1);
}

VECTOR V v_set1(U u)
{
    return U_OP(set1)((S)u);
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
    return _mm512_and_si512(a, b);
}

VECTOR V v_or(V a, V b)
{
    return _mm512_or_si512(a, b);
}

VECTOR V v_abs(V a)
{
    return U_OP(abs)(a);
}

/* a - b in the lanes whose bits are set, those of vector k of a block; elsewhere a. */
VECTOR V v_sub_at(V a, V b, uint32_t bits, unsigned k)
{
    return U_OP(mask_sub)(a, (M)(bits >> LANES * k), a, b);
}

/* b in the lanes whose bits are set, of which the first is number `from`; elsewhere a. */
VECTOR V v_choose_from(V a, V b, uint32_t bits, unsigned from)
{
    return U_OP(mask_mov)(a, (M)(bits >> from), b);
}

VECTOR V v_choose_at(V a, V b, uint32_t bits, unsigned k)
{
    return v_choose_from(a, b, bits, LANES * k);
}

VECTOR M v_equal(V a, V b)
{
    return U_MASK_OP(cmpeq)(a, b);
}

VECTOR M v_differ(V a, V b)
{
    return U_MASK_OP(cmpneq)(a, b);
}

/* Those lanes of m in which a and b differ. */
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

/* Sign and magnitude to two's complement order and back; `flip`: the bits that a sign turns over.
 */
VECTOR V v_ordered(V u, V flip)
{
    /* u ^ (sign & flip) */
    return U_OP(ternarylogic)(u, U_OP(srai)(u, 8 * WIDTH - 1), flip, 0xF0 ^ (0xCC & 0xAA));
}

/* ---- floats ---- */

VECTOR F f_load(const unsigned char *p)
{
    return F_OP(loadu)(p);
}

/* The first n < LANES of them, and zeros. */
VECTOR V v_load_few(const unsigned char *p, size_t n)
{
    return U_OP(maskz_loadu)((M)_bzhi_u32(UINT32_MAX >> (32 - LANES), (unsigned)n), p);
}

/* Lanes from..end-1, to where they would go with the others. */
VECTOR void v_store_lanes(unsigned char *p, V v, size_t from, size_t end)
{
    const uint32_t below = _bzhi_u32(UINT32_MAX >> (32 - LANES), (unsigned)end);
    U_OP(mask_storeu)(p, (M)(below & UINT32_MAX << from), v);
}

/* What v_take takes: for each lane, the number of one. */
VECTOR V v_indices(V lanes)
{
    return lanes;
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
    return F_OP(abs)(a);
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

VECTOR F f_of_bits(V v)
{
    return F_OP(castsi512)(v);
}

/* NaN in these lanes. */
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

/* ---- what cannot be quantized ---- */

/* The lanes one up, and in the first the last of `before`. */
VECTOR V v_shift_in(V before, V v)
{
    return U_OP(alignr)(v, before, LANES - 1);
}

/* ---- exceptions ---- */

/* Where x can be quantized: within the limit, which keeps the bound where all steps are finite
 * (format.md 4.4), and not -0. */
VECTOR uint32_t f_fine(F x, F limit)
{
    const M m = F_MASK_OP(cmp)(f_abs(x), limit, _CMP_LE_OQ);
    return U_MASK_OP(mask_cmpneq)(m, f_bits(x), v_set1(SIGN_BIT));
}

/* The words of a block whose bits are set to dst, which has room for all. Returns the end. */
VECTOR U *words_compress(U *dst, const unsigned char *x, uint32_t bits)
{
    for (unsigned k = 0; k < VECTORS; k++) {
        const M m = (M)(bits >> k * LANES);
        v_store(dst, U_OP(maskz_compress)(m, _mm512_loadu_si512(x + k * LANES * WIDTH)));
        dst += __builtin_popcount(m);
    }
    return dst;
}

/* The lanes whose bits are set from words at src. */
VECTOR V v_expand(V v, uint32_t bits, const unsigned char *src)
{
    return U_OP(mask_expandloadu)(v, (M)bits, src);
}

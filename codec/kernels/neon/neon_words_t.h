/*
 * neon_words_t.h - template: the operations that are alike for both word sizes. U_OP(op) is the
 * instruction for unsigned integers of that size, S_OP(op) that for signed ones, F_OP(op) that
 * for floats. Casts between vectors change no bits.
 */

VECTOR V v_load(const U *p)
{
    return (V)vld1q_u8((const unsigned char *)p);
}

/* Instructions take no memory. */
VECTOR V v_loaded(V v)
{
    return v;
}

VECTOR void v_store(U *p, V v)
{
    vst1q_u8((unsigned char *)p, (uint8x16_t)v);
}

VECTOR void v_stream(void *p, V v)
{
    vst1q_u8(p, (uint8x16_t)v);
}

VECTOR V v_set1(U u)
{
    return U_OP(vdupq_n)(u);
}

VECTOR V v_add(V a, V b)
{
    return U_OP(vaddq)(a, b);
}

VECTOR V v_sub(V a, V b)
{
    return U_OP(vsubq)(a, b);
}

VECTOR V v_and(V a, V b)
{
    return U_OP(vandq)(a, b);
}

VECTOR V v_or(V a, V b)
{
    return U_OP(vorrq)(a, b);
}

VECTOR V v_abs(V a)
{
    return (V)S_OP(vabsq)((SIGNED_V)a);
}

VECTOR M v_equal(V a, V b)
{
    return U_OP(vceqq)(a, b);
}

VECTOR M v_differ(V a, V b)
{
    return ~v_equal(a, b);
}

/* Those lanes of m in which a and b differ. */
VECTOR M m_differ(M m, V a, V b)
{
    return m & ~v_equal(a, b);
}

VECTOR M m_none(void)
{
    return v_set1(0);
}

VECTOR M m_or(M a, M b)
{
    return v_or(a, b);
}

/* Sign and magnitude to two's complement order and back; `flip`: the bits that a sign turns over.
 */
VECTOR V v_ordered(V u, V flip)
{
    V negative = (V)S_OP(vshrq_n)((SIGNED_V)u, 8 * WIDTH - 1);
    return U_OP(veorq)(u, v_and(negative, flip));
}

/* ---- floats ---- */

VECTOR F f_load(const unsigned char *p)
{
    return (F)vld1q_u8(p);
}

/* The first n < LANES of them, and zeros. */
VECTOR V v_load_few(const unsigned char *p, size_t n)
{
    U few[LANES] = {0};
    memcpy(few, p, n * WIDTH);
    return v_load(few);
}

/* Lanes from..end-1, to where they would go with the others. */
VECTOR void v_store_lanes(unsigned char *p, V v, size_t from, size_t end)
{
    U few[LANES];
    v_store(few, v);
    memcpy(p + from * WIDTH, few + from, (end - from) * WIDTH);
}

/* The first n lanes. */
VECTOR void v_store_part(unsigned char *p, V v, size_t from, size_t n)
{
    (void)from;
    v_store_lanes(p, v, 0, n);
}

VECTOR F f_set1(T x)
{
    return F_OP(vdupq_n)(x);
}

VECTOR F f_add(F a, F b)
{
    return F_OP(vaddq)(a, b);
}

VECTOR F f_sub(F a, F b)
{
    return F_OP(vsubq)(a, b);
}

VECTOR F f_mul(F a, F b)
{
    return F_OP(vmulq)(a, b);
}

VECTOR F f_abs(F a)
{
    return F_OP(vabsq)(a);
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

VECTOR V f_bits(F x)
{
    return (V)x;
}

VECTOR F f_of_bits(V v)
{
    return (F)v;
}

/* NaN in these lanes. */
VECTOR F f_nan_where(M m, F x)
{
    return f_of_bits(v_or(m, f_bits(x)));
}

/* The second if one is NaN, which vminq would return. */
VECTOR F f_min(F a, F b)
{
    return F_OP(vbslq)(F_OP(vcltq)(a, b), a, b);
}

VECTOR F f_max(F a, F b)
{
    return F_OP(vbslq)(F_OP(vcgtq)(a, b), a, b);
}

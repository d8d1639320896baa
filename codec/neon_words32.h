/* neon_words32.h - the operations that vector_*_t.h is written in, for 4-byte words and NEON. */

typedef uint32x4_t V;
typedef V M; /* all ones in a lane, or none */
typedef float32x4_t F;
enum { LANES = 4, VECTORS = ZMPI_BLOCK / LANES };

VECTOR V v_load(const U *p)
{
    return vreinterpretq_u32_u8(vld1q_u8((const unsigned char *)p));
}

VECTOR void v_store(U *p, V v)
{
    vst1q_u8((unsigned char *)p, vreinterpretq_u8_u32(v));
}

VECTOR void v_stream(void *p, V v)
{
    vst1q_u8(p, vreinterpretq_u8_u32(v));
}

VECTOR V v_set1(U u)
{
    return vdupq_n_u32(u);
}

VECTOR V v_add(V a, V b)
{
    return vaddq_u32(a, b);
}

VECTOR V v_sub(V a, V b)
{
    return vsubq_u32(a, b);
}

VECTOR V v_and(V a, V b)
{
    return vandq_u32(a, b);
}

VECTOR V v_or(V a, V b)
{
    return vorrq_u32(a, b);
}

/* a | (b ^ c) */
VECTOR V v_or_xor(V a, V b, V c)
{
    return v_or(a, veorq_u32(b, c));
}

VECTOR V v_abs(V a)
{
    return vreinterpretq_u32_s32(vabsq_s32(vreinterpretq_s32_u32(a)));
}

/* a - b in the lanes whose bits are set, those of vector k of a block; elsewhere a. */
VECTOR V v_sub_at(V a, V b, uint32_t bits, unsigned k)
{
    const V lane = {1, 2, 4, 8};
    V there = vtstq_u32(v_set1(bits), vshlq_u32(lane, vdupq_n_s32((int)(LANES * k))));
    return v_sub(a, v_and(b, there));
}

VECTOR M v_equal(V a, V b)
{
    return vceqq_u32(a, b);
}

VECTOR bool m_any(M m)
{
    return vmaxvq_u32(m) != 0;
}

VECTOR M m_none(void)
{
    return v_set1(0);
}

VECTOR M m_or(M a, M b)
{
    return v_or(a, b);
}

VECTOR uint32_t m_bits(M m)
{
    const int32x4_t lane = {0, 1, 2, 3};
    return vaddvq_u32(vshlq_u32(vshrq_n_u32(m, 31), lane));
}

/* Sign and magnitude to two's complement order and back; `flip`: the bits that a sign turns over.
 */
VECTOR V v_ordered(V u, V flip)
{
    V negative = vreinterpretq_u32_s32(vshrq_n_s32(vreinterpretq_s32_u32(u), 31));
    return veorq_u32(u, v_and(negative, flip));
}

/* Length of the longest of all lanes. */
VECTOR unsigned v_length(V v)
{
    return bit_length(vmaxvq_u32(v));
}

/* ---- floats ---- */

VECTOR F f_load(const unsigned char *p)
{
    return vreinterpretq_f32_u8(vld1q_u8(p));
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

VECTOR F f_set1(T x)
{
    return vdupq_n_f32(x);
}

VECTOR F f_add(F a, F b)
{
    return vaddq_f32(a, b);
}

VECTOR F f_sub(F a, F b)
{
    return vsubq_f32(a, b);
}

VECTOR F f_mul(F a, F b)
{
    return vmulq_f32(a, b);
}

VECTOR F f_abs(F a)
{
    return vabsq_f32(a);
}

/* !(a <= b), true for NaN; !(a < b) likewise. */
VECTOR M f_not_le(F a, F b)
{
    return vmvnq_u32(vcleq_f32(a, b));
}

VECTOR M f_not_lt(F a, F b)
{
    return vmvnq_u32(vcltq_f32(a, b));
}

VECTOR V f_bits(F x)
{
    return vreinterpretq_u32_f32(x);
}

VECTOR F f_of_bits(V v)
{
    return vreinterpretq_f32_u32(v);
}

/* NaN in these lanes. */
VECTOR F f_nan_where(M m, F x)
{
    return f_of_bits(v_or(m, f_bits(x)));
}

/* Signed integers to floats, to nearest even. */
VECTOR F f_of_integers(V q)
{
    return vcvtq_f32_s32(vreinterpretq_s32_u32(q));
}

/* The second if one is NaN, which vminq_f32 would return. */
VECTOR F f_min(F a, F b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

VECTOR F f_max(F a, F b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

/* ---- what cannot be quantized ---- */

/* The lanes that held such a word. */
struct doubt {
    M lanes;
};

VECTOR struct doubt doubt_none(void)
{
    return (struct doubt){m_none()};
}

VECTOR void doubt_add(struct doubt *d, F x, V v, F error, F limit, F bound)
{
    (void)v;
    M wide = f_not_le(f_abs(x), limit), wrong = f_not_lt(f_abs(error), bound);
    /* x - x' is -0 for x = -0, and for nothing else. */
    M minus_zero = v_equal(f_bits(error), v_set1(SIGN_BIT));
    d->lanes = m_or(m_or(d->lanes, wide), m_or(wrong, minus_zero));
}

VECTOR bool doubt_any(const struct doubt *d, F limit, F bound)
{
    (void)limit, (void)bound;
    return m_any(d->lanes);
}

/* ---- blocks ---- */

VECTOR uint32_t block_signs(const V r[VECTORS])
{
    return neon_signs(r);
}

/* Planes of magnitudes m of that length; eight at a time, so up to seven more are written. */
VECTOR void block_store(const V m[VECTORS], unsigned length, unsigned char *dst)
{
    neon_store_planes(m, 0, dst);
    for (unsigned g = 8; __builtin_expect(g < length, 0); g += 8)
        neon_store_planes(m, g, dst + 4 * (size_t)g);
}

/* Magnitudes from planes; reads 32 bytes for each eight planes begun. */
VECTOR void block_load(const unsigned char *src, unsigned length, V m[VECTORS])
{
    uint8x16_t bytes[2];
    neon_load_planes(src, length < 8 ? length : 8, bytes);
    neon_spread(bytes[0], m);
    neon_spread(bytes[1], m + 4);
    for (unsigned g = 8; __builtin_expect(g < length, 0); g += 8) {
        const int32x4_t count = vdupq_n_s32((int)g);
        V d[VECTORS];
        unsigned n = length - g;
        neon_load_planes(src + 4 * (size_t)g, n < 8 ? n : 8, bytes);
        neon_spread(bytes[0], d);
        neon_spread(bytes[1], d + 4);
        for (unsigned i = 0; i < VECTORS; i++)
            m[i] = v_or(m[i], vshlq_u32(d[i], count));
    }
}

/* Vector k of a block: magnitudes to residuals. signs: the block's sign word in every lane. */
VECTOR V v_signed(V m, V signs, unsigned k)
{
    const V lane = {1, 2, 4, 8};
    V s = vtstq_u32(signs, vshlq_u32(lane, vdupq_n_s32((int)(LANES * k))));
    return v_sub(veorq_u32(m, s), s);
}

/* Running sums of the lanes. */
VECTOR V v_scan(V v)
{
    v = v_add(v, vextq_u32(v_set1(0), v, 3));
    return v_add(v, vextq_u32(v_set1(0), v, 2));
}

/* The last lane in all lanes. */
VECTOR V v_last(V v)
{
    return vdupq_laneq_u32(v, 3);
}

/* The lanes that `take` counts, over those of a and then b. */
VECTOR V v_pick(V a, V b, V take)
{
    const uint8x16x2_t from = {{vreinterpretq_u8_u32(a), vreinterpretq_u8_u32(b)}};
    const V bytes = vmlaq_u32(v_set1(0x03020100), take, v_set1(0x04040404));
    return vreinterpretq_u32_u8(vqtbl2q_u8(from, vreinterpretq_u8_u32(bytes)));
}

/* The lanes one up, and in the first the last of `before`. */
VECTOR V v_shift_in(V before, V v)
{
    return vextq_u32(before, v, 3);
}

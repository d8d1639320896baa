/* neon_words64.h - the operations that vector_*_t.h is written in, for 8-byte words and NEON. */

typedef uint64x2_t V;
typedef float64x2_t F;
enum { LANES = 2, VECTORS = ZMPI_BLOCK / LANES };

VECTOR V v_load(const U *p)
{
    return vreinterpretq_u64_u8(vld1q_u8((const unsigned char *)p));
}

VECTOR void v_store(U *p, V v)
{
    vst1q_u8((unsigned char *)p, vreinterpretq_u8_u64(v));
}

VECTOR void v_stream(void *p, V v)
{
    vst1q_u8(p, vreinterpretq_u8_u64(v));
}

VECTOR V v_set1(U u)
{
    return vdupq_n_u64(u);
}

VECTOR V v_add(V a, V b)
{
    return vaddq_u64(a, b);
}

VECTOR V v_sub(V a, V b)
{
    return vsubq_u64(a, b);
}

VECTOR V v_and(V a, V b)
{
    return vandq_u64(a, b);
}

VECTOR V v_or(V a, V b)
{
    return vorrq_u64(a, b);
}

VECTOR V v_abs(V a)
{
    return vreinterpretq_u64_s64(vabsq_s64(vreinterpretq_s64_u64(a)));
}

VECTOR V v_equal(V a, V b)
{
    return vceqq_u64(a, b);
}

VECTOR U or_lanes(V v)
{
    return vgetq_lane_u64(v, 0) | vgetq_lane_u64(v, 1);
}

VECTOR bool v_any(V v)
{
    return or_lanes(v) != 0;
}

/* Bit j of the lanes' top bits. */
VECTOR uint32_t v_mask(V v)
{
    return (uint32_t)(vgetq_lane_u64(v, 0) >> 63 | vgetq_lane_u64(v, 1) >> 63 << 1);
}

/* All ones in the lanes of vector k of a block whose bit is set. */
VECTOR V v_lanes(uint32_t bits, unsigned k)
{
    const V lane = {1, 2};
    return vtstq_u64(v_set1(bits >> (LANES * k)), lane);
}

/* Sign and magnitude to two's complement order and back. */
VECTOR V v_ordered(V u)
{
    V negative = vreinterpretq_u64_s64(vshrq_n_s64(vreinterpretq_s64_u64(u), 63));
    return veorq_u64(u, v_and(negative, v_set1(SIGN_BIT - 1)));
}

/* out[i] = or of all lanes of a[i]. */
VECTOR void v_or_lanes(const V a[8], U out[8])
{
    for (unsigned i = 0; i < 8; i += 2)
        v_store(out + i, v_or(vuzp1q_u64(a[i], a[i + 1]), vuzp2q_u64(a[i], a[i + 1])));
}

/* Length of the longest of all lanes. */
VECTOR unsigned v_length(V v)
{
    return bit_length(or_lanes(v));
}

/* ---- floats ---- */

VECTOR F f_load(const unsigned char *p)
{
    return vreinterpretq_f64_u8(vld1q_u8(p));
}

VECTOR F f_set1(T x)
{
    return vdupq_n_f64(x);
}

VECTOR F f_add(F a, F b)
{
    return vaddq_f64(a, b);
}

VECTOR F f_sub(F a, F b)
{
    return vsubq_f64(a, b);
}

VECTOR F f_mul(F a, F b)
{
    return vmulq_f64(a, b);
}

VECTOR F f_abs(F a)
{
    return vabsq_f64(a);
}

/* !(a <= b), true for NaN; !(a < b) likewise. */
VECTOR V f_not_le(F a, F b)
{
    return veorq_u64(vcleq_f64(a, b), v_set1(UINT64_MAX));
}

VECTOR V f_not_lt(F a, F b)
{
    return veorq_u64(vcltq_f64(a, b), v_set1(UINT64_MAX));
}

VECTOR V f_bits(F x)
{
    return vreinterpretq_u64_f64(x);
}

VECTOR F f_of_bits(V v)
{
    return vreinterpretq_f64_u64(v);
}

/* Signed integers to floats, to nearest even. */
VECTOR F f_of_integers(V q)
{
    return vcvtq_f64_s64(vreinterpretq_s64_u64(q));
}

/* The second if one is NaN, which vminq_f64 would return. */
VECTOR F f_min(F a, F b)
{
    return vbslq_f64(vcltq_f64(a, b), a, b);
}

VECTOR F f_max(F a, F b)
{
    return vbslq_f64(vcgtq_f64(a, b), a, b);
}

/* ---- blocks ---- */

/* The low or the high halves of the 32 words of a block. */
VECTOR void low_halves(const V v[VECTORS], uint32x4_t d[8])
{
    for (unsigned i = 0; i < 8; i++)
        d[i] = vuzp1q_u32(vreinterpretq_u32_u64(v[2 * i]), vreinterpretq_u32_u64(v[2 * i + 1]));
}

VECTOR void high_halves(const V v[VECTORS], uint32x4_t d[8])
{
    for (unsigned i = 0; i < 8; i++)
        d[i] = vuzp2q_u32(vreinterpretq_u32_u64(v[2 * i]), vreinterpretq_u32_u64(v[2 * i + 1]));
}

VECTOR uint32_t block_signs(const V r[VECTORS])
{
    uint32x4_t d[8];
    high_halves(r, d);
    return neon_signs(d);
}

/* Planes of magnitudes m of that length; eight at a time, so up to seven more are written. */
VECTOR void block_store(const V m[VECTORS], unsigned length, unsigned char *dst)
{
    uint32x4_t d[8];
    low_halves(m, d);
    neon_store_planes(d, 0, dst);
    for (unsigned g = 8; __builtin_expect(g < length, 0); g += 8) {
        if (g == 32)
            high_halves(m, d);
        neon_store_planes(d, g % 32, dst + 4 * (size_t)g);
    }
}

/* 32 bytes to words, shifted to the left. */
VECTOR void spread_bytes(const uint8x16_t bytes[2], unsigned shift, V d[VECTORS])
{
    const int64x2_t count = vdupq_n_s64((int)shift);
    uint32x4_t w[8];
    neon_spread(bytes[0], w);
    neon_spread(bytes[1], w + 4);
    for (unsigned i = 0; i < 8; i++) {
        d[2 * i] = vshlq_u64(vmovl_u32(vget_low_u32(w[i])), count);
        d[2 * i + 1] = vshlq_u64(vmovl_high_u32(w[i]), count);
    }
}

/* Magnitudes from planes; reads 32 bytes for each eight planes begun. */
VECTOR void block_load(const unsigned char *src, unsigned length, V m[VECTORS])
{
    uint8x16_t bytes[2];
    neon_load_planes(src, length < 8 ? length : 8, bytes);
    spread_bytes(bytes, 0, m);
    for (unsigned g = 8; __builtin_expect(g < length, 0); g += 8) {
        V d[VECTORS];
        unsigned n = length - g;
        neon_load_planes(src + 4 * (size_t)g, n < 8 ? n : 8, bytes);
        spread_bytes(bytes, g, d);
        for (unsigned i = 0; i < VECTORS; i++)
            m[i] = v_or(m[i], d[i]);
    }
}

/* Vector k of a block: magnitudes to residuals. signs: the block's sign word in every lane. */
VECTOR V v_signed(V m, V signs, unsigned k)
{
    const V lane = {1, 2};
    V s = vtstq_u64(signs, vshlq_u64(lane, vdupq_n_s64((int)(LANES * k))));
    return v_sub(veorq_u64(m, s), s);
}

/* Running sums of the lanes. */
VECTOR V v_scan(V v)
{
    return v_add(v, vextq_u64(v_set1(0), v, 1));
}

/* The last lane in all lanes. */
VECTOR V v_last(V v)
{
    return vdupq_laneq_u64(v, 1);
}

/* The lanes one up, and in the first the last of `before`. */
VECTOR V v_shift_in(V before, V v)
{
    return vextq_u64(before, v, 1);
}

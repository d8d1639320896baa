/* neon_words64.h - the operations that vector_*_t.h is written in, for 8-byte words and NEON. */

typedef uint64x2_t V;
typedef V M; /* all ones in a lane, or none */
typedef float64x2_t F;
enum { LANES = 2, VECTORS = ZMPI_BLOCK / LANES };

#define LANE_BITS                                                                                  \
    {                                                                                              \
        1, 2                                                                                       \
    }
#define U_OP(op) op##_u64
#define F_OP(op) op##_f64

VECTOR U or_lanes(V v)
{
    return vgetq_lane_u64(v, 0) | vgetq_lane_u64(v, 1);
}

VECTOR bool m_any(M m)
{
    return or_lanes(m) != 0;
}

#include "kernels/neon/neon_words_t.h"

VECTOR uint32_t m_bits(M m)
{
    return (uint32_t)(vgetq_lane_u64(m, 0) >> 63 | vgetq_lane_u64(m, 1) >> 63 << 1);
}

/* Length of the longest lane. */
VECTOR unsigned v_length(V v)
{
    return bit_length(or_lanes(v));
}

/* Signed integers to floats, to nearest even. */
VECTOR F f_of_integers(V q)
{
    return vcvtq_f64_s64(vreinterpretq_s64_u64(q));
}

/* ---- blocks ---- */

/* The low or the high 32 bits of the 32 words of a block. */
VECTOR void low_dwords(const V v[VECTORS], uint32x4_t d[8])
{
    for (unsigned i = 0; i < 8; i++)
        d[i] = vuzp1q_u32(vreinterpretq_u32_u64(v[2 * i]), vreinterpretq_u32_u64(v[2 * i + 1]));
}

VECTOR void high_dwords(const V v[VECTORS], uint32x4_t d[8])
{
    for (unsigned i = 0; i < 8; i++)
        d[i] = vuzp2q_u32(vreinterpretq_u32_u64(v[2 * i]), vreinterpretq_u32_u64(v[2 * i + 1]));
}

VECTOR uint32_t block_signs(const V r[VECTORS])
{
    uint32x4_t d[8];
    high_dwords(r, d);
    return neon_signs(d);
}

/* Planes of magnitudes m of that length, eight at a time: it may write up to seven more. */
VECTOR void block_store(const V m[VECTORS], unsigned length, unsigned char *dst)
{
    uint32x4_t d[8];
    low_dwords(m, d);
    neon_store_planes(d, 0, dst);
    for (unsigned g = 8; __builtin_expect(g < length, 0); g += 8) {
        if (g == 32)
            high_dwords(m, d);
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

/* Magnitudes from planes. Reads 32 bytes for each eight planes or part of them. */
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

/* Running sums of the lanes. */
VECTOR V v_scan(V v)
{
    return v_add(v, vextq_u64(v_set1(0), v, 1));
}

#include "kernels/vector/vector_order_t.h"

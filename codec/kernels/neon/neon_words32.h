/* neon_words32.h - the operations that vector_*_t.h is written in, for 4-byte words and NEON. */

typedef uint32x4_t V;
typedef V M; /* all ones in a lane, or none */
typedef float32x4_t F;
enum { LANES = 4, VECTORS = ZMPI_BLOCK / LANES };

#define LANE_BITS                                                                                  \
    {                                                                                              \
        1, 2, 4, 8                                                                                 \
    }
#define U_OP(op) op##_u32
#define F_OP(op) op##_f32

VECTOR bool m_any(M m)
{
    return vmaxvq_u32(m) != 0;
}

#include "kernels/neon/neon_words_t.h"

VECTOR uint32_t m_bits(M m)
{
    const int32x4_t lane = {0, 1, 2, 3};
    return vaddvq_u32(vshlq_u32(vshrq_n_u32(m, 31), lane));
}

/* Length of the longest lane. */
VECTOR unsigned v_length(V v)
{
    return bit_length(vmaxvq_u32(v));
}

/* Signed integers to floats, to nearest even. */
VECTOR F f_of_integers(V q)
{
    return vcvtq_f32_s32(vreinterpretq_s32_u32(q));
}

/* ---- blocks ---- */

VECTOR uint32_t block_signs(const V r[VECTORS])
{
    return neon_signs(r);
}

/* Planes of magnitudes m of that length, eight at a time: it may write up to seven more. */
VECTOR void block_store(const V m[VECTORS], unsigned length, unsigned char *dst)
{
    neon_store_planes(m, 0, dst);
    for (unsigned g = 8; __builtin_expect(g < length, 0); g += 8)
        neon_store_planes(m, g, dst + 4 * (size_t)g);
}

/* Magnitudes from planes. Reads 32 bytes for each eight planes or part of them. */
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

/* Running sums of the lanes. */
VECTOR V v_scan(V v)
{
    v = v_add(v, vextq_u32(v_set1(0), v, 3));
    return v_add(v, vextq_u32(v_set1(0), v, 2));
}

#include "kernels/vector/vector_order_t.h"

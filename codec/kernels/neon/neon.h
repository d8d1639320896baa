/*
 * neon.h - what the NEON kernels of both word sizes share: attributes, and blocks of 32 words to
 * bit planes and back.
 *
 * Every AArch64 machine has these instructions. Loads and stores take bytes, so that addresses need
 * no alignment.
 */
#ifndef ZMPI_NEON_H
#define ZMPI_NEON_H

#include <arm_neon.h>
#include <stdint.h>

#define TARGET
#define KERNEL TARGET static __attribute__((noinline))
#define VECTOR TARGET __attribute__((always_inline)) static inline

/* Transpose the 8x8 bit matrices in both words of 64 bits: bit j of byte i becomes bit i of byte j.
 */
VECTOR uint64x2_t neon_transpose(uint64x2_t m)
{
    const uint64x2_t c7 = vdupq_n_u64(0x00AA00AA00AA00AA);
    const uint64x2_t c14 = vdupq_n_u64(0x0000CCCC0000CCCC);
    const uint64x2_t c28 = vdupq_n_u64(0x00000000F0F0F0F0);
    uint64x2_t t = vandq_u64(veorq_u64(m, vshrq_n_u64(m, 7)), c7);
    m = veorq_u64(m, veorq_u64(t, vshlq_n_u64(t, 7)));
    t = vandq_u64(veorq_u64(m, vshrq_n_u64(m, 14)), c14);
    m = veorq_u64(m, veorq_u64(t, vshlq_n_u64(t, 14)));
    t = vandq_u64(veorq_u64(m, vshrq_n_u64(m, 28)), c28);
    return veorq_u64(m, veorq_u64(t, vshlq_n_u64(t, 28)));
}

VECTOR uint8x16_t neon_transpose_bytes(uint8x16_t bytes)
{
    return vreinterpretq_u8_u64(neon_transpose(vreinterpretq_u64_u8(bytes)));
}

/* The low or the high bytes of 16 words, in order. */
VECTOR uint8x16_t neon_low_bytes(const uint32x4_t d[4])
{
    uint16x8_t a = vuzp1q_u16(vreinterpretq_u16_u32(d[0]), vreinterpretq_u16_u32(d[1]));
    uint16x8_t b = vuzp1q_u16(vreinterpretq_u16_u32(d[2]), vreinterpretq_u16_u32(d[3]));
    return vuzp1q_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b));
}

VECTOR uint8x16_t neon_high_bytes(const uint32x4_t d[4])
{
    uint16x8_t a = vuzp2q_u16(vreinterpretq_u16_u32(d[0]), vreinterpretq_u16_u32(d[1]));
    uint16x8_t b = vuzp2q_u16(vreinterpretq_u16_u32(d[2]), vreinterpretq_u16_u32(d[3]));
    return vuzp2q_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b));
}

/* The top bits of 32 words. */
VECTOR uint32_t neon_signs(const uint32x4_t d[8])
{
    const uint8x16_t bit = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    uint8x16_t low = vcltzq_s8(vreinterpretq_s8_u8(neon_high_bytes(d)));
    uint8x16_t high = vcltzq_s8(vreinterpretq_s8_u8(neon_high_bytes(d + 4)));
    uint8x16_t p = vpaddq_u8(vandq_u8(low, bit), vandq_u8(high, bit));
    p = vpaddq_u8(p, p);
    p = vpaddq_u8(p, p);
    return vgetq_lane_u32(vreinterpretq_u32_u8(p), 0);
}

/* Bits g to g + 7 of 32 words to eight planes of 32 bits. */
VECTOR void neon_store_planes(const uint32x4_t d[8], unsigned g, unsigned char *dst)
{
    const int32x4_t count = vdupq_n_s32(-(int)g);
    uint32x4_t e[8];
    for (unsigned i = 0; i < 8; i++)
        e[i] = vshlq_u32(d[i], count);
    /* After this, byte k of word e is plane k of elements 8 e to 8 e + 7. */
    uint8x16_t low = neon_transpose_bytes(neon_low_bytes(e));
    uint8x16_t high = neon_transpose_bytes(neon_low_bytes(e + 4));
    uint8x16_t even = vzip1q_u8(low, high), odd = vzip2q_u8(low, high);
    vst1q_u8(dst, vzip1q_u8(even, odd));
    vst1q_u8(dst + 16, vzip2q_u8(even, odd));
}

/* The inverse, of the first n <= 8 planes, to 32 bytes in order. Reads 32 bytes at src and ignores
 * those behind the planes. */
VECTOR void neon_load_planes(const unsigned char *src, unsigned n, uint8x16_t bytes[2])
{
    static const unsigned char present[64] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                              0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                              0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                              0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    const unsigned char *mask = present + 32 - 4 * n;
    uint8x16_t low = vandq_u8(vld1q_u8(src), vld1q_u8(mask));
    uint8x16_t high = vandq_u8(vld1q_u8(src + 16), vld1q_u8(mask + 16));
    uint8x16_t even = vuzp1q_u8(low, high), odd = vuzp2q_u8(low, high);
    bytes[0] = neon_transpose_bytes(vuzp1q_u8(even, odd));
    bytes[1] = neon_transpose_bytes(vuzp2q_u8(even, odd));
}

/* Bytes to words. */
VECTOR void neon_spread(uint8x16_t bytes, uint32x4_t d[4])
{
    uint16x8_t low = vmovl_u8(vget_low_u8(bytes)), high = vmovl_high_u8(bytes);
    d[0] = vmovl_u16(vget_low_u16(low));
    d[1] = vmovl_high_u16(low);
    d[2] = vmovl_u16(vget_low_u16(high));
    d[3] = vmovl_high_u16(high);
}

#endif

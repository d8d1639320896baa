/*
 * avx512_encode16_t.h - template: operations on integers of 16 bits, a block in a vector, for words
 * of 4 bytes; their residuals to planes. After struct packer.
 */

typedef __m512i H;
enum { HALVES = ZMPI_BLOCK };

#define X        H
#define X_(name) h_##name
#define W        uint16_t
#include "kernels/vector/vector_ops_t.h"

/* An integer in all lanes of 32 bits. */
VECTOR H h_base(int32_t base)
{
    return _mm512_set1_epi32(base);
}

/* The nearest even integers less base, in order, with saturation. NaN and numbers beyond 31 bits
 * saturate, too. */
VECTOR H h_nearest(const F x[], H base)
{
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    __m512i v[2];
    for (unsigned i = 0; i < 2; i++)
#if WIDTH == 4
        v[i] = _mm512_sub_epi32(_mm512_cvtps_epi32(x[i]), base);
#else
        v[i] = _mm512_sub_epi32(
            _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtpd_epi32(x[2 * i])),
                               _mm512_cvtpd_epi32(x[2 * i + 1]), 1),
            base);
#endif
    return _mm512_permutexvar_epi64(order, _mm512_packs_epi32(v[0], v[1]));
}

/* Moves lanes up by one; the first lane gets the last one of `before`. */
VECTOR H h_shift_in(H before, H h)
{
#define FOUR(i) (i), (i) + 1, (i) + 2, (i) + 3
    static const uint16_t below[HALVES] = {
        2 * HALVES - 1, FOUR(0),  FOUR(4), FOUR(8), FOUR(12), FOUR(16),
        FOUR(20),       FOUR(24), 28,      29,      30};
#undef FOUR
    return _mm512_permutex2var_epi16(h, h_load(below), before);
}

/* The lanes of h with these numbers. */
VECTOR H h_take(H h, H numbers)
{
    return _mm512_permutexvar_epi16(numbers, h);
}

/* a - b in the lanes whose bits are set for vector k of a block; a elsewhere. */
VECTOR H h_sub_at(H a, H b, uint32_t bits, unsigned k)
{
    (void)k;
    return _mm512_mask_sub_epi16(a, bits, a, b);
}

/* Lane i in all lanes. */
VECTOR H h_lane(H h, size_t i)
{
    return h_take(h, h_set1((U)i));
}

VECTOR H h_least(H a, H b)
{
    return _mm512_min_epi16(a, b);
}

VECTOR H h_most(H a, H b)
{
    return _mm512_max_epi16(a, b);
}

/* The least lane. */
VECTOR int h_least_lane(H h)
{
    const __m128i sign = _mm_set1_epi16(INT16_MIN);
    const __m256i half =
        _mm256_min_epi16(_mm512_castsi512_si256(h), _mm512_extracti64x4_epi64(h, 1));
    const __m128i least =
        _mm_min_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return (int16_t)(_mm_extract_epi16(_mm_minpos_epu16(_mm_xor_si128(least, sign)), 0) ^ 0x8000);
}

VECTOR V v_least(V a, V b)
{
    return U_OP(min)(a, b);
}

/* Was a word -0? */
VECTOR bool least_is_zero(V least)
{
    return m_any(v_equal(least, v_set1(SIGN_BIT)));
}

/* The lesser of both in the lanes that are `fine`, `least` elsewhere. */
VECTOR V v_least_where(M fine, V least, V word)
{
    return U_OP(mask_min)(least, fine, least, word);
}

/* The integer before the first word, whose integer is the base. */
VECTOR H last_before(T base)
{
    (void)base;
    return h_set1(0);
}

/* Gives each lane whose bit is not set the value of the last lane below it whose bit is set, or the
 * last lane of `before`. */
VECTOR H h_fill_forward(H q, uint32_t fine, H before)
{
    /* The highest set bit up to this lane is that lane's number. Without one the index is all ones,
     * which selects the last lane of the other vector. Lanes are in the order that pack
     * instructions leave. */
#define BELOW(i)  (UINT32_MAX >> (31 - (i)))
#define BELOW4(i) BELOW(i), BELOW((i) + 1), BELOW((i) + 2), BELOW((i) + 3)
    static const uint32_t below[2][16] = {{BELOW4(0), BELOW4(8), BELOW4(16), BELOW4(24)},
                                          {BELOW4(4), BELOW4(12), BELOW4(20), BELOW4(28)}};
#undef BELOW4
#undef BELOW
    const __m512i bits = _mm512_set1_epi32((int)fine);
    __m512i above[2];
    for (unsigned i = 0; i < 2; i++)
        above[i] = _mm512_lzcnt_epi32(_mm512_and_si512(bits, _mm512_loadu_si512(below[i])));
    const H from = _mm512_xor_si512(_mm512_packs_epi32(above[0], above[1]), h_set1(31));
    return _mm512_permutex2var_epi16(q, from, before);
}

/* ---- to planes ---- */

/* Sixteen planes of words in order, the last one first: the signs. */
#ifdef ZMPI_VBMI
VECTOR V half_bytes(V words)
{
#define HALF8(at, half)                                                                            \
    (at) + 14 + (half), (at) + 12 + (half), (at) + 10 + (half), (at) + 8 + (half),                 \
        (at) + 6 + (half), (at) + 4 + (half), (at) + 2 + (half), (at) + (half)
    static const unsigned char split[64] = {HALF8(0, 0), HALF8(16, 0), HALF8(32, 0), HALF8(48, 0),
                                            HALF8(0, 1), HALF8(16, 1), HALF8(32, 1), HALF8(48, 1)};
#undef HALF8
    return _mm512_permutexvar_epi8(table(split), words);
}

VECTOR void half_planes(V w[8])
{
    EACH(8) w[i] = half_bytes(w[i]);
    EACH(8) w[i] = signs_and_planes_of(w[i]);
}
#else
VECTOR void half_planes(V w[8])
{
    EACH(8) w[i] = planes_of(w[i]);
    EACH(8) w[i] = _mm512_alignr_epi32(w[i], w[i], 15);
}
#endif

/* Packs eight blocks, or the first n, of residuals below 2^15 in magnitude. (-2^15, which counts as
 * 16 planes, occurs only in chunks that turn out not to fit 16 bits.) */
VECTOR void pack16_of(struct packer *p, H w[8], unsigned n)
{
    V magnitude[8];
    EACH(8) magnitude[i] = _mm512_abs_epi16(w[i]);
    const struct eight e = eight_of(_bzhi_u64(eight_lengths(magnitude), 8 * n));
    EACH(8) w[i] = signs_to(magnitude[i], w[i]);
    half_planes(w);
    /* Most groups take at most five lines: a fixed number avoids a loop whose end cannot be
     * predicted. */
    prefetch_output(p->dst, p->dst + 5 * 64, OUTPUT_AHEAD_16);
    pack_eight(p, e, w, n);
}

VECTOR void half_pack_together(struct packer *p, H w[8])
{
    pack16_of(p, w, 8);
}

/* For fewer than eight blocks. */
KERNEL void pack16(struct packer *p, const uint16_t *r, size_t blocks)
{
    for (size_t b = 0, n; b < blocks; b += n) {
        H w[8];
        n = blocks - b < 8 ? blocks - b : 8;
        EACH(8) w[i] = h_load(r + (b + (i < n ? i : 0)) * ZMPI_BLOCK);
        pack16_of(p, w, (unsigned)n);
    }
}

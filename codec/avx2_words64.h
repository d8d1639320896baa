/* avx2_words64.h - the operations that vector_*_t.h is written in, for 8-byte words and AVX2. */

typedef __m256i V;
typedef V M; /* all ones in a lane, or none */
typedef __m256d F;
enum { LANES = 4, VECTORS = ZMPI_BLOCK / LANES };

#define U_OP(op) _mm256_##op##_epi64
#define F_OP(op) _mm256_##op##_pd

VECTOR V v_set1(U u)
{
    return _mm256_set1_epi64x((long long)u);
}

VECTOR V f_bits(F x)
{
    return _mm256_castpd_si256(x);
}

#include "avx2_words_t.h"

/* The sign decides between a and -a: there is no 64-bit absolute value. */
VECTOR V v_abs(V a)
{
    F negative = _mm256_castsi256_pd(v_sub(_mm256_setzero_si256(), a));
    F same = _mm256_castsi256_pd(a);
    return _mm256_castpd_si256(_mm256_blendv_pd(same, negative, same));
}

/* a - b in the lanes whose bits are set, those of vector k of a block; elsewhere a. */
VECTOR V v_sub_at(V a, V b, uint32_t bits, unsigned k)
{
    const V lane = _mm256_setr_epi64x(63, 62, 61, 60);
    const V up = _mm256_sllv_epi64(v_set1(bits), v_sub(lane, v_set1(LANES * k)));
    return f_bits(_mm256_blendv_pd(f_of_bits(a), f_of_bits(v_sub(a, b)), f_of_bits(up)));
}

/* Sign and magnitude to two's complement order and back; `flip`: the bits that a sign turns over.
 */
VECTOR V v_ordered(V u, V flip)
{
    V negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), u);
    return _mm256_xor_si256(u, v_and(negative, flip));
}

/* Length of the longest of all lanes. */
VECTOR unsigned v_length(V v)
{
    __m128i h = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return avx2_bit_length((uint64_t)_mm_cvtsi128_si64(_mm_or_si128(h, _mm_unpackhi_epi64(h, h))));
}

/* The first n < LANES of them, and zeros. */
VECTOR V v_load_few(const unsigned char *p, size_t n)
{
    static const U present[2 * LANES] = {(U)-1, (U)-1, (U)-1, (U)-1};
    return _mm256_maskload_epi64((const long long *)(const void *)p, v_load(present + LANES - n));
}

/* Signed integers to floats, to nearest even. */
/*
 * There is no such instruction: the halves are put into the significands of 2^84 + ... and 2^52,
 * where they stand for themselves. The first two sums are exact; the last one rounds, once.
 */
VECTOR F f_of_integers(V q)
{
    V high = _mm256_srai_epi32(q, 16);
    high = _mm256_blend_epi16(high, _mm256_setzero_si256(), 0x33);
    high = v_add(high, _mm256_castpd_si256(f_set1(0x3p67)));
    V low = _mm256_blend_epi16(q, _mm256_castpd_si256(f_set1(0x1p52)), 0x88);
    F f = f_sub(_mm256_castsi256_pd(high), f_set1(0x3p67 + 0x1p52));
    return f_add(f, _mm256_castsi256_pd(low));
}

#include "vector_doubt_t.h"

/* ---- blocks ---- */

/* The low or high halves of the 32 words of a block, two words of four in each 16-byte half of d[]:
 * in_order() puts right what is made of them. */
VECTOR void low_halves(const V v[VECTORS], __m256i d[4])
{
    for (unsigned i = 0; i < 4; i++)
        d[i] = _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(v[2 * i]),
                                                     _mm256_castsi256_ps(v[2 * i + 1]), 0x88));
}

VECTOR void high_halves(const V v[VECTORS], __m256i d[4])
{
    for (unsigned i = 0; i < 4; i++)
        d[i] = _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(v[2 * i]),
                                                     _mm256_castsi256_ps(v[2 * i + 1]), 0xDD));
}

VECTOR __m256i in_order(__m256i bytes)
{
    const __m256i pairs = _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15, 0,
                                           1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15);
    return _mm256_shuffle_epi8(_mm256_permute4x64_epi64(bytes, 0xD8), pairs);
}

VECTOR uint32_t block_signs(const V r[VECTORS])
{
    __m256i d[4];
    high_halves(r, d);
    __m256i p = _mm256_packs_epi16(_mm256_packs_epi32(d[0], d[1]), _mm256_packs_epi32(d[2], d[3]));
    return (uint32_t)_mm256_movemask_epi8(in_order(p));
}

/* Bits g to g + 7 of the 32-bit words in d. */
VECTOR __m256i bytes_at(const __m256i d[4], unsigned g)
{
    const __m256i byte = _mm256_set1_epi32(0xFF);
    const __m128i count = _mm_cvtsi32_si128((int)g);
    __m256i e[4];
    for (unsigned i = 0; i < 4; i++)
        e[i] = _mm256_and_si256(_mm256_srl_epi32(d[i], count), byte);
    return in_order(
        _mm256_packus_epi16(_mm256_packus_epi32(e[0], e[1]), _mm256_packus_epi32(e[2], e[3])));
}

/* Planes of magnitudes m of that length; eight at a time, so up to seven more are written. */
VECTOR void block_store(const V m[VECTORS], unsigned length, unsigned char *dst)
{
    __m256i d[4];
    low_halves(m, d);
    avx2_store_planes(bytes_at(d, 0), dst);
    for (unsigned g = 8; __builtin_expect(g < length, 0); g += 8) {
        if (g == 32)
            high_halves(m, d);
        avx2_store_planes(bytes_at(d, g % 32), dst + 4 * (size_t)g);
    }
}

VECTOR void spread_bytes(__m256i bytes, V d[VECTORS])
{
    __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
    d[0] = _mm256_cvtepu8_epi64(low);
    d[1] = _mm256_cvtepu8_epi64(_mm_srli_si128(low, 4));
    d[2] = _mm256_cvtepu8_epi64(_mm_srli_si128(low, 8));
    d[3] = _mm256_cvtepu8_epi64(_mm_srli_si128(low, 12));
    d[4] = _mm256_cvtepu8_epi64(high);
    d[5] = _mm256_cvtepu8_epi64(_mm_srli_si128(high, 4));
    d[6] = _mm256_cvtepu8_epi64(_mm_srli_si128(high, 8));
    d[7] = _mm256_cvtepu8_epi64(_mm_srli_si128(high, 12));
}

/* Magnitudes from planes; reads 32 bytes for each eight planes begun. */
VECTOR void block_load(const unsigned char *src, unsigned length, V m[VECTORS])
{
    spread_bytes(avx2_load_planes(src, length < 8 ? length : 8), m);
    for (unsigned g = 8; __builtin_expect(g < length, 0); g += 8) {
        __m128i count = _mm_cvtsi32_si128((int)g);
        V d[VECTORS];
        unsigned n = length - g;
        spread_bytes(avx2_load_planes(src + 4 * (size_t)g, n < 8 ? n : 8), d);
        for (unsigned i = 0; i < VECTORS; i++)
            m[i] = v_or(m[i], _mm256_sll_epi64(d[i], count));
    }
}

/* Vector k of a block: magnitudes to residuals. signs: the block's sign word in every lane. */
VECTOR V v_signed(V m, V signs, unsigned k)
{
    const V lane = _mm256_slli_epi64(_mm256_setr_epi64x(1, 2, 4, 8), (int)(LANES * k));
    V s = v_equal(v_and(signs, lane), lane);
    return v_sub(_mm256_xor_si256(m, s), s);
}

/* Running sums of the lanes. */
VECTOR V v_scan(V v)
{
    v = v_add(v, _mm256_slli_si256(v, 8));
    V low = _mm256_permute4x64_epi64(v, 0x55); /* lane 1 */
    return v_add(v, _mm256_blend_epi32(_mm256_setzero_si256(), low, 0xF0));
}

/* The last lane in all lanes. */
VECTOR V v_last(V v)
{
    return _mm256_permute4x64_epi64(v, 0xFF);
}

#include "vector_order_t.h"

/* What v_take takes: for each lane, the number of one of v. Made those of its halves. */
VECTOR V v_indices(V lanes)
{
    const V twice = _mm256_slli_epi64(lanes, 1);
    return v_add(v_or(twice, _mm256_slli_epi64(twice, 32)), v_set1((U)1 << 32));
}

VECTOR V v_take(V v, V indices)
{
    return _mm256_permutevar8x32_epi32(v, indices);
}

/* v_take: the lanes from number `first` on, then those before it. */
VECTOR V v_turn(size_t first)
{
    static const U lanes[] = {0, 1, 2, 3, 0, 1, 2, 3};
    return v_indices(v_load(lanes + first));
}

#include "avx2_store_t.h"

/* The lanes one up, and in the first the last of `before`. */
VECTOR V v_shift_in(V before, V v)
{
    return _mm256_alignr_epi8(v, _mm256_permute2x128_si256(before, v, 0x21), 8);
}

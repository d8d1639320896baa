/*
 * avx512.h - what the AVX-512 kernels of both word sizes share: attributes, and blocks of 32 words
 * of 16 bits to bit planes and back.
 *
 * Compiled twice: for AVX-512 F, CD, BW, DQ and VL; and, with ZMPI_VBMI, also for VBMI and GFNI,
 * where one instruction moves bytes anywhere and another one transposes 8x8 bits. FMA is off,
 * because it rounds differently: see -ffp-contract in CMakeLists.txt.
 */
#ifndef ZMPI_AVX512_H
#define ZMPI_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#include "base/bytes.h"

#define AVX512 "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,bmi,bmi2,lzcnt,popcnt,prfchw"
#ifdef ZMPI_VBMI
#define TARGET __attribute__((target(AVX512 ",avx512vbmi,gfni")))
#else
#define TARGET __attribute__((target(AVX512)))
#endif

/* There are operations on integers of 16 bits: vector_encode_t.h, vector_decode_t.h. */
#define INTEGERS16
/* Masked operations cost no more than others: vector_integers16_t.h, vector_predict_t.h. */
#define LANE_MASKS
/* See vector_packer_t.h. */
#define PACKS_EIGHT

#define KERNEL TARGET static __attribute__((noinline))
#define VECTOR TARGET __attribute__((always_inline)) static inline

/* Independent vectors, so that their instructions overlap. */
#define EACH(n) for (unsigned i = 0; i < (n); i++)

VECTOR __m512i table(const unsigned char bytes[64])
{
    return _mm512_loadu_si512(bytes);
}

/* The first n <= 16 planes at src, then zeros. Does not read beyond these planes. Only the low byte
 * of n counts. */
VECTOR __m512i load_planes(const unsigned char *src, unsigned n)
{
    return _mm512_maskz_loadu_epi32((__mmask16)_bzhi_u32(0xFFFF, n), src);
}

/* Puts the signs of words, none of which is -0x8000, into bit 15 of their magnitudes. */
VECTOR __m512i signs_to(__m512i magnitudes, __m512i words)
{
    return _mm512_ternarylogic_epi32(magnitudes, words, _mm512_set1_epi16(-0x8000),
                                     0xF0 | (0xCC & 0xAA));
}

#ifdef ZMPI_VBMI

/* Transposes the 8x8 bit matrices in words of 64 bits, whose bytes are the rows, last row first:
 * bit j of byte 7 - i becomes bit i of byte j. */
VECTOR __m512i transpose(__m512i m)
{
    return _mm512_gf2p8affine_epi64_epi8(_mm512_set1_epi64((long long)0x8040201008040201), m, 0);
}

/* Moves byte k of the transposed low and high bytes of words 8 g to 8 g + 7 to planes k and k +
 * 8. */
#define PLANE(k)                                                                                   \
    (k) / 8 * 32 + (k) % 8, (k) / 8 * 32 + 8 + (k) % 8, (k) / 8 * 32 + 16 + (k) % 8,               \
        (k) / 8 * 32 + 24 + (k) % 8

/* Takes words that are split into low and high bytes. */
VECTOR __m512i planes_of(__m512i bytes)
{
    static const unsigned char order[64] = {
        PLANE(0), PLANE(1), PLANE(2),  PLANE(3),  PLANE(4),  PLANE(5),  PLANE(6),  PLANE(7),
        PLANE(8), PLANE(9), PLANE(10), PLANE(11), PLANE(12), PLANE(13), PLANE(14), PLANE(15)};
    return _mm512_permutexvar_epi8(table(order), transpose(bytes));
}

/* planes_of with the last plane first: the signs. */
VECTOR __m512i signs_and_planes_of(__m512i bytes)
{
    static const unsigned char order[64] = {
        PLANE(15), PLANE(0), PLANE(1), PLANE(2),  PLANE(3),  PLANE(4),  PLANE(5),  PLANE(6),
        PLANE(7),  PLANE(8), PLANE(9), PLANE(10), PLANE(11), PLANE(12), PLANE(13), PLANE(14)};
    return _mm512_permutexvar_epi8(table(order), transpose(bytes));
}

/* The bytes of eight planes for words 8 g to 8 g + 7, last plane first. */
#define COLUMN(plane, g)                                                                           \
    4 * (plane) + 28 + (g), 4 * (plane) + 24 + (g), 4 * (plane) + 20 + (g),                        \
        4 * (plane) + 16 + (g), 4 * (plane) + 12 + (g), 4 * (plane) + 8 + (g),                     \
        4 * (plane) + 4 + (g), 4 * (plane) + (g)
#define PAIR(e)  (e), (e) + 32
#define PAIRS(e) PAIR(e), PAIR((e) + 1), PAIR((e) + 2), PAIR((e) + 3)

/* The 32 words of each vector, in order. */
VECTOR void words_of(__m512i planes[], unsigned n)
{
    static const unsigned char columns[64] = {COLUMN(0, 0), COLUMN(0, 1), COLUMN(0, 2),
                                              COLUMN(0, 3), COLUMN(8, 0), COLUMN(8, 1),
                                              COLUMN(8, 2), COLUMN(8, 3)};
    static const unsigned char pairs[64] = {PAIRS(0),  PAIRS(4),  PAIRS(8),  PAIRS(12),
                                            PAIRS(16), PAIRS(20), PAIRS(24), PAIRS(28)};
    EACH(n) planes[i] = _mm512_permutexvar_epi8(table(columns), planes[i]);
    EACH(n) planes[i] = transpose(planes[i]);
    EACH(n) planes[i] = _mm512_permutexvar_epi8(table(pairs), planes[i]);
}

#else

/* Transpose the 8x8 bit matrices in the words of 64 bits: bit j of byte i becomes bit i of byte
 * j. */
VECTOR __m512i transpose(__m512i m)
{
    enum { SELECTED_XOR = (0xF0 ^ 0xCC) & 0xAA, XOR = 0xF0 ^ 0xCC ^ 0xAA };
    const __m512i c7 = _mm512_set1_epi64(0x00AA00AA00AA00AA);
    const __m512i c14 = _mm512_set1_epi64(0x0000CCCC0000CCCC);
    const __m512i c28 = _mm512_set1_epi64(0x00000000F0F0F0F0);
    __m512i t = _mm512_ternarylogic_epi64(m, _mm512_srli_epi64(m, 7), c7, SELECTED_XOR);
    m = _mm512_ternarylogic_epi64(m, t, _mm512_slli_epi64(t, 7), XOR);
    t = _mm512_ternarylogic_epi64(m, _mm512_srli_epi64(m, 14), c14, SELECTED_XOR);
    m = _mm512_ternarylogic_epi64(m, t, _mm512_slli_epi64(t, 14), XOR);
    t = _mm512_ternarylogic_epi64(m, _mm512_srli_epi64(m, 28), c28, SELECTED_XOR);
    return _mm512_ternarylogic_epi64(m, t, _mm512_slli_epi64(t, 28), XOR);
}

/* Moves word j (32 bits) of each quarter l to word l of quarter j. */
VECTOR __m512i transpose_quarters(__m512i v)
{
    return _mm512_permutexvar_epi32(
        _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), v);
}

/* In each quarter, moves byte j of word l (32 bits) to byte l of word j. */
VECTOR __m512i transpose_bytes(__m512i v)
{
    return _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2,
                                                                       6, 10, 14, 3, 7, 11, 15)));
}

/* Takes 32 words in order. */
VECTOR __m512i planes_of(__m512i words)
{
    const __m512i halves =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
    __m512i t = transpose(_mm512_shuffle_epi8(words, halves));
    return transpose_bytes(transpose_quarters(t));
}

VECTOR void words_of(__m512i planes[], unsigned n)
{
    const __m512i pairs =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15));
    EACH(n) planes[i] = transpose_quarters(transpose_bytes(planes[i]));
    EACH(n) planes[i] = transpose(planes[i]);
    EACH(n) planes[i] = _mm512_shuffle_epi8(planes[i], pairs);
}

#endif

VECTOR __m512i words_of_one(__m512i planes)
{
    words_of(&planes, 1);
    return planes;
}

/* Length of a block from its last 16 planes. */
VECTOR unsigned planes_length(__m512i planes)
{
    return 32 - _lzcnt_u32(_mm512_test_epi32_mask(planes, planes));
}

/* Residuals of at most 15 bits; adds their signs. */
VECTOR __m512i signed_words(__m512i words, uint32_t signs)
{
    return _mm512_mask_sub_epi16(words, signs, _mm512_setzero_si512(), words);
}

/*
 * Running sums over the four quarters of a vector, from sums inside each quarter and their last
 * ones in all lanes of `last`. Like all tables here, without masks in k registers: compilers load
 * such masks again each time, which takes the one port that moves bytes.
 */
#define SCAN_QUARTERS(add, inside, last)                                                           \
    const __m512i zero = _mm512_setzero_si512();                                                   \
    const __m512i one_up = _mm512_alignr_epi64(last, zero, 6);                                     \
    const __m512i two = add(last, one_up);                                                         \
    return add(add(inside, one_up), _mm512_alignr_epi64(two, zero, 4))

VECTOR __m512i scan_quarters16(__m512i inside, __m512i last)
{
    SCAN_QUARTERS(_mm512_add_epi16, inside, last);
}

VECTOR __m512i scan_quarters32(__m512i inside, __m512i last)
{
    SCAN_QUARTERS(_mm512_add_epi32, inside, last);
}

VECTOR __m512i scan_quarters64(__m512i inside, __m512i last)
{
    SCAN_QUARTERS(_mm512_add_epi64, inside, last);
}

#define ZERO2 0x80, 0x80
#define ZERO4 ZERO2, ZERO2
#define ZERO8 ZERO4, ZERO4
#define FOUR_TIMES(...)                                                                            \
    {                                                                                              \
        __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__                                         \
    }

/* Running sums of the 32 words (16 bits) in each of n vectors, all of them below 2^10 in
 * magnitude. */
VECTOR void scan_words(__m512i w[], unsigned n)
{
    static const unsigned char pairs[64] = FOUR_TIMES(ZERO4, 2, 3, 2, 3, ZERO4, 10, 11, 10, 11);
    static const unsigned char fours[64] = FOUR_TIMES(ZERO8, 6, 7, 6, 7, 6, 7, 6, 7);
    static const unsigned char last[64] =
        FOUR_TIMES(14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15);
    EACH(n) w[i] = _mm512_add_epi16(w[i], _mm512_slli_epi32(w[i], 16));
    EACH(n) w[i] = _mm512_add_epi16(w[i], _mm512_shuffle_epi8(w[i], table(pairs)));
    EACH(n) w[i] = _mm512_add_epi16(w[i], _mm512_shuffle_epi8(w[i], table(fours)));
    EACH(n) w[i] = scan_quarters16(w[i], _mm512_shuffle_epi8(w[i], table(last)));
}

/* A block of at most 15 planes to signed words of 16 bits. */
VECTOR __m512i few_planes(const unsigned char *src, unsigned length)
{
    return signed_words(words_of_one(load_planes(src + 4, length)), zmpi_load32(src));
}

#endif

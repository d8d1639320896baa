/*
 * avx512_eight.h - eight blocks at a time: their lengths, and where each begins. Counting the
 * planes of one block after another would take longer than making the planes.
 */
#ifndef ZMPI_AVX512_EIGHT_H
#define ZMPI_AVX512_EIGHT_H

#include "kernels/avx512/avx512.h"

/* A byte eight times. */
#define EIGHT_TIMES(byte) ((byte)*UINT64_C(0x0101010101010101))

/* One byte for each block: lengths below 0x80; and where each block ends, in units of 4 bytes from
 * the first one's beginning. */
struct eight {
    uint64_t lengths, ends;
};

VECTOR struct eight eight_of(uint64_t lengths)
{
    const uint64_t sizes = lengths + ((lengths + EIGHT_TIMES(0x7F)) >> 7 & EIGHT_TIMES(1));
    return (struct eight){lengths, sizes * EIGHT_TIMES(1)};
}

/* Bytes from the first block's beginning to that of block i. */
VECTOR size_t eight_place(struct eight e, unsigned i)
{
    return 4 * (e.ends << 8 >> 8 * i & 0xFF);
}

VECTOR size_t eight_bytes(struct eight e)
{
    return 4 * (size_t)(e.ends >> 56);
}

/* Lengths of eight blocks from their magnitudes. */
VECTOR uint64_t eight_lengths(const __m512i magnitudes[8])
{
    __m512i two[4], four[2];
    EACH(4)
    two[i] = _mm512_or_si512(_mm512_unpacklo_epi16(magnitudes[2 * i], magnitudes[2 * i + 1]),
                             _mm512_unpackhi_epi16(magnitudes[2 * i], magnitudes[2 * i + 1]));
    EACH(2)
    four[i] = _mm512_or_si512(_mm512_unpacklo_epi32(two[2 * i], two[2 * i + 1]),
                              _mm512_unpackhi_epi32(two[2 * i], two[2 * i + 1]));
    const __m512i all = _mm512_or_si512(_mm512_unpacklo_epi64(four[0], four[1]),
                                        _mm512_unpackhi_epi64(four[0], four[1]));
    const __m256i half =
        _mm256_or_si256(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    const __m128i each =
        _mm_or_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    /* The upper eight of these may be anything. */
    const __m512i words = _mm512_cvtepu16_epi32(_mm256_castsi128_si256(each));
    const __m512i length = _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_lzcnt_epi32(words));
    return (uint64_t)_mm_cvtsi128_si64(_mm512_cvtepi32_epi8(length));
}

/* Stores the lengths of eight blocks, or of the first n. */
VECTOR void eight_store(unsigned char *to, uint64_t lengths, unsigned n)
{
    if (n == 8)
        zmpi_store64(to, lengths);
    else
        _mm512_mask_storeu_epi8(to, _bzhi_u64(0xFF, n), _mm512_set1_epi64((long long)lengths));
}

/* All lengths ORed. */
VECTOR unsigned eight_any(uint64_t lengths)
{
    lengths |= lengths >> 32;
    lengths |= lengths >> 16;
    return (unsigned)(lengths | lengths >> 8) & 0xFF;
}

#endif

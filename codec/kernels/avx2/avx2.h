/*
 * avx2.h - what the AVX2 kernels of both word sizes share: attributes, and blocks of 32 bytes to
 * bit planes and back.
 *
 * Each function names its instruction set, so that the rest of the library runs on any x86-64. FMA
 * is off, because it rounds differently: see -ffp-contract in CMakeLists.txt.
 */
#ifndef ZMPI_AVX2_H
#define ZMPI_AVX2_H

#include <immintrin.h>
#include <stdint.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt,prfchw")))
/* There are operations on integers of 16 bits: vector_encode_t.h, vector_decode_t.h. */
#define INTEGERS16

#define KERNEL TARGET static __attribute__((noinline))
#define VECTOR TARGET __attribute__((always_inline)) static inline

/* bit_length without the branch for zero. */
VECTOR unsigned avx2_bit_length(uint64_t m)
{
    return 64 - (unsigned)_lzcnt_u64(m);
}

/*
 * The order of bytes that pack instructions make of four vectors of eight words: byte i of dword m
 * is of word 8 m + i in the lower half and of word 8 m + 4 + i in the upper one. Comments call
 * these deinterleaved bytes. They become eight planes of 32 bits, and planes become such bytes
 * again. Only one step crosses the halves: the last step of an 8x8 transposition exchanges dwords
 * of a 64-bit word, which lie in the two halves here, four planes in each.
 */

/* Exchanges the upper nibbles of the lower half with the lower nibbles of the upper half. */
VECTOR __m256i avx2_exchange_nibbles(__m256i m)
{
    const __m256i stay = _mm256_setr_epi64x(0x0F0F0F0F0F0F0F0F, 0x0F0F0F0F0F0F0F0F,
                                            -0x0F0F0F0F0F0F0F10, -0x0F0F0F0F0F0F0F10);
    const __m256i over =
        _mm256_permute2x128_si256(_mm256_slli_epi64(m, 4), _mm256_srli_epi64(m, 4), 0x21);
    return _mm256_or_si256(_mm256_and_si256(stay, m), _mm256_andnot_si256(stay, over));
}

/* Transpose the 4x4 bit matrices of nibbles in the dwords: bit j of nibble i becomes bit i of
 * nibble j, of lower and upper nibbles. */
VECTOR __m256i avx2_transpose_nibbles(__m256i m)
{
    const __m256i c7 = _mm256_set1_epi32(0x00AA00AA), c14 = _mm256_set1_epi32(0x0000CCCC);
    __m256i t = _mm256_and_si256(_mm256_xor_si256(m, _mm256_srli_epi64(m, 7)), c7);
    m = _mm256_xor_si256(m, _mm256_xor_si256(t, _mm256_slli_epi64(t, 7)));
    t = _mm256_and_si256(_mm256_xor_si256(m, _mm256_srli_epi64(m, 14)), c14);
    return _mm256_xor_si256(m, _mm256_xor_si256(t, _mm256_slli_epi64(t, 14)));
}

/* Transpose the 4x4 bytes of each half. */
VECTOR __m256i avx2_transpose_bytes(__m256i m)
{
    return _mm256_shuffle_epi8(m, _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11,
                                                   15, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7,
                                                   11, 15));
}

/* Deinterleaved bytes to planes. */
VECTOR __m256i avx2_planes_of(__m256i bytes)
{
    return avx2_transpose_bytes(avx2_transpose_nibbles(avx2_exchange_nibbles(bytes)));
}

/* And back. */
VECTOR __m256i avx2_bytes_of(__m256i planes)
{
    return avx2_exchange_nibbles(avx2_transpose_nibbles(avx2_transpose_bytes(planes)));
}

/* The first n <= 8 planes at src, then zeros. Reads 32 bytes. */
VECTOR __m256i avx2_first_planes(const unsigned char *src, unsigned n)
{
    static const uint32_t present[16] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
                                         UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    const __m256i mask = _mm256_loadu_si256((const __m256i *)(const void *)(present + 8 - n));
    return _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(const void *)src), mask);
}

#endif

/* avx2_words64.h - the operations that vector_*_t.h is written in, for 8-byte words and AVX2. */

typedef __m256i V;
typedef V M; /* all ones in a lane, or none */
typedef __m256d F;
enum { LANES = 4, VECTORS = ZMPI_BLOCK / LANES };

#define F_OP(op) _mm256_##op##_pd

#include "kernels/avx2/avx2_words_t.h"

/* The sign decides between a and -a: there is no 64-bit absolute value. */
VECTOR V v_abs(V a)
{
    F negative = _mm256_castsi256_pd(v_sub(_mm256_setzero_si256(), a));
    F same = _mm256_castsi256_pd(a);
    return _mm256_castpd_si256(_mm256_blendv_pd(same, negative, same));
}

/* Length of the longest lane. */
VECTOR unsigned v_length(V v)
{
    __m128i h = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return avx2_bit_length((uint64_t)_mm_cvtsi128_si64(_mm_or_si128(h, _mm_unpackhi_epi64(h, h))));
}

/*
 * Signed integers to floats, to nearest even. AVX2 has no instruction for that. The halves go into
 * the significands of 2^84 + ... and 2^52, where their bits have their own values. The first two
 * sums are exact; the last one rounds, once.
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

/* Running sums of the lanes. */
VECTOR V v_scan(V v)
{
    v = v_add(v, _mm256_slli_si256(v, 8));
    V low = _mm256_permute2x128_si256(v, v, 0x08);
    return v_add(v, _mm256_unpackhi_epi64(low, low));
}

/* The last lane in all lanes. */
VECTOR V v_last(V v)
{
    V high = _mm256_permute2x128_si256(v, v, 0x11);
    return _mm256_unpackhi_epi64(high, high);
}

#include "kernels/vector/vector_order_t.h"

#include "kernels/avx2/avx2_store_t.h"

/* Moves lanes up by one; the first lane gets the last one of `before`. */
VECTOR V v_shift_in(V before, V v)
{
    return _mm256_alignr_epi8(v, _mm256_permute2x128_si256(before, v, 0x21), 8);
}

/* avx2_words32.h - the operations that vector_*_t.h is written in, for 4-byte words and AVX2. */

typedef __m256i V;
typedef V M; /* all ones in a lane, or none */
typedef __m256 F;
enum { LANES = 8, VECTORS = ZMPI_BLOCK / LANES };

#define F_OP(op) _mm256_##op##_ps

#include "kernels/avx2/avx2_words_t.h"

VECTOR V v_abs(V a)
{
    return _mm256_abs_epi32(a);
}

/* Length of the longest lane. */
VECTOR unsigned v_length(V v)
{
    __m128i h = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    uint64_t u = (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(h, _mm_unpackhi_epi64(h, h)));
    return avx2_bit_length((uint32_t)(u | u >> 32));
}

/* Signed integers to floats, to nearest even. */
VECTOR F f_of_integers(V q)
{
    return _mm256_cvtepi32_ps(q);
}

/* Running sums of the lanes. */
VECTOR V v_scan(V v)
{
    v = v_add(v, _mm256_slli_si256(v, 4));
    v = v_add(v, _mm256_slli_si256(v, 8));
    V low = _mm256_shuffle_epi32(_mm256_permute2x128_si256(v, v, 0x08), 0xFF);
    return v_add(v, low);
}

/* The last lane in all lanes. */
VECTOR V v_last(V v)
{
    return _mm256_shuffle_epi32(_mm256_permute2x128_si256(v, v, 0x11), 0xFF);
}

#include "kernels/vector/vector_order_t.h"

#include "kernels/avx2/avx2_store_t.h"

/* Moves lanes up by one; the first lane gets the last one of `before`. */
VECTOR V v_shift_in(V before, V v)
{
    return _mm256_alignr_epi8(v, _mm256_permute2x128_si256(before, v, 0x21), 12);
}

/* avx2_words32.h - the operations that vector_*_t.h is written in, for 4-byte words and AVX2. */

typedef __m256i V;
typedef V M; /* all ones in a lane, or none */
typedef __m256 F;
enum { LANES = 8, VECTORS = ZMPI_BLOCK / LANES };

#define U_OP(op) _mm256_##op##_epi32
#define F_OP(op) _mm256_##op##_ps

VECTOR V v_set1(U u)
{
    return _mm256_set1_epi32((int)u);
}

VECTOR V f_bits(F x)
{
    return _mm256_castps_si256(x);
}

#include "kernels/avx2/avx2_words_t.h"

VECTOR V v_abs(V a)
{
    return _mm256_abs_epi32(a);
}

/* b in the lanes whose bits are set, of which the first is number `from`; elsewhere a. */
VECTOR V v_choose_from(V a, V b, uint32_t bits, unsigned from)
{
    const V lane = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
    const V up = _mm256_sllv_epi32(v_set1(bits), v_sub(lane, v_set1(from)));
    return f_bits(_mm256_blendv_ps(f_of_bits(a), f_of_bits(b), f_of_bits(up)));
}

/* a - b in these lanes. */
VECTOR V v_sub_from(V a, V b, uint32_t bits, unsigned from)
{
    return v_choose_from(a, v_sub(a, b), bits, from);
}

/* The bits are those of a block, the lanes of its vector k. */
VECTOR V v_sub_at(V a, V b, uint32_t bits, unsigned k)
{
    return v_sub_from(a, b, bits, LANES * k);
}

VECTOR V v_choose_at(V a, V b, uint32_t bits, unsigned k)
{
    return v_choose_from(a, b, bits, LANES * k);
}

/* Sign and magnitude to two's complement order and back; `flip`: the bits that a sign turns over.
 */
VECTOR V v_ordered(V u, V flip)
{
    V negative = _mm256_srai_epi32(u, 31);
    return _mm256_xor_si256(u, v_and(negative, flip));
}

/* Length of the longest of all lanes. */
VECTOR unsigned v_length(V v)
{
    __m128i h = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    uint64_t u = (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(h, _mm_unpackhi_epi64(h, h)));
    return avx2_bit_length((uint32_t)(u | u >> 32));
}

/* The first n < LANES of them, and zeros. */
VECTOR V v_load_few(const unsigned char *p, size_t n)
{
    static const U present[2 * LANES] = {(U)-1, (U)-1, (U)-1, (U)-1, (U)-1, (U)-1, (U)-1, (U)-1};
    return _mm256_maskload_epi32((const int *)(const void *)p, v_load(present + LANES - n));
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

/* What v_take takes: for each lane, the number of one of v. */
VECTOR V v_indices(V lanes)
{
    return lanes;
}

VECTOR V v_take(V v, V indices)
{
    return _mm256_permutevar8x32_epi32(v, indices);
}

/* v_take: the lanes from number `first` on, then those before it. */
VECTOR V v_turn(size_t first)
{
    static const U lanes[] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
    return v_indices(v_load(lanes + first));
}

#include "kernels/avx2/avx2_store_t.h"

/* The lanes one up, and in the first the last of `before`. */
VECTOR V v_shift_in(V before, V v)
{
    return _mm256_alignr_epi8(v, _mm256_permute2x128_si256(before, v, 0x21), 12);
}

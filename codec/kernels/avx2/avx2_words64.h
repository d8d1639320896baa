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

#include "kernels/avx2/avx2_words_t.h"

/* The sign decides between a and -a: there is no 64-bit absolute value. */
VECTOR V v_abs(V a)
{
    F negative = _mm256_castsi256_pd(v_sub(_mm256_setzero_si256(), a));
    F same = _mm256_castsi256_pd(a);
    return _mm256_castpd_si256(_mm256_blendv_pd(same, negative, same));
}

/* b in the lanes whose bits are set, of which the first is number `from`; elsewhere a. */
VECTOR V v_choose_from(V a, V b, uint32_t bits, unsigned from)
{
    const V lane = _mm256_setr_epi64x(63, 62, 61, 60);
    const V up = _mm256_sllv_epi64(v_set1(bits), v_sub(lane, v_set1(from)));
    return f_bits(_mm256_blendv_pd(f_of_bits(a), f_of_bits(b), f_of_bits(up)));
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

#include "kernels/avx2/avx2_store_t.h"

/* The lanes one up, and in the first the last of `before`. */
VECTOR V v_shift_in(V before, V v)
{
    return _mm256_alignr_epi8(v, _mm256_permute2x128_si256(before, v, 0x21), 8);
}

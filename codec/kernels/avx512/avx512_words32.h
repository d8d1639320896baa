/* avx512_words32.h - the operations that vector_*_t.h is written in, for 4-byte words and AVX-512.
 */

typedef __m512i V;
typedef __m512 F;
typedef __mmask16 M;
enum { LANES = 16, VECTORS = ZMPI_BLOCK / LANES };

#define U_OP(op)      _mm512_##op##_epi32
#define U_MASK_OP(op) _mm512_##op##_epi32_mask
#define F_OP(op)      _mm512_##op##_ps
#define F_MASK_OP(op) _mm512_##op##_ps_mask

#include "kernels/avx512/avx512_words_t.h"

/* Signed integers to floats, to nearest even. */
VECTOR F f_of_integers(V q)
{
    return _mm512_cvtepi32_ps(q);
}

/* ---- blocks ---- */

/* Packs 32 words of at most 16 bits, in another order. */
VECTOR V words_pack(const V m[VECTORS])
{
    return _mm512_packus_epi32(m[0], m[1]);
}

/* From the order of words_pack to that of planes_of. */
VECTOR V block_bytes(V words)
{
#ifdef ZMPI_VBMI
    /* Where words_pack has its words: quarter l has words 4 l to 4 l + 3 of the first vector, then
     * those of the second. */
#define HALF8(at, half)                                                                            \
    (at) + 22 + (half), (at) + 20 + (half), (at) + 18 + (half), (at) + 16 + (half),                \
        (at) + 6 + (half), (at) + 4 + (half), (at) + 2 + (half), (at) + (half)
    static const unsigned char split[64] = {HALF8(0, 0), HALF8(32, 0), HALF8(8, 0), HALF8(40, 0),
                                            HALF8(0, 1), HALF8(32, 1), HALF8(8, 1), HALF8(40, 1)};
#undef HALF8
    return _mm512_permutexvar_epi8(table(split), words);
#else
    const V order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    return _mm512_permutexvar_epi64(order, words);
#endif
}

VECTOR V block_planes(V words)
{
    return planes_of(block_bytes(words));
}

/* For more than 16 planes. */
VECTOR unsigned block_pack_long(const V m[VECTORS], unsigned char *dst)
{
    const V word = v_set1(0xFFFF);
    V low[VECTORS], high[VECTORS];
    for (unsigned k = 0; k < VECTORS; k++) {
        low[k] = _mm512_and_si512(m[k], word);
        high[k] = _mm512_srli_epi32(m[k], 16);
    }
    V planes = block_planes(words_pack(high));
    _mm512_storeu_si512(dst, block_planes(words_pack(low)));
    _mm512_storeu_si512(dst + 64, planes);
    return 16 + planes_length(planes);
}

/* Signs and planes to dst; returns the length. Writes up to 60 bytes more than the block has. */
VECTOR unsigned block_pack(const V r[VECTORS], unsigned char *dst)
{
    V m[VECTORS];
    for (unsigned k = 0; k < VECTORS; k++) {
        m[k] = _mm512_abs_epi32(r[k]);
        M negative = _mm512_movepi32_mask(r[k]);
        memcpy(dst + 2 * k, &negative, sizeof negative);
    }
    dst += 4;
    M beyond = _mm512_test_epi32_mask(_mm512_or_si512(m[0], m[1]), v_set1(0xFFFF0000));
    if (__builtin_expect(beyond != 0, 0))
        return block_pack_long(m, dst);
    V planes = block_planes(words_pack(m));
    _mm512_storeu_si512(dst, planes);
    return planes_length(planes);
}

/* Bytes that unpacking a block without planes may read. */
enum { BLOCK_READ = 4 };

VECTOR void widen(V words, V r[VECTORS])
{
    r[0] = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(words));
    r[1] = _mm512_cvtepi16_epi32(_mm512_extracti64x4_epi64(words, 1));
}

VECTOR void block_unpack_long(const unsigned char *src, unsigned length, V r[VECTORS])
{
    const uint32_t signs = zmpi_load32(src);
    V high[VECTORS] = {v_set1(0), v_set1(0)}, low[VECTORS];
    V words = words_of_one(load_planes(src + 4, length < 16 ? length : 16));
    low[0] = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(words));
    low[1] = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(words, 1));
    if (length > 16)
        widen(words_of_one(load_planes(src + 68, length - 16)), high);
    for (unsigned k = 0; k < VECTORS; k++) {
        V m = _mm512_or_si512(low[k], _mm512_slli_epi32(high[k], 16));
        r[k] = _mm512_mask_sub_epi32(m, (M)(signs >> 16 * k), v_set1(0), m);
    }
}

/* Signs and planes to residuals. */
VECTOR void block_unpack(const unsigned char *src, unsigned length, V r[VECTORS])
{
    if (__builtin_expect(length > 15, 0)) {
        block_unpack_long(src, length, r);
        return;
    }
    widen(few_planes(src, length), r);
}

/* Running sums of the lanes. */
VECTOR V v_scan(V v)
{
    static const unsigned char pairs[64] = FOUR_TIMES(ZERO8, 4, 5, 6, 7, 4, 5, 6, 7);
    v = v_add(v, _mm512_slli_epi64(v, 32));
    v = v_add(v, _mm512_shuffle_epi8(v, table(pairs)));
    return scan_quarters32(v, _mm512_shuffle_epi32(v, _MM_PERM_DDDD));
}

/* The last lane in all lanes. */
VECTOR V v_last(V v)
{
    return _mm512_permutexvar_epi32(v_set1(15), v);
}

#include "kernels/vector/vector_order_t.h"

/* Running sums over a block. */
VECTOR void block_unpack_scan(const unsigned char *src, unsigned length, V r[VECTORS])
{
    if (__builtin_expect(length > 10, 0)) {
        block_unpack(src, length, r);
        block_sums(r);
        return;
    }
    V words = few_planes(src, length);
    scan_words(&words, 1);
    widen(words, r);
}

/* ---- exceptions ---- */

/* Gives each lane whose bit is not set the value of the last lane below it whose bit is set, or the
 * last lane of `before`. */
VECTOR V v_fill_forward(V v, uint32_t fine, V before)
{
    /* The highest set bit up to this lane is that lane's number. Without one the index is all ones,
     * which selects the last lane of the other vector. */
#define BELOW(i) (2U << (i)) - 1
    static const U below[LANES] = {BELOW(0),  BELOW(1),  BELOW(2),  BELOW(3), BELOW(4),  BELOW(5),
                                   BELOW(6),  BELOW(7),  BELOW(8),  BELOW(9), BELOW(10), BELOW(11),
                                   BELOW(12), BELOW(13), BELOW(14), BELOW(15)};
#undef BELOW
    const V bits = v_and(v_set1(fine), v_load(below));
    const V from = _mm512_xor_si512(_mm512_lzcnt_epi32(bits), v_set1(31));
    return _mm512_permutex2var_epi32(v, from, before);
}

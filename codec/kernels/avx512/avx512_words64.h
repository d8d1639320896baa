/* avx512_words64.h - the operations that vector_*_t.h is written in, for 8-byte words and AVX-512.
 */

typedef __m512i V;
typedef __m512d F;
typedef __mmask8 M;
enum { LANES = 8, VECTORS = ZMPI_BLOCK / LANES };

#define U_OP(op)      _mm512_##op##_epi64
#define U_MASK_OP(op) _mm512_##op##_epi64_mask
#define F_OP(op)      _mm512_##op##_pd
#define F_MASK_OP(op) _mm512_##op##_pd_mask

#include "kernels/avx512/avx512_words_t.h"

/* Signed integers to floats, to nearest even. */
VECTOR F f_of_integers(V q)
{
    return _mm512_cvtepi64_pd(q);
}

/* ---- blocks ---- */

/* Packs 32 words of at most 16 bits, in another order. */
VECTOR V words_pack(const V m[VECTORS])
{
    return _mm512_packus_epi32(_mm512_packus_epi32(m[0], m[1]), _mm512_packus_epi32(m[2], m[3]));
}

/* From the order of words_pack to that of planes_of. */
VECTOR V block_bytes(V words)
{
#ifdef ZMPI_VBMI
    /* Where words_pack has its words: quarter l has words 2 l and 2 l + 1 of each vector. */
#define EIGHT(at, half)                                                                            \
    (at) + 50 + (half), (at) + 48 + (half), (at) + 34 + (half), (at) + 32 + (half),                \
        (at) + 18 + (half), (at) + 16 + (half), (at) + 2 + (half), (at) + (half)
    static const unsigned char split[64] = {EIGHT(0, 0), EIGHT(4, 0), EIGHT(8, 0), EIGHT(12, 0),
                                            EIGHT(0, 1), EIGHT(4, 1), EIGHT(8, 1), EIGHT(12, 1)};
#undef EIGHT
    return _mm512_permutexvar_epi8(table(split), words);
#else
    return transpose_quarters(words);
#endif
}

VECTOR V block_planes(V words)
{
    return planes_of(block_bytes(words));
}

/* For more than 16 planes, 16 at a time. */
VECTOR unsigned block_pack_long(const V m[VECTORS], V all, unsigned char *dst)
{
    const V word = v_set1(0xFFFF);
    for (unsigned g = 0;; g += 16) {
        const __m128i count = _mm_cvtsi32_si128((int)g);
        V part[VECTORS];
        for (unsigned k = 0; k < VECTORS; k++)
            part[k] = _mm512_and_si512(_mm512_srl_epi64(m[k], count), word);
        V planes = block_planes(words_pack(part));
        _mm512_storeu_si512(dst + 4 * (size_t)g, planes);
        if (g == 48 || !_mm512_test_epi64_mask(_mm512_srl_epi64(all, count), v_set1(~(U)0xFFFF)))
            return g + planes_length(planes);
    }
}

/* Signs and planes to dst; returns the length. Writes up to 60 bytes more than the block has. */
VECTOR unsigned block_pack(const V r[VECTORS], unsigned char *dst)
{
    V m[VECTORS], all = v_set1(0);
    for (unsigned k = 0; k < VECTORS; k++) {
        m[k] = _mm512_abs_epi64(r[k]);
        all = _mm512_or_si512(all, m[k]);
        dst[k] = _mm512_movepi64_mask(r[k]);
    }
    dst += 4;
    if (__builtin_expect(_mm512_test_epi64_mask(all, v_set1(~(U)0xFFFF)) != 0, 0))
        return block_pack_long(m, all, dst);
    V planes = block_planes(words_pack(m));
    _mm512_storeu_si512(dst, planes);
    return planes_length(planes);
}

VECTOR void widen(V words, V r[VECTORS])
{
    r[0] = _mm512_cvtepi16_epi64(_mm512_castsi512_si128(words));
    r[1] = _mm512_cvtepi16_epi64(_mm512_extracti32x4_epi32(words, 1));
    r[2] = _mm512_cvtepi16_epi64(_mm512_extracti32x4_epi32(words, 2));
    r[3] = _mm512_cvtepi16_epi64(_mm512_extracti32x4_epi32(words, 3));
}

/* Running sums of the lanes. */
VECTOR V v_scan(V v)
{
    v = v_add(v, _mm512_bslli_epi128(v, 8));
    return scan_quarters64(v, _mm512_shuffle_epi32(v, _MM_PERM_DCDC));
}

/* Bytes that unpacking a block without planes may read. */
enum { BLOCK_READ = 4 };

/* Sixteen planes at a time to words of 16 bits, whose lanes are then interleaved to words. */
VECTOR void block_unpack_all(const unsigned char *src, unsigned length, V r[VECTORS])
{
    const uint32_t signs = zmpi_load32(src);
    V w[4], pair[4], word[4], half[4];
    for (unsigned g = 0; g < 4; g++) {
        const unsigned n = length > 16 * g ? length - 16 * g : 0;
        w[g] = load_planes(src + 4 + 64 * (size_t)g, n < 16 ? n : 16);
    }
    words_of(w, 4);
    for (unsigned i = 0; i < 2; i++) {
        pair[i] = _mm512_unpacklo_epi16(w[2 * i], w[2 * i + 1]);
        pair[2 + i] = _mm512_unpackhi_epi16(w[2 * i], w[2 * i + 1]);
    }
    for (unsigned i = 0; i < 2; i++) { /* quarter l of word[j]: words 8 l + 2 j and the next one */
        word[2 * i] = _mm512_unpacklo_epi32(pair[2 * i], pair[2 * i + 1]);
        word[2 * i + 1] = _mm512_unpackhi_epi32(pair[2 * i], pair[2 * i + 1]);
    }
    for (unsigned i = 0; i < 2; i++) {
        half[i] = _mm512_shuffle_i64x2(word[2 * i], word[2 * i + 1], 0x44);
        half[2 + i] = _mm512_shuffle_i64x2(word[2 * i], word[2 * i + 1], 0xEE);
    }
    for (unsigned k = 0; k < VECTORS; k++) {
        const V m = k % 2 ? _mm512_shuffle_i64x2(half[k & 2], half[(k & 2) + 1], 0xDD)
                          : _mm512_shuffle_i64x2(half[k & 2], half[(k & 2) + 1], 0x88);
        r[k] = _mm512_mask_sub_epi64(m, (M)(signs >> 8 * k), v_set1(0), m);
    }
}

/* Signs and planes to residuals. */
VECTOR void block_unpack(const unsigned char *src, unsigned length, V r[VECTORS])
{
    if (__builtin_expect(length > 15, 0)) {
        block_unpack_all(src, length, r);
        return;
    }
    widen(few_planes(src, length), r);
}

/* The last lane in all lanes. */
VECTOR V v_last(V v)
{
    return _mm512_permutexvar_epi64(v_set1(7), v);
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
    static const U below[LANES] = {1, 3, 7, 15, 31, 63, 127, 255};
    const V bits = v_and(v_set1(fine), v_load(below));
    const V from = _mm512_xor_si512(_mm512_lzcnt_epi64(bits), v_set1(63));
    return _mm512_permutex2var_epi64(v, from, before);
}

/* avx512_words64.h - the operations that vector_*_t.h is written in, for 8-byte words and AVX-512.
 */

typedef __m512i V;
typedef __m512d F;
typedef __mmask8 M;
enum { LANES = 8, VECTORS = ZMPI_BLOCK / LANES };

VECTOR V v_load(const U *p)
{
    return _mm512_loadu_si512(p);
}

VECTOR void v_store(U *p, V v)
{
    _mm512_storeu_si512(p, v);
}

VECTOR void v_stream(void *p, V v)
{
    _mm512_stream_si512(p, v);
}

/* Address arithmetic on integers: what is fetched need not be of the same array, nor exist. */
VECTOR void v_prefetch(const void *p, size_t ahead)
{
    _mm_prefetch((const char *)((uintptr_t)p + ahead), _MM_HINT_T1);
}

VECTOR V v_set1(U u)
{
    return _mm512_set1_epi64((long long)u);
}

VECTOR V v_add(V a, V b)
{
    return _mm512_add_epi64(a, b);
}

VECTOR V v_sub(V a, V b)
{
    return _mm512_sub_epi64(a, b);
}

VECTOR V v_and(V a, V b)
{
    return _mm512_and_si512(a, b);
}

VECTOR V v_or(V a, V b)
{
    return _mm512_or_si512(a, b);
}

/* a | (b ^ c) */
VECTOR V v_or_xor(V a, V b, V c)
{
    return _mm512_ternarylogic_epi64(a, b, c, 0xF0 | (0xCC ^ 0xAA));
}

VECTOR V v_abs(V a)
{
    return _mm512_abs_epi64(a);
}

/* a - b in the lanes whose bits are set, those of vector k of a block; elsewhere a. */
VECTOR V v_sub_at(V a, V b, uint32_t bits, unsigned k)
{
    return _mm512_mask_sub_epi64(a, (M)(bits >> LANES * k), a, b);
}

VECTOR M v_equal(V a, V b)
{
    return _mm512_cmpeq_epi64_mask(a, b);
}

VECTOR M m_none(void)
{
    return 0;
}

VECTOR M m_or(M a, M b)
{
    return (M)(a | b);
}

VECTOR bool m_any(M m)
{
    return m != 0;
}

VECTOR uint32_t m_bits(M m)
{
    return m;
}

/* Sign and magnitude to two's complement order and back; `flip`: the bits that a sign turns over.
 */
VECTOR V v_ordered(V u, V flip)
{
    /* u ^ (sign & flip) */
    return _mm512_ternarylogic_epi64(u, _mm512_srai_epi64(u, 63), flip, 0xF0 ^ (0xCC & 0xAA));
}

/* To each of eight costs, that of a block with the magnitudes of all lanes of a vector: its planes
 * and signs. */
VECTOR void v_add_costs(const V v[8], size_t cost[8])
{
    V two[4], four[2];
    for (unsigned i = 0; i < 4; i++)
        two[i] = v_or(_mm512_unpacklo_epi64(v[2 * i], v[2 * i + 1]),
                      _mm512_unpackhi_epi64(v[2 * i], v[2 * i + 1]));
    for (unsigned i = 0; i < 2; i++)
        four[i] = v_or(_mm512_shuffle_i64x2(two[2 * i], two[2 * i + 1], 0x44),
                       _mm512_shuffle_i64x2(two[2 * i], two[2 * i + 1], 0xEE));
    add_costs64(v_or(_mm512_shuffle_i64x2(four[0], four[1], 0x88),
                     _mm512_shuffle_i64x2(four[0], four[1], 0xDD)),
                cost);
}

/* ---- floats ---- */

VECTOR F f_load(const unsigned char *p)
{
    return _mm512_loadu_pd(p);
}

/* The first n < LANES of them, and zeros. */
VECTOR V v_load_few(const unsigned char *p, size_t n)
{
    return _mm512_maskz_loadu_epi64((M)_bzhi_u32(0xFF, (unsigned)n), p);
}

/* Lanes from..end-1, to where they would go with the others. */
VECTOR void v_store_lanes(unsigned char *p, V v, size_t from, size_t end)
{
    _mm512_mask_storeu_epi64(p, (M)(_bzhi_u32(0xFF, (unsigned)end) & UINT32_MAX << from), v);
}

VECTOR F f_set1(T x)
{
    return _mm512_set1_pd(x);
}

VECTOR F f_add(F a, F b)
{
    return _mm512_add_pd(a, b);
}

VECTOR F f_sub(F a, F b)
{
    return _mm512_sub_pd(a, b);
}

VECTOR F f_mul(F a, F b)
{
    return _mm512_mul_pd(a, b);
}

VECTOR F f_abs(F a)
{
    return _mm512_abs_pd(a);
}

/* !(a <= b), true for NaN; !(a < b) likewise. */
VECTOR M f_not_le(F a, F b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_NLE_UQ);
}

VECTOR M f_not_lt(F a, F b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_NLT_UQ);
}

VECTOR V f_bits(F x)
{
    return _mm512_castpd_si512(x);
}

VECTOR F f_of_bits(V v)
{
    return _mm512_castsi512_pd(v);
}

/* NaN in these lanes. */
VECTOR F f_nan_where(M m, F x)
{
    return _mm512_mask_mov_pd(x, m, f_set1((T)NAN));
}

/* Signed integers to floats, to nearest even. */
VECTOR F f_of_integers(V q)
{
    return _mm512_cvtepi64_pd(q);
}

VECTOR F f_min(F a, F b)
{
    return _mm512_min_pd(a, b);
}

VECTOR F f_max(F a, F b)
{
    return _mm512_max_pd(a, b);
}

/* ---- what cannot be quantized: see avx512_words32.h ---- */

VECTOR F f_error(F x, F steps, F step)
{
    return _mm512_fnmadd_pd(steps, step, x);
}

struct doubt {
    V differ, lowest;
    F error;
};

VECTOR struct doubt doubt_none(void)
{
    return (struct doubt){v_set1(0), v_set1(0), f_set1(0)};
}

VECTOR void doubt_add(struct doubt *d, F x, V v, F error, F limit, F bound)
{
    (void)x, (void)limit, (void)bound;
    d->differ = v_or_xor(d->differ, v, f_bits(f_set1((T)MAGIC)));
    d->error = _mm512_range_pd(d->error, error, 2 << 2 | 3); /* the larger magnitude, as it is + */
    d->lowest = _mm512_min_epi64(d->lowest, f_bits(error));
}

VECTOR bool doubt_any(const struct doubt *d, F limit, F bound)
{
    (void)limit;
    return m_or(f_not_lt(d->error, bound), v_equal(d->lowest, v_set1(SIGN_BIT))) != 0;
}

VECTOR bool doubt_wide(const struct doubt *d, U window)
{
    return window == 0 || _mm512_test_epi64_mask(d->differ, v_set1(0 - 2 * window)) != 0;
}

/* ---- blocks ---- */

/* 32 words of at most 16 bits; scrambled. */
VECTOR V words_pack(const V m[VECTORS])
{
    return _mm512_packus_epi32(_mm512_packus_epi32(m[0], m[1]), _mm512_packus_epi32(m[2], m[3]));
}

/* What planes_of wants, from what words_pack makes. */
VECTOR V block_bytes(V words)
{
#ifdef ZMPI_VBMI
    /* Word e of words_pack: quarter l has words 2 l and 2 l + 1 of each vector. */
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

/* More than 16 planes, 16 at a time. */
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

/* Signs and planes to dst; returns the length. Writes up to 60 bytes more than the block has.
 * before: a guess at the length. */
VECTOR unsigned block_pack(const V r[VECTORS], unsigned char *dst, unsigned before)
{
#ifdef ZMPI_VBMI
    /* All at once: see avx512_words32.h. Halves of a word that are packed saturate to what
     * saturates. */
    if (before < 15) {
        V w = _mm512_packs_epi32(_mm512_packs_epi32(r[0], r[1]), _mm512_packs_epi32(r[2], r[3]));
        V few = signs_and_planes_of(block_bytes(sign_and_magnitude(w)));
        _mm512_storeu_si512(dst, few);
        unsigned length = signed_planes_length(few);
        if (__builtin_expect(length < 15, 1))
            return length;
    }
#else
    (void)before;
#endif
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

#ifdef ZMPI_VBMI
#include "avx512_long64.h"

/* Bytes that unpacking a block may read. */
enum { BLOCK_READ = 4 + 4 * 8 * WIDTH };
#else
/* Bytes that unpacking a block without planes may read. */
enum { BLOCK_READ = 4 };

VECTOR void block_unpack_all(const unsigned char *src, unsigned length, V r[VECTORS])
{
    const uint32_t signs = zmpi_load32(src);
    V m[VECTORS] = {v_set1(0), v_set1(0), v_set1(0), v_set1(0)}, part[VECTORS];
    for (unsigned g = 0; g < length; g += 16) {
        unsigned n = length - g;
        widen(words_of(load_planes(src + 4 + 4 * (size_t)g, n < 16 ? n : 16)), part);
        for (unsigned k = 0; k < VECTORS; k++) {
            part[k] = _mm512_and_si512(part[k], v_set1(0xFFFF));
            m[k] = _mm512_or_si512(m[k], _mm512_sll_epi64(part[k], _mm_cvtsi32_si128((int)g)));
        }
    }
    for (unsigned k = 0; k < VECTORS; k++)
        r[k] = _mm512_mask_sub_epi64(m[k], (M)(signs >> 8 * k), v_set1(0), m[k]);
}
#endif

/* Residuals from signs and planes. */
VECTOR void block_unpack(const unsigned char *src, unsigned length, V r[VECTORS])
{
    if (__builtin_expect(length > 15, 0)) {
        block_unpack_all(src, length, r);
        return;
    }
    widen(signed_words(words_of(load_planes(src + 4, length)), zmpi_load32(src)), r);
}

/* The last lane in all lanes. */
VECTOR V v_last(V v)
{
    return _mm512_permutexvar_epi64(v_set1(7), v);
}

/* Running sums over a block. */
VECTOR void block_unpack_scan(const unsigned char *src, unsigned length, V r[VECTORS])
{
#ifdef ZMPI_VBMI
    if (__builtin_expect(length > 15, 0)) {
        block_unpack_sums(src, length, r);
        return;
    }
#endif
    if (__builtin_expect(length > 10, 0)) {
        block_unpack(src, length, r);
        r[0] = v_scan(r[0]);
        for (unsigned k = 1; k < VECTORS; k++)
            r[k] = v_add(v_scan(r[k]), v_last(r[k - 1]));
        return;
    }
    widen(scan_words(signed_words(words_of(load_planes(src + 4, length)), zmpi_load32(src))), r);
}

/* The lanes that `take` counts, over those of a and then b. */
VECTOR V v_pick(V a, V b, V take)
{
    return _mm512_permutex2var_epi64(a, take, b);
}

/* The lanes one up, and in the first the last of `before`. */
VECTOR V v_shift_in(V before, V v)
{
    return _mm512_alignr_epi64(v, before, 7);
}

/* ---- exceptions ---- */

/* Where x can be quantized: within the limit, with an error below the bound, and not -0. */
VECTOR uint32_t f_fine(F x, F error, F limit, F bound)
{
    M m = _mm512_cmp_pd_mask(f_abs(x), limit, _CMP_LE_OQ);
    m = _mm512_mask_cmp_pd_mask(m, f_abs(error), bound, _CMP_LT_OQ);
    return _mm512_mask_cmpneq_epi64_mask(m, f_bits(x), v_set1(SIGN_BIT));
}

/* In the lanes whose bits are not set what the last one below has whose bit is, or what `before`
 * ends with. */
VECTOR V v_hold(V v, uint32_t fine, V before)
{
    /* The bit of that lane is the highest of those up to this one; no bit makes an index of all
     * ones, the last of the other vector. */
    static const U below[LANES] = {1, 3, 7, 15, 31, 63, 127, 255};
    const V bits = _mm512_and_si512(_mm512_broadcastmb_epi64((M)fine), v_load(below));
    const V from = _mm512_xor_si512(_mm512_lzcnt_epi64(bits), v_set1(63));
    return _mm512_permutex2var_epi64(v, from, before);
}

/* The words of a block whose bits are set to dst, which has room for all. Returns the end. */
VECTOR U *words_compress(U *dst, const unsigned char *x, uint32_t bits)
{
    for (unsigned k = 0; k < VECTORS; k++) {
        const M m = (M)(bits >> k * LANES);
        v_store(dst, _mm512_maskz_compress_epi64(m, _mm512_loadu_si512(x + k * LANES * WIDTH)));
        dst += __builtin_popcount(m);
    }
    return dst;
}

/* The lanes whose bits are set from words at src. */
VECTOR V v_expand(V v, uint32_t bits, const unsigned char *src)
{
    return _mm512_mask_expandloadu_epi64(v, (M)bits, src);
}

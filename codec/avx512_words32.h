/* avx512_words32.h - the operations that vector_*_t.h is written in, for 4-byte words and AVX-512.
 */

typedef __m512i V;
typedef __m512 F;
typedef __mmask16 M;
enum { LANES = 16, VECTORS = ZMPI_BLOCK / LANES };

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
    return _mm512_set1_epi32((int)u);
}

VECTOR V v_add(V a, V b)
{
    return _mm512_add_epi32(a, b);
}

VECTOR V v_sub(V a, V b)
{
    return _mm512_sub_epi32(a, b);
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
    return _mm512_ternarylogic_epi32(a, b, c, 0xF0 | (0xCC ^ 0xAA));
}

VECTOR V v_abs(V a)
{
    return _mm512_abs_epi32(a);
}

/* a - b in the lanes whose bits are set, those of vector k of a block; elsewhere a. */
VECTOR V v_sub_at(V a, V b, uint32_t bits, unsigned k)
{
    return _mm512_mask_sub_epi32(a, (M)(bits >> LANES * k), a, b);
}

VECTOR M v_equal(V a, V b)
{
    return _mm512_cmpeq_epi32_mask(a, b);
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
    return _mm512_ternarylogic_epi32(u, _mm512_srai_epi32(u, 31), flip, 0xF0 ^ (0xCC & 0xAA));
}

/* To each of eight costs, that of a block with the magnitudes of all lanes of a vector: its planes
 * and signs. */
VECTOR void v_add_costs(const V v[8], size_t cost[8])
{
    V two[4], four[2];
    for (unsigned i = 0; i < 4; i++)
        two[i] = v_or(_mm512_unpacklo_epi32(v[2 * i], v[2 * i + 1]),
                      _mm512_unpackhi_epi32(v[2 * i], v[2 * i + 1]));
    for (unsigned i = 0; i < 2; i++) /* in each quarter, one of each of four */
        four[i] = v_or(_mm512_unpacklo_epi64(two[2 * i], two[2 * i + 1]),
                       _mm512_unpackhi_epi64(two[2 * i], two[2 * i + 1]));
    V halves = v_or(_mm512_shuffle_i64x2(four[0], four[1], 0x44),
                    _mm512_shuffle_i64x2(four[0], four[1], 0xEE));
    V all = v_or(halves, _mm512_shuffle_i64x2(halves, halves, 0xB1));
    __m256i one = _mm512_castsi512_si256(_mm512_shuffle_i64x2(all, all, 8)); /* of each */
    add_costs64(_mm512_cvtepu32_epi64(one), cost);
}

/* ---- floats ---- */

VECTOR F f_load(const unsigned char *p)
{
    return _mm512_loadu_ps(p);
}

/* The first n < LANES of them, and zeros. */
VECTOR V v_load_few(const unsigned char *p, size_t n)
{
    return _mm512_maskz_loadu_epi32((M)_bzhi_u32(0xFFFF, (unsigned)n), p);
}

/* Lanes from..end-1, to where they would go with the others. */
VECTOR void v_store_lanes(unsigned char *p, V v, size_t from, size_t end)
{
    _mm512_mask_storeu_epi32(p, (M)(_bzhi_u32(0xFFFF, (unsigned)end) & UINT32_MAX << from), v);
}

VECTOR F f_set1(T x)
{
    return _mm512_set1_ps(x);
}

VECTOR F f_add(F a, F b)
{
    return _mm512_add_ps(a, b);
}

VECTOR F f_sub(F a, F b)
{
    return _mm512_sub_ps(a, b);
}

VECTOR F f_mul(F a, F b)
{
    return _mm512_mul_ps(a, b);
}

VECTOR F f_abs(F a)
{
    return _mm512_abs_ps(a);
}

/* !(a <= b), true for NaN; !(a < b) likewise. */
VECTOR M f_not_le(F a, F b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_NLE_UQ);
}

VECTOR M f_not_lt(F a, F b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ);
}

VECTOR V f_bits(F x)
{
    return _mm512_castps_si512(x);
}

VECTOR F f_of_bits(V v)
{
    return _mm512_castsi512_ps(v);
}

/* NaN in these lanes. */
VECTOR F f_nan_where(M m, F x)
{
    return _mm512_mask_mov_ps(x, m, f_set1(NAN));
}

/* Signed integers to floats, to nearest even. */
VECTOR F f_of_integers(V q)
{
    return _mm512_cvtepi32_ps(q);
}

VECTOR F f_min(F a, F b)
{
    return _mm512_min_ps(a, b);
}

VECTOR F f_max(F a, F b)
{
    return _mm512_max_ps(a, b);
}

/* ---- what cannot be quantized ---- */

/* x - steps * step, rounded once: where x is within the limit the product is exact (format.md 4.4),
 * so that it makes no difference. */
VECTOR F f_error(F x, F steps, F step)
{
    return _mm512_fnmadd_ps(steps, step, x);
}

/* Over all lanes, what tells whether there was one: the bits in which some quantized word differs
 * from MAGIC, as NaN does; the largest error; and the smallest error as a signed integer, which -0
 * alone makes the smallest there is: x - x' is -0 for x = -0, and for nothing else. */
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
    d->error = _mm512_range_ps(d->error, error, 2 << 2 | 3); /* the larger magnitude, as it is + */
    d->lowest = _mm512_min_epi32(d->lowest, f_bits(error));
}

/* Among words within the limit. */
VECTOR bool doubt_any(const struct doubt *d, F limit, F bound)
{
    (void)limit;
    return m_or(f_not_lt(d->error, bound), v_equal(d->lowest, v_set1(SIGN_BIT))) != 0;
}

/* May there be words beyond the limit? */
VECTOR bool doubt_wide(const struct doubt *d, U window)
{
    return window == 0 || _mm512_test_epi32_mask(d->differ, v_set1(0 - 2 * window)) != 0;
}

/* ---- blocks ---- */

/* 32 words of at most 16 bits; scrambled. */
VECTOR V words_pack(const V m[VECTORS])
{
    return _mm512_packus_epi32(m[0], m[1]);
}

/* What planes_of wants, from what words_pack makes. */
VECTOR V block_bytes(V words)
{
#ifdef ZMPI_VBMI
    /* Word e of words_pack: quarter l has words 4 l to 4 l + 3 of the first vector, then those of
     * the second. */
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

/* More than 16 planes. */
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

/* Signs and planes to dst; returns the length. Writes up to 60 bytes more than the block has.
 * before: a guess at the length. */
VECTOR unsigned block_pack(const V r[VECTORS], unsigned char *dst, unsigned before)
{
#ifdef ZMPI_VBMI
    /* All at once, where 15 planes and the signs are enough: what is too large comes out with 15.
     */
    if (before < 15) {
        V w = sign_and_magnitude(_mm512_packs_epi32(r[0], r[1]));
        V all = signs_and_planes_of(block_bytes(w));
        _mm512_storeu_si512(dst, all);
        unsigned length = signed_planes_length(all);
        if (__builtin_expect(length < 15, 1))
            return length;
    }
#else
    (void)before;
#endif
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
    V words = words_of(load_planes(src + 4, length < 16 ? length : 16));
    low[0] = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(words));
    low[1] = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(words, 1));
    if (length > 16)
        widen(words_of(load_planes(src + 68, length - 16)), high);
    for (unsigned k = 0; k < VECTORS; k++) {
        V m = _mm512_or_si512(low[k], _mm512_slli_epi32(high[k], 16));
        r[k] = _mm512_mask_sub_epi32(m, (M)(signs >> 16 * k), v_set1(0), m);
    }
}

/* Residuals from signs and planes. */
VECTOR void block_unpack(const unsigned char *src, unsigned length, V r[VECTORS])
{
    if (__builtin_expect(length > 15, 0)) {
        block_unpack_long(src, length, r);
        return;
    }
    widen(signed_words(words_of(load_planes(src + 4, length)), zmpi_load32(src)), r);
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

/* Running sums over a block. */
VECTOR void block_unpack_scan(const unsigned char *src, unsigned length, V r[VECTORS])
{
    if (__builtin_expect(length > 10, 0)) {
        block_unpack(src, length, r);
        r[0] = v_scan(r[0]);
        r[1] = v_add(v_scan(r[1]), v_last(r[0]));
        return;
    }
    widen(scan_words(signed_words(words_of(load_planes(src + 4, length)), zmpi_load32(src))), r);
}

/* The lanes that `take` counts, over those of a and then b. */
VECTOR V v_pick(V a, V b, V take)
{
    return _mm512_permutex2var_epi32(a, take, b);
}

/* The lanes one up, and in the first the last of `before`. */
VECTOR V v_shift_in(V before, V v)
{
    return _mm512_alignr_epi32(v, before, 15);
}

/* ---- exceptions ---- */

/* Where x can be quantized: within the limit, with an error below the bound, and not -0. */
VECTOR uint32_t f_fine(F x, F error, F limit, F bound)
{
    M m = _mm512_cmp_ps_mask(f_abs(x), limit, _CMP_LE_OQ);
    m = _mm512_mask_cmp_ps_mask(m, f_abs(error), bound, _CMP_LT_OQ);
    return _mm512_mask_cmpneq_epi32_mask(m, f_bits(x), v_set1(SIGN_BIT));
}

/* In the lanes whose bits are not set what the last one below has whose bit is, or what `before`
 * ends with. */
VECTOR V v_hold(V v, uint32_t fine, V before)
{
    /* The bit of that lane is the highest of those up to this one; no bit makes an index of all
     * ones, the last of the other vector. */
#define BELOW(i) (2U << (i)) - 1
    static const U below[LANES] = {BELOW(0),  BELOW(1),  BELOW(2),  BELOW(3), BELOW(4),  BELOW(5),
                                   BELOW(6),  BELOW(7),  BELOW(8),  BELOW(9), BELOW(10), BELOW(11),
                                   BELOW(12), BELOW(13), BELOW(14), BELOW(15)};
#undef BELOW
    const V bits = _mm512_and_si512(_mm512_broadcastmw_epi32((M)fine), v_load(below));
    const V from = _mm512_xor_si512(_mm512_lzcnt_epi32(bits), v_set1(31));
    return _mm512_permutex2var_epi32(v, from, before);
}

/* The words of a block whose bits are set to dst, which has room for all. Returns the end. */
VECTOR U *words_compress(U *dst, const unsigned char *x, uint32_t bits)
{
    for (unsigned k = 0; k < VECTORS; k++) {
        const M m = (M)(bits >> k * LANES);
        v_store(dst, _mm512_maskz_compress_epi32(m, _mm512_loadu_si512(x + k * LANES * WIDTH)));
        dst += __builtin_popcount(m);
    }
    return dst;
}

/* The lanes whose bits are set from words at src. */
VECTOR V v_expand(V v, uint32_t bits, const unsigned char *src)
{
    return _mm512_mask_expandloadu_epi32(v, (M)bits, src);
}

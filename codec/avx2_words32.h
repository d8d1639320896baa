/* avx2_words32.h - the operations that vector_*_t.h is written in, for 4-byte words and AVX2. */

typedef __m256i V;
typedef __m256 F;
enum { LANES = 8, VECTORS = ZMPI_BLOCK / LANES };

VECTOR V v_load(const U *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

VECTOR void v_store(U *p, V v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}

VECTOR void v_stream(void *p, V v)
{
    _mm256_stream_si256((__m256i *)p, v);
}

/* Address arithmetic on integers: what is fetched need not be of the same array, nor exist. */
VECTOR void v_prefetch(const void *p, size_t ahead)
{
    _mm_prefetch((const char *)((uintptr_t)p + ahead), _MM_HINT_T1);
}

/* Makes streamed words visible in order, as other stores are. */
VECTOR void v_fence(void)
{
    _mm_sfence();
}

VECTOR V v_set1(U u)
{
    return _mm256_set1_epi32((int)u);
}

VECTOR V v_add(V a, V b)
{
    return _mm256_add_epi32(a, b);
}

VECTOR V v_sub(V a, V b)
{
    return _mm256_sub_epi32(a, b);
}

VECTOR V v_and(V a, V b)
{
    return _mm256_and_si256(a, b);
}

VECTOR V v_or(V a, V b)
{
    return _mm256_or_si256(a, b);
}

VECTOR V v_abs(V a)
{
    return _mm256_abs_epi32(a);
}

VECTOR V v_equal(V a, V b)
{
    return _mm256_cmpeq_epi32(a, b);
}

VECTOR bool v_any(V v)
{
    return !_mm256_testz_si256(v, v);
}

/* Bit j of the lanes' top bits. */
VECTOR uint32_t v_mask(V v)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(v));
}

/* All ones in the lanes of vector k of a block whose bit is set. */
VECTOR V v_lanes(uint32_t bits, unsigned k)
{
    const V lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    V b = v_and(v_set1(bits >> (LANES * k)), lane);
    return v_equal(b, lane);
}

/* Sign and magnitude to two's complement order and back. */
VECTOR V v_ordered(V u)
{
    V negative = _mm256_srai_epi32(u, 31);
    return _mm256_xor_si256(u, v_and(negative, v_set1(SIGN_BIT - 1)));
}

/* out[i] = or of all lanes of a[i]. */
VECTOR void v_or_lanes(const V a[8], U out[8])
{
    V h[2];
    for (int i = 0; i < 2; i++) {
        const V *b = a + 4 * i;
        V p = v_or(_mm256_unpacklo_epi32(b[0], b[1]), _mm256_unpackhi_epi32(b[0], b[1]));
        V q = v_or(_mm256_unpacklo_epi32(b[2], b[3]), _mm256_unpackhi_epi32(b[2], b[3]));
        h[i] = v_or(_mm256_unpacklo_epi64(p, q), _mm256_unpackhi_epi64(p, q));
    }
    v_store(out, v_or(_mm256_permute2x128_si256(h[0], h[1], 0x20),
                      _mm256_permute2x128_si256(h[0], h[1], 0x31)));
}

/* Length of the longest of all lanes. */
VECTOR unsigned v_length(V v)
{
    __m128i h = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    uint64_t u = (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(h, _mm_unpackhi_epi64(h, h)));
    return avx2_bit_length((uint32_t)(u | u >> 32));
}

/* ---- floats ---- */

VECTOR F f_load(const unsigned char *p)
{
    return _mm256_loadu_ps((const float *)(const void *)p);
}

VECTOR F f_set1(T x)
{
    return _mm256_set1_ps(x);
}

VECTOR F f_add(F a, F b)
{
    return _mm256_add_ps(a, b);
}

VECTOR F f_sub(F a, F b)
{
    return _mm256_sub_ps(a, b);
}

VECTOR F f_mul(F a, F b)
{
    return _mm256_mul_ps(a, b);
}

VECTOR F f_abs(F a)
{
    return _mm256_andnot_ps(f_set1(-0.0F), a);
}

/* !(a <= b), true for NaN; !(a < b) likewise. */
VECTOR V f_not_le(F a, F b)
{
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_NLE_UQ));
}

VECTOR V f_not_lt(F a, F b)
{
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_NLT_UQ));
}

VECTOR V f_bits(F x)
{
    return _mm256_castps_si256(x);
}

VECTOR F f_of_bits(V v)
{
    return _mm256_castsi256_ps(v);
}

/* Signed integers to floats, to nearest even. */
VECTOR F f_of_integers(V q)
{
    return _mm256_cvtepi32_ps(q);
}

VECTOR F f_min(F a, F b)
{
    return _mm256_min_ps(a, b);
}

VECTOR F f_max(F a, F b)
{
    return _mm256_max_ps(a, b);
}

/* ---- blocks ---- */

/* The low bytes of 32 words, in order. Each word is at most 255 (or negative if all are to saturate
 * as signs). */
VECTOR __m256i low_bytes(const V d[4])
{
    V p = _mm256_packus_epi16(_mm256_packus_epi32(d[0], d[1]), _mm256_packus_epi32(d[2], d[3]));
    return _mm256_permutevar8x32_epi32(p, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

VECTOR uint32_t block_signs(const V r[VECTORS])
{
    V p = _mm256_packs_epi16(_mm256_packs_epi32(r[0], r[1]), _mm256_packs_epi32(r[2], r[3]));
    p = _mm256_permutevar8x32_epi32(p, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    return (uint32_t)_mm256_movemask_epi8(p);
}

/* Planes of magnitudes m of that length; eight at a time, so up to seven more are written. */
VECTOR void block_store(const V m[VECTORS], unsigned length, unsigned char *dst)
{
    const V byte = v_set1(0xFF);
    V d[4];
    if (__builtin_expect(length <= 8, 1)) {
        avx2_store_planes(low_bytes(m), dst);
        return;
    }
    for (unsigned g = 0; g < length; g += 8) {
        __m128i count = _mm_cvtsi32_si128((int)g);
        for (unsigned i = 0; i < 4; i++)
            d[i] = v_and(_mm256_srl_epi32(m[i], count), byte);
        avx2_store_planes(low_bytes(d), dst + 4 * (size_t)g);
    }
}

VECTOR void spread_bytes(__m256i bytes, V d[4])
{
    __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
    d[0] = _mm256_cvtepu8_epi32(low);
    d[1] = _mm256_cvtepu8_epi32(_mm_srli_si128(low, 8));
    d[2] = _mm256_cvtepu8_epi32(high);
    d[3] = _mm256_cvtepu8_epi32(_mm_srli_si128(high, 8));
}

/* Magnitudes from planes; reads 32 bytes for each eight planes begun. */
VECTOR void block_load(const unsigned char *src, unsigned length, V m[VECTORS])
{
    spread_bytes(avx2_load_planes(src, length < 8 ? length : 8), m);
    for (unsigned g = 8; __builtin_expect(g < length, 0); g += 8) {
        __m128i count = _mm_cvtsi32_si128((int)g);
        V d[4];
        unsigned n = length - g;
        spread_bytes(avx2_load_planes(src + 4 * (size_t)g, n < 8 ? n : 8), d);
        for (unsigned i = 0; i < 4; i++)
            m[i] = v_or(m[i], _mm256_sll_epi32(d[i], count));
    }
}

/* Vector k of a block: magnitudes to residuals. signs: the block's sign word in every lane. */
VECTOR V v_signed(V m, V signs, unsigned k)
{
    const V lane = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
    V up = _mm256_sllv_epi32(signs, v_sub(lane, v_set1(LANES * k)));
    return _mm256_sign_epi32(m, v_or(up, v_set1(1)));
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
    return _mm256_permutevar8x32_epi32(v, v_set1(7));
}

/* The lanes one up, and in the first the last of `before`. */
VECTOR V v_shift_in(V before, V v)
{
    return _mm256_alignr_epi8(v, _mm256_permute2x128_si256(before, v, 0x21), 12);
}

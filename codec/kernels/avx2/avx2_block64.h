/*
 * avx2_block64.h - blocks of residuals to their bytes and back, for 8-byte words and AVX2.
 *
 * Words become bytes, one for each eight planes, in the order that packs of vectors leave and
 * unpacks undo, so that nothing but the last step of the transposition, which is between the
 * halves, crosses from one half of a register to the other: with j4..j0 the bits of a word's
 * number, its byte lies in half j1, at 8 j4 + 4 j3 + 2 j2 + j0. Larger pieces lie likewise: of 2
 * bytes vector j4 and piece (j3 j2 j0), of 4 vector (j4 j3) and piece (j2 j0), of 8, which are the
 * words, vector (j4 j3 j2) and piece j0.
 *
 * Where there is room the sign is the top bit of what is unpacked, and the lowest of what is
 * packed: a plane more, which the format has before the others.
 */

/* The 4x4 bytes of each half, transposed. */
VECTOR __m256i quads(__m256i bytes)
{
    const __m256i at = _mm256_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4,
                                        8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm256_shuffle_epi8(bytes, at);
}

/* The bits that change places with others 7, 12 and 2 places above. In memory: compilers make such
 * constants anew for each block instead, in three instructions. */
VECTOR const __m256i *moving(void)
{
    static const _Alignas(32) uint64_t bits[3][4] = {
        {0x00AA00AA00AA00AA, 0x00AA00AA00AA00AA, 0x00AA00AA00AA00AA, 0x00AA00AA00AA00AA},
        {0x0000F0F00000F0F0, 0x0000F0F00000F0F0, 0x0000F0F00000F0F0, 0x0000F0F00000F0F0},
        {0x3333333333333333, 0x3333333333333333}};
    const void *at = bits;
    __asm__("" : "+r"(at));
    return at;
}

/* In words of 64 bits: bits 0 and 2 of the place of a bit in its byte change places with bits 0 and
 * 1 of that of the byte. Its own inverse. */
VECTOR __m256i bits_across(__m256i m)
{
    const __m256i *moves = moving();
    __m256i t = _mm256_and_si256(_mm256_xor_si256(m, _mm256_srli_epi64(m, 7)), moves[0]);
    m = _mm256_xor_si256(m, _mm256_xor_si256(t, _mm256_slli_epi64(t, 7)));
    t = _mm256_and_si256(_mm256_xor_si256(m, _mm256_srli_epi64(m, 12)), moves[1]);
    return _mm256_xor_si256(m, _mm256_xor_si256(t, _mm256_slli_epi64(t, 12)));
}

/* The third one, with the number of the half. */
VECTOR void bits_between(__m128i *low, __m128i *high)
{
    const __m128i moves = _mm256_castsi256_si128(moving()[2]);
    __m128i t = _mm_and_si128(_mm_xor_si128(_mm_srli_epi64(*low, 2), *high), moves);
    *high = _mm_xor_si128(*high, t);
    *low = _mm_xor_si128(*low, _mm_slli_epi64(t, 2));
}

/* A byte of each word to eight planes of 32 bits. */
VECTOR __m256i planes_of(__m256i bytes)
{
    const __m256i m = quads(bits_across(bytes));
    __m128i low = _mm256_castsi256_si128(m), high = _mm256_extracti128_si256(m, 1);
    bits_between(&low, &high);
    return _mm256_set_m128i(_mm_unpackhi_epi64(low, high), _mm_unpacklo_epi64(low, high));
}

/* And back; four planes each. */
VECTOR __m256i bytes_of(__m128i first, __m128i second)
{
    __m128i low = _mm_unpacklo_epi64(first, second), high = _mm_unpackhi_epi64(first, second);
    bits_between(&low, &high);
    return bits_across(quads(_mm256_set_m128i(high, low)));
}

/* ---- to bytes ---- */

VECTOR void store_planes(unsigned char *dst, __m256i planes)
{
    _mm256_storeu_si256((__m256i *)(void *)dst, planes);
}

/* Words to 16 bits that saturate if they do not fit: both halves of a word saturate to what does
 * it again. */
VECTOR void saturate(const V r[VECTORS], __m256i w[2])
{
    w[0] = _mm256_packs_epi32(_mm256_packs_epi32(r[0], r[1]), _mm256_packs_epi32(r[2], r[3]));
    w[1] = _mm256_packs_epi32(_mm256_packs_epi32(r[4], r[5]), _mm256_packs_epi32(r[6], r[7]));
}

/* The low (0x88) or high (0xDD) halves of words. */
#define HALVES_OF(v, which, d)                                                                     \
    for (unsigned i = 0; i < 4; i++)                                                               \
    (d)[i] = _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps((v)[2 * i]),                \
                                                   _mm256_castsi256_ps((v)[2 * i + 1]), which))

/* Words of 32 bits to bytes: bits 0-7, 8-15, ... */
VECTOR void bytes_apart(const __m256i d[4], __m256i b[4])
{
    const __m256i q0 = quads(d[0]), q1 = quads(d[1]), q2 = quads(d[2]), q3 = quads(d[3]);
    const __m256i low01 = _mm256_unpacklo_epi32(q0, q1), high01 = _mm256_unpackhi_epi32(q0, q1);
    const __m256i low23 = _mm256_unpacklo_epi32(q2, q3), high23 = _mm256_unpackhi_epi32(q2, q3);
    b[0] = _mm256_unpacklo_epi64(low01, low23);
    b[1] = _mm256_unpackhi_epi64(low01, low23);
    b[2] = _mm256_unpacklo_epi64(high01, high23);
    b[3] = _mm256_unpackhi_epi64(high01, high23);
}

/* Planes `from` to `end` - 1 of words of 32 bits; eight at a time. */
VECTOR void store_long(const __m256i d[4], unsigned from, unsigned end, unsigned char *dst)
{
    __m256i b[4];
    bytes_apart(d, b);
    for (unsigned g = 0; g < 4 && from + 8 * g < end; g++)
        store_planes(dst + 4 * (from + 8 * (size_t)g), planes_of(b[g]));
}

/* Any length. */
VECTOR unsigned pack_all(const V r[VECTORS], unsigned char *dst)
{
    __m256i d[4], high[4];
    V m[VECTORS], all = _mm256_setzero_si256();
    HALVES_OF(r, 0xDD, high);
    const __m256i signs = _mm256_packs_epi16(_mm256_packs_epi32(high[0], high[1]),
                                             _mm256_packs_epi32(high[2], high[3]));
    /* The sign's bits alone: seven planes of nothing else are overwritten. */
    store_planes(dst,
                 planes_of(_mm256_srli_epi16(_mm256_and_si256(signs, _mm256_set1_epi8(-128)), 7)));
    for (unsigned k = 0; k < VECTORS; k++) {
        m[k] = v_abs(r[k]);
        all = v_or(all, m[k]);
    }
    const unsigned length = v_length(all);
    HALVES_OF(m, 0x88, d);
    store_long(d, 0, length, dst + 4);
    if (length > 32) {
        HALVES_OF(m, 0xDD, d);
        store_long(d, 32, length, dst + 4);
    }
    return length;
}

/* A length from 15 to 31, or any. */
VECTOR unsigned pack_long(const V r[VECTORS], unsigned char *dst)
{
    __m256i d[4], high[4], wrong = _mm256_setzero_si256(), all = _mm256_setzero_si256();
    HALVES_OF(r, 0x88, d);
    HALVES_OF(r, 0xDD, high);
    for (unsigned i = 0; i < 4; i++) {
        const __m256i negative = _mm256_srai_epi32(d[i], 31), a = _mm256_abs_epi32(d[i]);
        wrong = _mm256_or_si256(wrong, _mm256_xor_si256(high[i], negative));
        all = _mm256_or_si256(all, a);
        d[i] = _mm256_sub_epi32(_mm256_add_epi32(a, a), negative);
    }
    /* -2^31 is its own magnitude. */
    const bool fits =
        _mm256_testz_si256(wrong, wrong) && _mm256_movemask_ps(_mm256_castsi256_ps(all)) == 0;
    if (__builtin_expect(!fits, 0))
        return pack_all(r, dst);
    all = _mm256_or_si256(all, _mm256_srli_epi64(all, 32));
    const unsigned length = v_length(v_and(all, v_set1(UINT32_MAX)));
    store_long(d, 0, length + 1, dst);
    return length;
}

/* ---- and back ---- */

/* Bytes that unpacking a block may read. */
enum { BLOCK_READ = 4 + 4 * 8 * WIDTH };

/* The first n <= 8 of the planes at src, and zeros. */
VECTOR void load_planes(const unsigned char *src, unsigned n, __m128i p[2])
{
    static const uint32_t present[16] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
                                         UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    for (unsigned i = 0; i < 2; i++) {
        const __m128i *mask = (const __m128i *)(const void *)(present + 8 - n + 4 * i);
        p[i] = _mm_and_si128(_mm_loadu_si128((const __m128i *)(const void *)(src + 16 * i)),
                             _mm_loadu_si128(mask));
    }
}

/* Eight planes. */
VECTOR __m256i load_eight(const unsigned char *src)
{
    const __m128i *p = (const __m128i *)(const void *)src;
    return bytes_of(_mm_loadu_si128(p), _mm_loadu_si128(p + 1));
}

VECTOR __m256i load_few(const unsigned char *src, unsigned n)
{
    __m128i p[2];
    load_planes(src, n, p);
    return bytes_of(p[0], p[1]);
}

/* Of seven planes the first n, and signs as the eighth. */
VECTOR __m256i load_signed(const unsigned char *src, unsigned n, const unsigned char *signs)
{
    __m128i p[2];
    load_planes(src, n, p);
    p[1] = _mm_blend_epi32(p[1], _mm_set1_epi32((int)zmpi_load32(signs)), 8);
    return bytes_of(p[0], p[1]);
}

/* Signs and magnitudes of a length of up to 7 to integers. */
VECTOR __m256i unpack_bytes(const unsigned char *src, unsigned length)
{
    const __m256i b = load_signed(src + 4, length, src);
    return _mm256_sign_epi8(_mm256_and_si256(b, _mm256_set1_epi8(0x7F)), b);
}

/* From 8 to 15. */
VECTOR void unpack_pairs(const unsigned char *src, unsigned length, __m256i w[2])
{
    const __m256i magnitude = _mm256_set1_epi16(0x7FFF);
    const __m256i low = load_eight(src + 4), high = load_signed(src + 36, length - 8, src);
    w[0] = _mm256_unpacklo_epi8(low, high);
    w[1] = _mm256_unpackhi_epi8(low, high);
    for (unsigned i = 0; i < 2; i++)
        w[i] = _mm256_sign_epi16(_mm256_and_si256(w[i], magnitude), w[i]);
}

/* Words of 32 bits from their bytes. */
VECTOR void bytes_together(const __m256i b[4], __m256i d[4])
{
    const __m256i low01 = _mm256_unpacklo_epi8(b[0], b[1]),
                  high01 = _mm256_unpackhi_epi8(b[0], b[1]);
    const __m256i low23 = _mm256_unpacklo_epi8(b[2], b[3]),
                  high23 = _mm256_unpackhi_epi8(b[2], b[3]);
    d[0] = _mm256_unpacklo_epi16(low01, low23);
    d[1] = _mm256_unpackhi_epi16(low01, low23);
    d[2] = _mm256_unpacklo_epi16(high01, high23);
    d[3] = _mm256_unpackhi_epi16(high01, high23);
}

/* Signed integers of 4 bytes to words, and of 2. */
VECTOR void widen_fours(const __m256i d[4], V r[VECTORS])
{
    for (unsigned i = 0; i < 4; i++) {
        const __m256i sign = _mm256_srai_epi32(d[i], 31);
        r[2 * i] = _mm256_unpacklo_epi32(d[i], sign);
        r[2 * i + 1] = _mm256_unpackhi_epi32(d[i], sign);
    }
}

VECTOR void widen_pairs(const __m256i w[2], V r[VECTORS])
{
    __m256i d[4];
    for (unsigned i = 0; i < 2; i++) {
        d[2 * i] = _mm256_srai_epi32(_mm256_unpacklo_epi16(w[i], w[i]), 16);
        d[2 * i + 1] = _mm256_srai_epi32(_mm256_unpackhi_epi16(w[i], w[i]), 16);
    }
    widen_fours(d, r);
}

/* From 16 to 31. */
VECTOR void unpack_fours(const unsigned char *src, unsigned length, V r[VECTORS])
{
    const __m256i magnitude = _mm256_set1_epi32(INT32_MAX);
    __m256i b[4], d[4];
    b[0] = load_eight(src + 4);
    b[1] = load_eight(src + 36);
    b[2] = load_few(src + 68, length < 24 ? length - 16 : 8);
    b[3] = load_signed(src + 100, length < 24 ? 0 : length - 24, src);
    bytes_together(b, d);
    for (unsigned i = 0; i < 4; i++)
        d[i] = _mm256_sign_epi32(_mm256_and_si256(d[i], magnitude), d[i]);
    widen_fours(d, r);
}

/* Vector k of a block: magnitudes to residuals. signs: the block's sign word in every lane. */
VECTOR V v_signed(V m, V signs, unsigned k)
{
    const V lane = _mm256_slli_epi64(_mm256_setr_epi64x(1, 2, 4, 8), (int)(LANES * k));
    V s = v_equal(v_and(signs, lane), lane);
    return v_sub(_mm256_xor_si256(m, s), s);
}

/* From 32 on. */
VECTOR void unpack_all(const unsigned char *src, unsigned length, V r[VECTORS])
{
    const V signs = v_set1(zmpi_load32(src));
    __m256i b[4], low[4], high[4];
    for (unsigned g = 0; g < 4; g++)
        b[g] = load_eight(src + 4 + 32 * (size_t)g);
    bytes_together(b, low);
    for (unsigned g = 0; g < 4; g++) {
        const unsigned n = length < 32 + 8 * g ? 0 : length - 32 - 8 * g;
        b[g] = load_few(src + 132 + 32 * (size_t)g, n < 8 ? n : 8);
    }
    bytes_together(b, high);
    for (unsigned i = 0; i < 4; i++) {
        r[2 * i] = v_signed(_mm256_unpacklo_epi32(low[i], high[i]), signs, 2 * i);
        r[2 * i + 1] = v_signed(_mm256_unpackhi_epi32(low[i], high[i]), signs, 2 * i + 1);
    }
}

VECTOR void unpack_long(const unsigned char *src, unsigned length, V r[VECTORS])
{
    if (length < 32)
        unpack_fours(src, length, r);
    else
        unpack_all(src, length, r);
}

/* Residuals from signs and planes. */
VECTOR void block_unpack(const unsigned char *src, unsigned length, V r[VECTORS])
{
    __m256i w[2];
    if (__builtin_expect(length > 15, 0)) {
        unpack_long(src, length, r);
        return;
    }
    if (length < 8) {
        const __m256i b = unpack_bytes(src, length);
        w[0] = _mm256_srai_epi16(_mm256_unpacklo_epi8(b, b), 8);
        w[1] = _mm256_srai_epi16(_mm256_unpackhi_epi8(b, b), 8);
    } else {
        unpack_pairs(src, length, w);
    }
    widen_pairs(w, r);
}

/* The low half of v where the high one is, and zeros. */
VECTOR __m256i half_up(__m256i v)
{
    return _mm256_permute2x128_si256(v, v, 0x08);
}

/* Running sums of bytes, as 2 bytes. What is between two words of neighbouring numbers, which lie
 * side by side, is added last. */
VECTOR void scan_bytes(__m256i b, __m256i w[2])
{
    const __m256i first = _mm256_maddubs_epi16(_mm256_set1_epi16(1), b);
    const __m256i both = _mm256_maddubs_epi16(_mm256_set1_epi8(1), b);
    const __m256i four = _mm256_add_epi16(both, halves_of(both));
    __m256i t = _mm256_add_epi16(four, _mm256_slli_si256(four, 2));
    t = _mm256_add_epi16(t, _mm256_slli_si256(t, 4));
    t = _mm256_add_epi16(t, _mm256_slli_si256(t, 8));
    t = _mm256_add_epi16(_mm256_sub_epi16(t, four), half_up(both));
    const __m256i even = _mm256_add_epi16(t, first), odd = _mm256_add_epi16(t, both);
    w[0] = _mm256_unpacklo_epi16(even, odd);
    w[1] = _mm256_unpackhi_epi16(even, odd);
}

/* Of integers of 2 bytes, as 4 bytes. */
VECTOR void scan_pairs(const __m256i w[2], __m256i d[4])
{
    __m256i before = _mm256_setzero_si256();
    for (unsigned i = 0; i < 2; i++) {
        const __m256i first = _mm256_madd_epi16(w[i], _mm256_set1_epi32(1));
        const __m256i both = _mm256_madd_epi16(w[i], _mm256_set1_epi16(1));
        const __m256i four = _mm256_add_epi32(both, halves_of(both));
        __m256i t = _mm256_add_epi32(four, _mm256_slli_si256(four, 4));
        t = _mm256_add_epi32(t, _mm256_slli_si256(t, 8));
        const __m256i all = _mm256_shuffle_epi32(t, 0xFF);
        t = _mm256_add_epi32(_mm256_sub_epi32(t, four), half_up(both));
        if (i)
            t = _mm256_add_epi32(t, before);
        before = all;
        const __m256i even = _mm256_add_epi32(t, first), odd = _mm256_add_epi32(t, both);
        d[2 * i] = _mm256_unpacklo_epi32(even, odd);
        d[2 * i + 1] = _mm256_unpackhi_epi32(even, odd);
    }
}

/* Their running sums over the block. */
VECTOR void block_unpack_scan(const unsigned char *src, unsigned length, V r[VECTORS])
{
    if (__builtin_expect(length > 15, 0)) {
        unpack_long(src, length, r);
        r[0] = v_scan(r[0]);
        for (unsigned k = 1; k < VECTORS; k++)
            r[k] = v_add(v_scan(r[k]), v_last(r[k - 1]));
        return;
    }
    __m256i w[2], d[4];
    if (length < 8) {
        scan_bytes(unpack_bytes(src, length), w);
        widen_pairs(w, r);
    } else {
        unpack_pairs(src, length, w);
        scan_pairs(w, d);
        widen_fours(d, r);
    }
}

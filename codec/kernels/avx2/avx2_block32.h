/*
 * avx2_block32.h - blocks of 4-byte words to signs and planes and back. After avx2_words32.h.
 *
 * Signs are one plane more than the magnitudes have, and most blocks have few: then all is done in
 * bytes, or in words of 16 bits, which saturate, so that the highest plane tells whether all words
 * fit.
 *
 * Blocks are unpacked in the order of words, or for running sums in one in which these are mostly
 * of lanes that lie above each other: lane m of the lower half of vector k is word 8 m + k, of the
 * upper half 8 m + 4 + k.
 */

/* ---- to planes ---- */

/* Words of at most 255 as deinterleaved bytes. */
VECTOR V low_bytes(const V d[VECTORS])
{
    return _mm256_packus_epi16(_mm256_packus_epi32(d[0], d[1]), _mm256_packus_epi32(d[2], d[3]));
}

/* Residuals to words of 16 bits, which saturate if they do not fit. */
VECTOR void saturate(const V r[VECTORS], __m256i w[2])
{
    for (unsigned i = 0; i < 2; i++)
        w[i] = _mm256_packs_epi32(r[2 * i], r[2 * i + 1]);
}

/* A byte of each word, as saturated ones are packed, to eight planes. */
VECTOR __m256i planes_of(__m256i bytes)
{
    return avx2_planes_of(bytes);
}

/* Any residuals, to signs and planes at dst; returns the length. Writes up to 32 bytes more than
 * the block has. */
VECTOR unsigned pack_long(const V r[VECTORS], unsigned char *dst)
{
    const V byte = v_set1(0xFF);
    V m[VECTORS], signs[VECTORS], all = v_set1(0);
    for (unsigned k = 0; k < VECTORS; k++) {
        m[k] = v_abs(r[k]);
        all = v_or(all, m[k]);
        signs[k] = _mm256_srli_epi32(r[k], 31);
    }
    const unsigned length = v_length(all);
    v_store((U *)(void *)dst, avx2_planes_of(low_bytes(signs)));
    for (unsigned g = 0; g < length; g += 8) {
        const __m128i count = _mm_cvtsi32_si128((int)g);
        V d[VECTORS];
        for (unsigned k = 0; k < VECTORS; k++)
            d[k] = v_and(_mm256_srl_epi32(m[k], count), byte);
        v_store((U *)(void *)(dst + 4 + 4 * (size_t)g), avx2_planes_of(low_bytes(d)));
    }
    return length;
}

/* ---- from planes ---- */

/* Bytes that unpacking a block may read. */
enum { BLOCK_READ = 4 + 4 * 8 * WIDTH };

/* The dwords of two vectors that lie at even or odd places. */
VECTOR V even_lanes(V a, V b)
{
    return f_bits(_mm256_shuffle_ps(f_of_bits(a), f_of_bits(b), 0x88));
}

VECTOR V odd_lanes(V a, V b)
{
    return f_bits(_mm256_shuffle_ps(f_of_bits(a), f_of_bits(b), 0xDD));
}

/* Words of 16 bits, or 32 with what they are in the upper ones, to residuals in the order of words.
 */
VECTOR void widen(const V w[2], unsigned bits, V r[VECTORS])
{
    for (unsigned i = 0; i < 2; i++) {
        r[2 * i] = _mm256_srai_epi32(_mm256_unpacklo_epi16(w[i], w[i]), (int)bits);
        r[2 * i + 1] = _mm256_srai_epi32(_mm256_unpackhi_epi16(w[i], w[i]), (int)bits);
    }
}

/* Bytes of short_bytes to residuals; sums: to those of the first one to four words of each lane,
 * which is not the order of words. */
VECTOR void unpack_short(V bytes, bool sums, V r[VECTORS])
{
    const V b = _mm256_sign_epi8(v_and(bytes, _mm256_set1_epi8(INT8_MAX)), bytes);
    if (sums) {
        const V pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), b);
        const V evens = _mm256_maddubs_epi16(_mm256_set1_epi16(1), b);
        r[0] = _mm256_madd_epi16(evens, v_set1(1));
        r[1] = _mm256_madd_epi16(pairs, v_set1(1));
        r[2] = v_add(r[1], _mm256_srai_epi32(evens, 16));
        r[3] = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    } else {
        const V w[2] = {_mm256_unpacklo_epi8(b, b), _mm256_unpackhi_epi8(b, b)};
        widen(w, 24, r);
    }
}

/* The same from bytes of up to 15 planes. */
VECTOR void unpack_middle(V low, V high, bool sums, V r[VECTORS])
{
    const V first = v_set1(1), both = _mm256_set1_epi16(1);
    V w[2] = {_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high)}, even[2], odd[2];
    for (unsigned i = 0; i < 2; i++)
        w[i] = _mm256_sign_epi16(v_and(w[i], _mm256_set1_epi16(INT16_MAX)), w[i]);
    if (!sums) {
        widen(w, 16, r);
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        even[i] = _mm256_madd_epi16(w[i], first);
        odd[i] = _mm256_madd_epi16(w[i], both);
    }
    r[0] = even_lanes(even[0], even[1]);
    r[1] = even_lanes(odd[0], odd[1]);
    r[2] = odd_lanes(even[0], even[1]);
    r[3] = odd_lanes(odd[0], odd[1]);
    r[2] = v_add(r[2], r[1]);
    r[3] = v_add(r[3], r[1]);
}

/* From the order in which blocks are summed to that of words, and back; the last word is last in
 * both. */
VECTOR void block_order(V r[VECTORS])
{
    const V a = _mm256_unpacklo_epi32(r[0], r[1]), b = _mm256_unpackhi_epi32(r[0], r[1]);
    const V c = _mm256_unpacklo_epi32(r[2], r[3]), d = _mm256_unpackhi_epi32(r[2], r[3]);
    r[0] = _mm256_unpacklo_epi64(a, c);
    r[1] = _mm256_unpackhi_epi64(a, c);
    r[2] = _mm256_unpacklo_epi64(b, d);
    r[3] = _mm256_unpackhi_epi64(b, d);
}

/* The same from planes, of any length. */
VECTOR void unpack_long(const unsigned char *src, unsigned length, bool sums, V r[VECTORS])
{
    const V byte = v_set1(0xFF), signs = v_set1(zmpi_load32(src));
    const V last = _mm256_setr_epi32(31, 23, 15, 7, 27, 19, 11, 3);
    for (unsigned k = 0; k < VECTORS; k++)
        r[k] = v_set1(0);
    for (unsigned g = 0; g < length; g += 8) {
        const __m128i count = _mm_cvtsi32_si128((int)g);
        const unsigned n = length - g;
        const V b = avx2_bytes_of(avx2_first_planes(src + 4 + 4 * (size_t)g, n < 8 ? n : 8));
        for (unsigned k = 0; k < VECTORS; k++)
            r[k] = v_or(r[k],
                        _mm256_sll_epi32(v_and(_mm256_srli_epi32(b, (int)(8 * k)), byte), count));
    }
    for (unsigned k = 0; k < VECTORS; k++) {
        const V up = _mm256_sllv_epi32(signs, v_sub(last, v_set1(k)));
        r[k] = _mm256_sign_epi32(r[k], v_or(up, v_set1(1)));
        if (sums && k)
            r[k] = v_add(r[k], r[k - 1]);
    }
    if (!sums)
        block_order(r);
}

/* Sums of the first one to four words of each lane: to those of the block and what lies before it;
 * `carry` becomes the last of them. */
VECTOR void sum_lanes(V s[VECTORS], V *carry)
{
    const V here = s[VECTORS - 1];
    V both = v_add(here, halves_of(here)); /* eight words in a row */
    const V pair = both;
    both = v_add(both, _mm256_slli_si256(both, 4));
    both = v_add(both, _mm256_slli_si256(both, 8));
    /* What lies before: without these eight, or without the last four. */
    const V before = v_add(v_sub(both, _mm256_blend_epi32(pair, here, 0xF0)), *carry);
    for (unsigned k = 0; k < VECTORS; k++)
        s[k] = v_add(s[k], before);
    *carry = v_add(*carry, _mm256_shuffle_epi32(both, 0xFF));
}

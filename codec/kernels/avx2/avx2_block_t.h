/*
 * avx2_block_t.h - template: blocks of residuals to signs and planes and back, for both word sizes.
 * After the operations on words.
 *
 * Most blocks have few planes; signs are one more plane. Then all work is done in bytes or in words
 * of 16 bits, which saturate: the highest plane shows whether all words fit. Other planes come from
 * four vectors of 32 bits, the lower or the upper halves of longer words.
 *
 * Blocks are unpacked in the order of words. For running sums they are unpacked in an order in
 * which most sums are between lanes that lie above each other: lane m of the lower half of vector k
 * is word 8 m + k, of the upper half 8 m + 4 + k.
 */
enum { DWORDS = 4 };

/* ---- to planes ---- */

/* Words of 32 bits, none above 255, as deinterleaved bytes. */
VECTOR __m256i low_bytes(const __m256i d[DWORDS])
{
    return _mm256_packus_epi16(_mm256_packus_epi32(d[0], d[1]), _mm256_packus_epi32(d[2], d[3]));
}

#if WIDTH == 4
VECTOR void low_dwords(const V r[VECTORS], __m256i d[DWORDS])
{
    memcpy(d, r, DWORDS * sizeof *d);
}

/* Residuals to words of 16 bits, which saturate if they do not fit. */
VECTOR void saturate(const V r[VECTORS], __m256i w[2])
{
    for (unsigned i = 0; i < 2; i++)
        w[i] = _mm256_packs_epi32(r[2 * i], r[2 * i + 1]);
}
#else
VECTOR void low_dwords(const V r[VECTORS], __m256i d[DWORDS])
{
    for (unsigned i = 0; i < DWORDS; i++) {
        const F both = _mm256_castps_pd(_mm256_shuffle_ps(_mm256_castsi256_ps(r[2 * i]),
                                                          _mm256_castsi256_ps(r[2 * i + 1]), 0x88));
        d[i] = _mm256_permute4x64_epi64(f_bits(both), 0xD8);
    }
}

/* Each half of a word saturates to a value that saturates again. */
VECTOR void saturate(const V r[VECTORS], __m256i w[2])
{
    for (unsigned i = 0; i < 2; i++, r += 4)
        w[i] = _mm256_permutevar8x32_epi32(
            _mm256_packs_epi32(_mm256_packs_epi32(r[0], r[1]), _mm256_packs_epi32(r[2], r[3])),
            _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7));
}
#endif

/* Planes of words of 32 bits to dst, eight at a time. */
VECTOR void pack_dwords(const __m256i d[DWORDS], unsigned planes, unsigned char *dst)
{
    for (unsigned g = 0; g < 32 && g < planes; g += 8) {
        __m256i e[DWORDS];
        for (unsigned k = 0; k < DWORDS; k++)
            e[k] = _mm256_and_si256(_mm256_srl_epi32(d[k], _mm_cvtsi32_si128((int)g)),
                                    _mm256_set1_epi32(0xFF));
        _mm256_storeu_si256((__m256i *)(void *)(dst + 4 * (size_t)g), avx2_planes_of(low_bytes(e)));
    }
}

/* Any residuals to signs and planes at dst; returns the length. Writes up to 32 bytes more than the
 * block has. */
VECTOR unsigned pack_long(const V r[VECTORS], unsigned char *dst)
{
    V m[VECTORS], all = v_set1(0);
    uint32_t signs = 0;
    __m256i d[DWORDS];
    for (unsigned k = 0; k < VECTORS; k++) {
        m[k] = v_abs(r[k]);
        all = v_or(all, m[k]);
        signs |= m_bits(r[k]) << k * LANES;
    }
    const unsigned length = v_length(all);
    zmpi_store32(dst, signs);
    low_dwords(m, d);
    pack_dwords(d, length, dst + 4);
    if (length > 32) {
        for (unsigned k = 0; k < VECTORS; k++)
            m[k] = _mm256_srli_epi64(m[k], 32);
        low_dwords(m, d);
        pack_dwords(d, length - 32, dst + 4 + 4 * 32);
    }
    return length;
}

/* ---- from planes ---- */

/* Bytes that unpacking a block may read. */
enum { BLOCK_READ = 4 + 4 * 8 * WIDTH };

/* The dwords of two vectors that lie at even or odd places. */
VECTOR __m256i even_lanes(__m256i a, __m256i b)
{
    return _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
}

VECTOR __m256i odd_lanes(__m256i a, __m256i b)
{
    return _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xDD));
}

/* Words of 16 bits, or of 32 with the residual in the upper half, to residuals in the order of
 * words. */
VECTOR void widen(const __m256i w[2], unsigned bits, __m256i r[DWORDS])
{
    for (unsigned i = 0; i < 2; i++) {
        r[2 * i] = _mm256_srai_epi32(_mm256_unpacklo_epi16(w[i], w[i]), (int)bits);
        r[2 * i + 1] = _mm256_srai_epi32(_mm256_unpackhi_epi16(w[i], w[i]), (int)bits);
    }
}

/* The result of short_bytes to residuals. sums: to running sums of each lane's one to four words,
 * which are not in the order of words. */
VECTOR void unpack_short(__m256i bytes, bool sums, __m256i r[DWORDS])
{
    const __m256i magnitudes = _mm256_and_si256(bytes, _mm256_set1_epi8(INT8_MAX));
    const __m256i b = _mm256_sign_epi8(magnitudes, bytes);
    if (sums) {
        const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), b);
        const __m256i evens = _mm256_maddubs_epi16(_mm256_set1_epi16(1), b);
        r[0] = _mm256_madd_epi16(evens, _mm256_set1_epi32(1));
        r[1] = _mm256_madd_epi16(pairs, _mm256_set1_epi32(1));
        r[2] = _mm256_add_epi32(r[1], _mm256_srai_epi32(evens, 16));
        r[3] = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    } else {
        const __m256i w[2] = {_mm256_unpacklo_epi8(b, b), _mm256_unpackhi_epi8(b, b)};
        widen(w, 24, r);
    }
}

/* The same for bytes of up to 15 planes. */
VECTOR void unpack_middle(__m256i low, __m256i high, bool sums, __m256i r[DWORDS])
{
    const __m256i first = _mm256_set1_epi32(1), both = _mm256_set1_epi16(1);
    const __m256i magnitude = _mm256_set1_epi16(INT16_MAX);
    __m256i w[2] = {_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high)}, even[2],
            odd[2];
    for (unsigned i = 0; i < 2; i++)
        w[i] = _mm256_sign_epi16(_mm256_and_si256(w[i], magnitude), w[i]);
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
    r[2] = _mm256_add_epi32(odd_lanes(even[0], even[1]), r[1]);
    r[3] = _mm256_add_epi32(odd_lanes(odd[0], odd[1]), r[1]);
}

/* From the order in which blocks are summed to that of words; the last word is last in both. */
VECTOR void block_order(__m256i r[DWORDS])
{
    const __m256i a = _mm256_unpacklo_epi32(r[0], r[1]), b = _mm256_unpackhi_epi32(r[0], r[1]);
    const __m256i c = _mm256_unpacklo_epi32(r[2], r[3]), d = _mm256_unpackhi_epi32(r[2], r[3]);
    r[0] = _mm256_unpacklo_epi64(a, c);
    r[1] = _mm256_unpackhi_epi64(a, c);
    r[2] = _mm256_unpacklo_epi64(b, d);
    r[3] = _mm256_unpackhi_epi64(b, d);
}

/* Up to 32 planes to words in order; reads as many. */
VECTOR void unpack_dwords(const unsigned char *src, unsigned planes, __m256i d[DWORDS])
{
    __m256i b[4], pair[4];
    for (unsigned g = 0; g < 4; g++, src += 32) {
        b[g] = avx2_bytes_of(avx2_first_planes(src, planes < 8 ? planes : 8));
        planes -= planes < 8 ? planes : 8;
    }
    for (unsigned i = 0; i < 2; i++) {
        pair[i] = _mm256_unpacklo_epi8(b[2 * i], b[2 * i + 1]);
        pair[2 + i] = _mm256_unpackhi_epi8(b[2 * i], b[2 * i + 1]);
    }
    for (unsigned i = 0; i < 2; i++) {
        d[2 * i] = _mm256_unpacklo_epi16(pair[2 * i], pair[2 * i + 1]);
        d[2 * i + 1] = _mm256_unpackhi_epi16(pair[2 * i], pair[2 * i + 1]);
    }
}

/* Words of 32 bits to words of full width. */
VECTOR void lengthen(const __m256i d[DWORDS], bool is_signed, V r[VECTORS])
{
    for (unsigned k = 0; k < VECTORS; k++) {
#if WIDTH == 4
        (void)is_signed;
        r[k] = d[k];
#else
        const __m128i half = _mm256_extracti128_si256(d[k / 2], 1);
        const __m128i part = k % 2 ? half : _mm256_castsi256_si128(d[k / 2]);
        r[k] = is_signed ? _mm256_cvtepi32_epi64(part) : _mm256_cvtepu32_epi64(part);
#endif
    }
}

/* Signs and planes of any length to residuals. */
VECTOR void unpack_long(const unsigned char *src, unsigned length, V r[VECTORS])
{
    const uint32_t signs = zmpi_load32(src);
    __m256i d[DWORDS];
    unpack_dwords(src + 4, length, d);
    lengthen(d, false, r);
    if (length > 32) {
        V high[VECTORS];
        unpack_dwords(src + 4 + 4 * 32, length - 32, d);
        lengthen(d, false, high);
        for (unsigned k = 0; k < VECTORS; k++)
            r[k] = v_or(r[k], _mm256_slli_epi64(high[k], 32));
    }
    for (unsigned k = 0; k < VECTORS; k++)
        r[k] = v_choose_at(r[k], v_sub(v_set1(0), r[k]), signs, k);
}

/* Turns running sums within each lane into those of the block and everything before it; `carry`
 * becomes the last sum. */
VECTOR void sum_lanes(__m256i s[DWORDS], __m256i *carry)
{
    const __m256i here = s[DWORDS - 1];
    __m256i both = _mm256_add_epi32(here, halves_of(here)); /* of eight words */
    const __m256i pair = both;
    both = _mm256_add_epi32(both, _mm256_slli_si256(both, 4));
    both = _mm256_add_epi32(both, _mm256_slli_si256(both, 8));
    /* The sums of what lies before: without these eight words, or without the last four. */
    const __m256i before =
        _mm256_add_epi32(_mm256_sub_epi32(both, _mm256_blend_epi32(pair, here, 0xF0)), *carry);
    for (unsigned k = 0; k < DWORDS; k++)
        s[k] = _mm256_add_epi32(s[k], before);
    *carry = _mm256_add_epi32(*carry, _mm256_shuffle_epi32(both, 0xFF));
}

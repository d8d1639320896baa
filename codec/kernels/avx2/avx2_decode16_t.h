/*
 * avx2_decode16_t.h - template: blocks to residuals of 16 bits, half a block in a vector; then
 * integers to words of 4 bytes. After avx2_encode16_t.h and avx2_unpack32.h.
 */

/* The next LANES integers, base added, as floats. */
VECTOR F h_floats(const uint16_t *p, H base)
{
#if WIDTH == 4
    const V q = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
    return _mm256_cvtepi32_ps(_mm256_add_epi32(q, base));
#else
    const __m128i q = _mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
    return _mm256_cvtepi32_pd(_mm_add_epi32(q, _mm256_castsi256_si128(base)));
#endif
}

/* Do all these blocks have at most so many planes? */
VECTOR bool lengths_within(const unsigned char *lengths, size_t blocks, unsigned most)
{
    enum { SOME = sizeof(V) };
    const V limit = _mm256_set1_epi8((char)most), bits = _mm256_set1_epi8(0x3F);
    V beyond = v_set1(0);
    if (blocks < SOME) {
        for (size_t b = 0; b < blocks; b++)
            if (block_length(lengths[b]) > most)
                return false;
        return true;
    }
    for (size_t b = 0; b < blocks; b += SOME) {
        const size_t from = b + SOME <= blocks ? b : blocks - SOME;
        const V n = v_load((const U *)(const void *)(lengths + from)); /* block_length: below 64 */
        beyond = v_or(beyond, _mm256_subs_epu8(v_and(n, bits), limit));
    }
    return !m_any(beyond);
}

/* Deinterleaved bytes of signs and up to 7 planes to residuals. Their bytes, in two vectors, have
 * the order of words. */
VECTOR V short_residuals(V bytes)
{
    const V b = _mm256_sign_epi8(v_and(bytes, _mm256_set1_epi8(INT8_MAX)), bytes);
    return _mm256_permutevar8x32_epi32(b, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* The same for up to 15 planes. */
VECTOR void middle_residuals(V low, V high, H w[2])
{
    const V magnitude = _mm256_set1_epi16(INT16_MAX);
    w[0] = _mm256_unpacklo_epi8(low, high);
    w[1] = _mm256_unpackhi_epi8(low, high);
    for (unsigned i = 0; i < 2; i++)
        w[i] = _mm256_permute4x64_epi64(_mm256_sign_epi16(v_and(w[i], magnitude), w[i]), 0xD8);
}

/* Running sums of the lanes of each half. */
VECTOR H h_scan_halves(H h)
{
    h = h_add(h, _mm256_slli_si256(h, 2));
    h = h_add(h, _mm256_slli_si256(h, 4));
    return h_add(h, _mm256_slli_si256(h, 8));
}

/* Turns such sums into those of all lanes, behind carry; carry becomes the last one. */
VECTOR H h_join_halves(H h, H *carry)
{
    const H last = _mm256_shuffle_epi8(h, _mm256_set1_epi16(0x0F0E));
    h = h_add(h_add(h, _mm256_permute2x128_si256(last, last, 0x08)), *carry);
    *carry = h_add(h_add(*carry, last), halves_of(last));
    return h;
}

/* Stores a block to `to`: with the x axis its running sums, which continue from carry; else with
 * carry added. */
VECTOR void put_short(V bytes, H *carry, bool sums, uint16_t *to)
{
    const V b = short_residuals(bytes);
    if (!sums) {
        h_store(to, h_add(_mm256_cvtepi8_epi16(_mm256_castsi256_si128(b)), *carry));
        h_store(to + HALVES, h_add(_mm256_cvtepi8_epi16(_mm256_extracti128_si256(b, 1)), *carry));
        return;
    }
    /* Adds pairs of words first, which halves the sums that follow. */
    const H odd = h_join_halves(h_scan_halves(_mm256_maddubs_epi16(_mm256_set1_epi8(1), b)), carry);
    const H even = h_sub(odd, _mm256_srai_epi16(b, 8));
    const H a = _mm256_unpacklo_epi16(even, odd), c = _mm256_unpackhi_epi16(even, odd);
    h_store(to, _mm256_permute2x128_si256(a, c, 0x20));
    h_store(to + HALVES, _mm256_permute2x128_si256(a, c, 0x31));
}

VECTOR void put_middle(V low, V high, H *carry, bool sums, uint16_t *to)
{
    H w[2];
    middle_residuals(low, high, w);
    for (unsigned i = 0; i < 2; i++)
        h_store(to + i * HALVES,
                sums ? h_join_halves(h_scan_halves(w[i]), carry) : h_add(w[i], *carry));
}

/* Unpacks the next blocks, each of at most 15 planes; it makes bytes of several together. */
VECTOR void unpack16(struct unpacker *u, H *carry_on, bool sums, size_t blocks, uint16_t *to)
{
    H carry = *carry_on;
    for (size_t b = 0, n; b < blocks; b += n) {
        n = blocks - b < BLOCKS_AHEAD ? blocks - b : BLOCKS_AHEAD;
        unpack_ahead(u);
        for (size_t i = 0; i < n; i++, to += ZMPI_BLOCK) {
            const V low = v_load((const U *)(const void *)u->low[i]);
            if (u->kind == SHORT)
                put_short(low, &carry, sums, to);
            else
                put_middle(low, v_load((const U *)(const void *)u->high[i]), &carry, sums, to);
        }
        u->coded.block += n;
    }
    *carry_on = carry;
}

KERNEL void half_unpack_words(struct unpacker *u, H *carry, size_t blocks, uint16_t *to)
{
    unpack16(u, carry, false, blocks, to);
}

KERNEL void half_unpack_sums(struct unpacker *u, H *carry, size_t blocks, uint16_t *to)
{
    unpack16(u, carry, true, blocks, to);
}

/*
 * avx512_decode16_t.h - template: blocks to residuals of 16 bits, a block in a vector; then
 * integers to words of 4 bytes. After avx512_encode16_t.h and avx512_group_t.h.
 */

/* The next LANES integers, base added, as floats. */
VECTOR F h_floats(const uint16_t *p, H base)
{
#if WIDTH == 4
    const __m512i q = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p));
    return _mm512_cvtepi32_ps(_mm512_add_epi32(q, base));
#else
    const __m256i q = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)p));
    return _mm512_cvtepi32_pd(_mm256_add_epi32(q, _mm512_castsi512_si256(base)));
#endif
}

/* The last lane in all lanes. */
VECTOR H h_last(H h)
{
    return h_lane(h, HALVES - 1);
}

/* Do all these blocks have at most so many planes? */
VECTOR bool lengths_within(const unsigned char *lengths, size_t blocks, unsigned most)
{
    uint64_t beyond = 0;
    for (size_t b = 0; b < blocks; b += 64) {
        const size_t left = blocks - b;
        const __mmask64 there = left < 64 ? _bzhi_u64(UINT64_MAX, (unsigned)left) : UINT64_MAX;
        __m512i n = _mm512_maskz_loadu_epi8(there, lengths + b);
        /* block_length */
        n = _mm512_mask_mov_epi8(n, _mm512_movepi8_mask(n),
                                 _mm512_and_si512(n, _mm512_set1_epi8(0x3F)));
        beyond |= _mm512_cmpgt_epu8_mask(n, _mm512_set1_epi8((char)most));
    }
    return !beyond;
}

/* Stores a block to `to`: with the x axis its running sums, which continue from carry; else with
 * carry added. */
VECTOR void put16(H words, H *carry, bool sums, uint16_t *to)
{
    h_store(to, h_add(words, *carry));
    if (sums)
        *carry = h_add(h_last(words), *carry);
}

/* Unpacks the next blocks, each of at most 15 planes. */
VECTOR void unpack16(struct coded *coded, H *carry_on, bool sums, size_t blocks, uint16_t *to)
{
    struct coded c = *coded;
    H carry = *carry_on;
    for (size_t b = 0; b < blocks;) {
        V w[GROUP];
        if (blocks - b >= GROUP && take_group(&c, w)) {
            if (sums)
                scan_words(w, GROUP);
            EACH(GROUP)
            put16(w[i], &carry, sums, to + (b + i) * ZMPI_BLOCK);
            b += GROUP;
            continue;
        }
        if (c.src > c.safe)
            coded_tail(&c);
        const unsigned length = block_length(c.lengths[c.block++]);
        fetch_planes(&c, length);
        w[0] = few_planes(c.src, length);
        if (sums)
            scan_words(w, 1);
        put16(w[0], &carry, sums, to + b * ZMPI_BLOCK);
        c.src += 4 * (size_t)(length + (length != 0));
        b++;
    }
    *coded = c;
    *carry_on = carry;
}

KERNEL void half_unpack_words(struct unpacker *u, H *carry, size_t blocks, uint16_t *to)
{
    unpack16(&u->coded, carry, false, blocks, to);
}

KERNEL void half_unpack_sums(struct unpacker *u, H *carry, size_t blocks, uint16_t *to)
{
    unpack16(&u->coded, carry, true, blocks, to);
}

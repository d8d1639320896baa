/*
 * avx512_halved_t.h - template: blocks to residuals of 16 bits, a block in a vector, and those to
 * words of 4 bytes. After avx512_halves_t.h and avx512_group_t.h.
 */

enum { BAND_PAST = 512, BAND_PLAIN = 2048 }; /* of vector_halved_t.h */

VECTOR H h_add(H a, H b)
{
    return _mm512_add_epi16(a, b);
}

/* What memory has here in all lanes. */
VECTOR H h_all(const uint16_t *p)
{
    return h_set1(*p);
}

/* The last lane in all lanes. */
VECTOR H h_last(H h)
{
    return h_lane(h, HALVES - 1);
}

/* n, n + 1, ... */
VECTOR H h_lanes(U n)
{
#define EIGHT(i) (i), (i) + 1, (i) + 2, (i) + 3, (i) + 4, (i) + 5, (i) + 6, (i) + 7
    static const uint16_t lanes[HALVES] = {EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24)};
#undef EIGHT
    return h_add(h_load(lanes), h_set1(n));
}

/* The lanes that `take` counts, over those of a and then b. */
VECTOR H h_pick(H a, H b, H take)
{
    return _mm512_permutex2var_epi16(a, take, b);
}

/* Sums of every `apart`th word, which is less than a vector. */
struct half_stride {
    H step[5]; /* apart, 2 apart, ... up */
    __mmask32 there[5];
    unsigned steps;
    H last; /* those of the last `apart` in a vector, over and over, in the next */
};

/* number: of a word among `apart`. */
VECTOR void half_stride_begin(struct half_stride *t, size_t apart, H number)
{
    t->last = h_add(number, h_set1((U)(HALVES - apart)));
    t->steps = 0;
    for (size_t d = apart; d < HALVES; d *= 2) {
        t->step[t->steps] = h_lanes((U)(HALVES - d));
        t->there[t->steps++] = UINT32_MAX << d;
    }
}

/* sum: of the vector before. */
VECTOR H half_stride_sum(const struct half_stride *t, H sum, H h)
{
    for (unsigned k = 0; k < t->steps; k++)
        h = h_add(h, _mm512_maskz_permutexvar_epi16(t->there[k], t->step[k], h));
    return h_add(h, _mm512_permutexvar_epi16(t->last, sum));
}

/* The next words, without signs. */
VECTOR V h_widen(const uint16_t *p)
{
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p));
}

/* The first n of them, and zeros. */
VECTOR V h_widen_few(const uint16_t *p, size_t n)
{
    return v_where((M)_bzhi_u32(ALL_LANES, (unsigned)n), h_widen(p));
}

/* The first n lanes; `from` words lie before `to` in its vector of memory. A store that reached
 * into the next one would have it read, whatever its mask is. */
VECTOR void v_store_part(unsigned char *to, V v, size_t from, size_t n)
{
    v_store_lanes(to - from * WIDTH, v_pick(v, v, v_lanes(LANES - from)), from, from + n);
}

/* Have all these blocks at most so many planes? */
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

/* A block to `to`; with the x axis its sums, which go on from carry, and else carry added. */
VECTOR void half_put(H words, H *carry, bool sums, uint16_t *to)
{
    h_store(to, h_add(words, *carry));
    if (sums)
        *carry = h_add(h_last(words), *carry);
}

/* The next blocks, all of them of at most 15 planes. */
VECTOR void unpack_halves(struct coded *coded, H *carry_on, bool sums, size_t blocks, uint16_t *to)
{
    struct coded c = *coded;
    H carry = *carry_on;
    for (size_t b = 0; b < blocks;) {
        V w[GROUP];
        uint64_t lengths;
        if (blocks - b >= GROUP && take_group(&c, w, &lengths)) {
            if (sums)
                scan_words(w, GROUP);
            EACH(GROUP)
            half_put(w[i], &carry, sums, to + (b + i) * ZMPI_BLOCK);
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
        half_put(w[0], &carry, sums, to + b * ZMPI_BLOCK);
        c.src += 4 * (size_t)(length + (length != 0));
        b++;
    }
    *coded = c;
    *carry_on = carry;
}

KERNEL void unpack_half_words(struct unpacker *u, H *carry, size_t blocks, uint16_t *to)
{
    unpack_halves(&u->coded, carry, false, blocks, to);
}

KERNEL void unpack_half_sums(struct unpacker *u, H *carry, size_t blocks, uint16_t *to)
{
    unpack_halves(&u->coded, carry, true, blocks, to);
}

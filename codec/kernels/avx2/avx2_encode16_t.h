/*
 * avx2_encode16_t.h - template: operations on integers of 16 bits, half a block in a vector, for
 * words of 4 bytes; words to such integers; their residuals to planes. After avx2_packer_t.h and
 * take_filled.
 */

typedef __m256i H;
enum { HALVES = 16 };

#define X        H
#define X_(name) h_##name
#define W        uint16_t
#include "kernels/vector/vector_ops_t.h"

/* An integer in all lanes of 32 bits. */
VECTOR H h_base(int32_t base)
{
    return _mm256_set1_epi32(base);
}

/* The nearest even integers less base, in order, with saturation. NaN and numbers beyond 31 bits
 * saturate, too. */
VECTOR H h_nearest(const F x[], H base)
{
    __m256i v[2];
    for (unsigned i = 0; i < 2; i++)
#if WIDTH == 4
        v[i] = _mm256_sub_epi32(_mm256_cvtps_epi32(x[i]), base);
#else
        v[i] = _mm256_sub_epi32(
            _mm256_set_m128i(_mm256_cvtpd_epi32(x[2 * i + 1]), _mm256_cvtpd_epi32(x[2 * i])), base);
#endif
    return _mm256_permute4x64_epi64(_mm256_packs_epi32(v[0], v[1]), 0xD8);
}

/* Moves lanes up by one; the first lane gets the last one of `before`. */
VECTOR H h_shift_in(H before, H h)
{
    return _mm256_alignr_epi8(h, _mm256_permute2x128_si256(before, h, 0x21), 14);
}

/* a - b in the lanes whose bits are set for vector k of a block; a elsewhere. */
VECTOR H h_sub_at(H a, H b, uint32_t bits, unsigned k)
{
    const H lane = _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192,
                                     16384, INT16_MIN);
    const H there = _mm256_cmpeq_epi16(_mm256_and_si256(h_set1(bits >> 16 * k), lane), lane);
    return h_sub(a, _mm256_and_si256(b, there));
}

VECTOR H h_least(H a, H b)
{
    return _mm256_min_epi16(a, b);
}

VECTOR H h_most(H a, H b)
{
    return _mm256_max_epi16(a, b);
}

/* The least lane. */
VECTOR int h_least_lane(H h)
{
    const __m128i sign = _mm_set1_epi16(INT16_MIN);
    const __m128i least = _mm_min_epi16(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1));
    return (int16_t)(_mm_extract_epi16(_mm_minpos_epu16(_mm_xor_si128(least, sign)), 0) ^ 0x8000);
}

/* Compares the upper halves if words have 8 bytes. */
VECTOR V v_least(V a, V b)
{
    return _mm256_min_epi32(a, b);
}

/* Was a word -0? (With 8 bytes: or one of the smallest below it.) */
VECTOR bool least_is_zero(V least)
{
    return m_bits(_mm256_cmpeq_epi32(least, _mm256_set1_epi32(INT32_MIN))) != 0;
}

/* The integer before the first word, whose integer is the base. */
VECTOR V last_before(T base)
{
    return f_bits(f_set1(base));
}

/* Replaces the fill value by the last other word, and rounds. The mask tells which lanes are the
 * fill value; only `valid` lanes count. */
VECTOR F half_fill_forward(V word, uint32_t valid, V fill, F inverse, V *least, V *last,
                           uint32_t *mask)
{
    const V is_fill = v_equal(word, fill);
    word = _mm256_andnot_si256(is_fill, word);
    *least = v_least(*least, word);
    *mask = m_bits(is_fill) & valid;
    return f_of_bits(v_fill_forward_on(f_bits(f_mul(f_of_bits(word), inverse)),
                                       v_signs_at(*mask | ~valid, 0), last));
}

/* ---- to planes ---- */

/* From the order of a block's bytes after packing to the order that planes_of takes. */
VECTOR __m256i deinterleaved_bytes(__m256i bytes)
{
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7));
}

/* Packs blocks, which lie one behind the other at r, up to `end`, as long as residuals are below
 * 127; returns where it stopped. */
KERNEL const uint16_t *pack_half_bytes(struct packer *packer, const uint16_t *r,
                                       const uint16_t *end)
{
    struct lengths p = lengths_begin(packer);
    for (; r < end; r += ZMPI_BLOCK) {
        const __m256i bytes =
            deinterleaved_bytes(_mm256_packs_epi16(h_load(r), h_load(r + HALVES)));
        const __m256i a = _mm256_abs_epi8(bytes);
        if (__builtin_expect(_mm256_movemask_epi8(_mm256_add_epi8(a, _mm256_set1_epi8(1))), 0))
            break;
        pack_length(&p,
                    length_of_zeros[store_eight(p.dst, avx2_planes_of(signed_bytes(bytes, a)))]);
    }
    lengths_end(&p, packer);
    return r;
}

/* The same as long as residuals are below 2^15. */
KERNEL const uint16_t *pack_half_pairs(struct packer *packer, const uint16_t *r,
                                       const uint16_t *end)
{
    struct lengths p = lengths_begin(packer);
    for (; r < end; r += ZMPI_BLOCK) {
        const __m256i w[2] = {_mm256_permute4x64_epi64(h_load(r), 0xD8),
                              _mm256_permute4x64_epi64(h_load(r + HALVES), 0xD8)};
        pack_length(&p, store_pairs(w, p.dst));
    }
    lengths_end(&p, packer);
    return r;
}

/* Packs so many blocks, which lie one behind the other, with residuals below 2^15 in magnitude; see
 * pack_differences. */
TARGET static void pack_half_blocks(struct packer *p, const uint16_t *r, size_t blocks)
{
    const uint16_t *const end = r + blocks * ZMPI_BLOCK;
    while (r < end) {
        if (p->last == 0) {
            const uint16_t *const first = r;
            r = pack_half_bytes(p, r, end);
            if (r == end)
                return;
            p->run = r > first || !p->run ? LONG_RUN : LONGEST_RUN;
            p->last = p->run;
        }
        const size_t left = (size_t)(end - r) / ZMPI_BLOCK, n = left < p->last ? left : p->last;
        r = pack_half_pairs(p, r, r + n * ZMPI_BLOCK);
        p->last -= (unsigned)n;
    }
}

/* Packs, and prefetches the memory that the next planes go to. */
TARGET static void pack16(struct packer *p, const uint16_t *r, size_t blocks)
{
    const unsigned char *const begin = p->dst;
    pack_half_blocks(p, r, blocks);
    prefetch_output(begin, p->dst, OUTPUT_AHEAD_16);
}

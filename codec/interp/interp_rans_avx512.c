/* interp_rans_avx512.c - symbols of encoder 3 (format.md 1.5), one of each lane at a time. */
#ifdef __x86_64__
#include <immintrin.h> /* the tests' own, where they emulate AVX-512 */

#include "interp/interp_work.h"

#define TARGET __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl,popcnt")))

enum { LANES = 16, WORDS = 2 * LANES /* bytes */, PRECISION = ZMPI_INTERP_PRECISION };

/* Contexts and symbols are read and written in whole vectors: both rows have 16 bytes behind. */
TARGET size_t zmpi_avx512_interp_symbols(struct unrans *in, const unsigned char *context,
                                         unsigned char *symbol, size_t n, bool *escapes)
{
    const __m512i within = _mm512_set1_epi32((1 << PRECISION) - 1), one = _mm512_set1_epi32(1);
    const __m512i table0 = _mm512_loadu_si512(in->table);
    const __m512i table1 = _mm512_loadu_si512(in->table + LANES);
    const __m512i above = _mm512_set1_epi32(-0x10000); /* any such bit: at least 2^16 */
    const __m512i to_128 = _mm512_set1_epi32(128 - ZMPI_INTERP_ESCAPES);
    const unsigned char *at = in->at;
    __m512i x = _mm512_loadu_si512(in->state);
    unsigned escaped = 0;
    size_t i = 0;
    if (in->mask != LANES - 1)
        return 0;
    for (; i < n && in->end - at >= WORDS; i += LANES) {
        const __mmask16 row = (__mmask16)(n - i < LANES ? (1u << (n - i)) - 1 : 0xffff);
        const __m512i c = _mm512_cvtepu16_epi32(
            _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)(context + i))));
        const __m512i table = _mm512_permutex2var_epi32(table0, c, table1);
        const __m512i place = _mm512_add_epi32(table, _mm512_and_si512(x, within));
        const __m512i slot = _mm512_i32gather_epi32(place, in->slots, 4);
        const __m512i f = _mm512_add_epi32(_mm512_srli_epi32(slot, 20), one);
        const __m512i next =
            _mm512_add_epi32(_mm512_mullo_epi32(f, _mm512_srli_epi32(x, PRECISION)),
                             _mm512_and_si512(_mm512_srli_epi32(slot, 7), within));
        const __m512i s = _mm512_and_si512(slot, _mm512_set1_epi32(127));
        const __mmask16 low = row & ~_mm512_test_epi32_mask(next, above);
        const __m512i words = _mm512_maskz_expand_epi32(
            low, _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)at)));
        x = _mm512_mask_mov_epi32(x, row, next);
        x = _mm512_mask_or_epi32(x, low, _mm512_slli_epi32(next, 16), words);
        at += 2 * __builtin_popcount(low);
        escaped |=
            row & _mm512_test_epi32_mask(_mm512_add_epi32(s, to_128), _mm512_set1_epi32(128));
        _mm_storeu_si128((void *)(symbol + i), _mm512_cvtepi32_epi8(s));
    }
    _mm512_storeu_si512(in->state, x);
    in->at = at;
    *escapes |= escaped != 0;
    return i < n ? i : n;
}

/*
 * 16 symbols at a time, each into its own lane's state x: with its frequency f and first slot, x
 * becomes x / f * 4096 + x % f + first, and if it would outgrow 32 bits a word of it goes out
 * before. x / f is below 2^20: by floats it is right to one, and its remainder tells which way.
 */
TARGET unsigned char *zmpi_avx512_interp_put(const struct codes *c, const uint32_t *slots,
                                             unsigned char *end, uint32_t state[16])
{
    const __m512i one = _mm512_set1_epi32(1), within = _mm512_set1_epi32((1 << PRECISION) - 1);
    const uint16_t *pair = c->pair + c->count;
    __m512i x = _mm512_loadu_si512(state);
    for (size_t r = c->row_count; r-- > 0;) {
        const size_t n = c->rows[r];
        pair -= n;
        for (size_t j = (n - 1) / LANES * LANES + LANES; j > 0; j -= LANES) {
            const size_t i = j - LANES;
            const __mmask16 row = (__mmask16)(n - i < LANES ? (1u << (n - i)) - 1 : 0xffff);
            const __m512i place = _mm512_maskz_mov_epi32(
                row, _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)(pair + i))));
            const __m512i slot = _mm512_i32gather_epi32(place, slots, 4);
            const __m512i f = _mm512_add_epi32(_mm512_and_si512(slot, within), one);
            const __m512 inverse = _mm512_div_ps(_mm512_set1_ps(1), _mm512_cvtepi32_ps(f));
            const __mmask16 gives =
                row & _mm512_cmpge_epi32_mask(_mm512_srli_epi32(x, 32 - PRECISION), f);
            const unsigned count = (unsigned)__builtin_popcount(gives);
            end -= 2 * count;
            _mm256_mask_storeu_epi16(end, (__mmask16)((1u << count) - 1),
                                     _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(gives, x)));
            const __m512i y = _mm512_mask_mov_epi32(x, gives, _mm512_srli_epi32(x, 16));
            const __m512i near = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_cvtepu32_ps(y), inverse));
            const __m512i rest = _mm512_sub_epi32(y, _mm512_mullo_epi32(near, f));
            const __mmask16 less = _mm512_movepi32_mask(rest);
            const __mmask16 more = _mm512_cmpge_epi32_mask(rest, f);
            const __m512i up = _mm512_mask_sub_epi32(_mm512_mask_add_epi32(near, more, near, one),
                                                     less, near, one);
            const __m512i left =
                _mm512_mask_add_epi32(_mm512_mask_sub_epi32(rest, more, rest, f), less, rest, f);
            const __m512i next =
                _mm512_add_epi32(_mm512_slli_epi32(up, PRECISION),
                                 _mm512_add_epi32(left, _mm512_srli_epi32(slot, PRECISION)));
            x = _mm512_mask_mov_epi32(x, row, next);
        }
    }
    _mm512_storeu_si512(state, x);
    return end;
}
#endif

/*
 * avx512_filled_t.h - template: exceptions that are all one word: their list, from the masks of the
 * words that are none; and masks from such a list. After vector_exceptions_t.h.
 */

/* Sixteen blocks at a time; what is stored behind the last one is room. */
KERNEL void list_filled(struct exceptions *list, const struct shape *s, U fill)
{
    const __m512i none = _mm512_set1_epi32(-1);
    const __m128i mark = _mm_set1_epi8((char)(ZMPI_BLOCK_EXCEPTIONS | ZMPI_BLOCK_UNIFORM));
    const uint32_t *fine = list->mask;
    struct exceptions e = *list;
    if (s->count % ZMPI_BLOCK)
        e.mask[s->blocks - 1] |= UINT32_MAX << s->count % ZMPI_BLOCK;
    for (size_t b = 0; b < s->blocks; b += 16) {
        const size_t left = s->blocks - b < 16 ? s->blocks - b : 16;
        const __mmask16 blocks = (__mmask16)(0xFFFF >> (16 - left));
        const __m512i f = _mm512_loadu_si512(fine + b);
        const __mmask16 any = blocks & _mm512_cmpneq_epi32_mask(f, none);
        _mm_storeu_si128((__m128i *)(void *)e.mark, _mm_maskz_mov_epi8(any, mark));
        _mm512_storeu_si512(e.mask, _mm512_maskz_compress_epi32(any, _mm512_xor_si512(f, none)));
        e.mask += __builtin_popcount(any);
        e.mark += 16;
    }
    U *const end = e.value + (e.mask - fine);
    for (; e.value < end; e.value += LANES)
        v_store(e.value, v_set1(fill));
    e.value = end;
    e.mark = list->mark + s->blocks;
    *list = e;
}

/* Sixteen blocks at a time; what is stored behind the last one is room. */
KERNEL void spread_masks(const struct shape *s, const struct parts *p, uint32_t *mask)
{
    const unsigned char *from = p->masks;
    for (size_t b = 0; b < s->blocks; b += 16) {
        const size_t left = s->blocks - b < 16 ? s->blocks - b : 16;
        const __m512i lengths = _mm512_maskz_loadu_epi8(0xFFFFU >> (16 - left), p->lengths + b);
        const __mmask16 any = (__mmask16)_mm_movemask_epi8(_mm512_castsi512_si128(lengths));
        const unsigned n = (unsigned)__builtin_popcount(any);
        const __m512i masks = _mm512_maskz_loadu_epi32((__mmask16)_bzhi_u32(0xFFFF, n), from);
        _mm512_storeu_si512(mask + b, _mm512_maskz_expand_epi32(any, masks));
        from += 4 * n;
    }
}

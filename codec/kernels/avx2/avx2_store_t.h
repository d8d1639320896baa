/* avx2_store_t.h - template: some lanes of a vector to memory. After v_take. */

/* The first n of them. Masked stores take tens of cycles on some machines; n is mostly the same
 * from row to row. */
VECTOR void v_store_few(unsigned char *p, V v, size_t n)
{
    if (n == LANES) {
        v_store((U *)(void *)p, v);
        return;
    }
    __m128i part = _mm256_castsi256_si128(v);
    if (n * WIDTH & 16) {
        _mm_storeu_si128((__m128i *)(void *)p, part);
        part = _mm256_extracti128_si256(v, 1);
        p += 16;
    }
    if (n * WIDTH & 8) {
        _mm_storel_epi64((__m128i *)(void *)p, part);
        part = _mm_unpackhi_epi64(part, part);
        p += 8;
    }
    if (n * WIDTH & 4)
        zmpi_store32(p, (uint32_t)_mm_cvtsi128_si32(part));
}

/* Lanes from..end-1, to where they would go with the others. */
VECTOR void v_store_lanes(unsigned char *p, V v, size_t from, size_t end)
{
    v_store_few(p + from * WIDTH, from ? v_take(v, v_rotate(from)) : v, end - from);
}

/* The first n lanes; `from` words lie before `to` in its vector of memory. */
VECTOR void v_store_part(unsigned char *to, V v, size_t from, size_t n)
{
    (void)from;
    v_store_few(to, v, n);
}

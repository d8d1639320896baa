/* avx2_store_t.h - template: stores some lanes of a vector. After v_take. */

/* Stores the first n lanes. Masked stores take tens of cycles on some machines. n is mostly the
 * same from row to row, so that branches are predicted. */
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

/* Stores lanes from..end-1 where a store of the whole vector would put them. */
VECTOR void v_store_lanes(unsigned char *p, V v, size_t from, size_t end)
{
    v_store_few(p + from * WIDTH, from ? v_take(v, v_rotate(from)) : v, end - from);
}

/* Stores the first n lanes. `to` is `from` words behind the start of an aligned vector in
 * memory. */
VECTOR void v_store_part(unsigned char *to, V v, size_t from, size_t n)
{
    (void)from;
    v_store_few(to, v, n);
}

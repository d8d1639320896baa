/*
 * vector_encode_t.h - template: one chunk from words to bytes. After vector_quant_t.h;
 * SCALAR_ENCODE is the reference, for chunks shorter than a block.
 */

/* Lengths, planes and exceptions of the work's integers to `out`, behind a head (store_integers of
 * chunk_t.h). */
TARGET static size_t pack_chunk(const struct shape *s, struct zmpi_chunk_work *work, U base,
                                enum zmpi_map map, bool exceptions, unsigned char *out)
{
    const U *q = (const U *)(const void *)(work->integers + ZMPI_CHUNK_BEFORE);
    const size_t head = head_bytes(map);
    unsigned char *lengths = out + head, *dst = lengths + length_bytes(s);
    unsigned axes = sample_axes(s, q);
    zmpi_store32(dst - 4, 0); /* the padding */
    unsigned any = pack_blocks(s, work, axes, lengths, &dst);
    store_word(out + head - WIDTH, base);
    if (!any && !exceptions) {
        store_head(out, map, axes, ZMPI_CHUNK_ZERO);
        return head;
    }
    store_head(out, map, axes, exceptions ? ZMPI_CHUNK_EXCEPTIONS : 0);
    if (exceptions)
        dst = store_exceptions(s, (const T *)(const void *)work->words, work->exception, lengths,
                               dst);
    return (size_t)(dst - out);
}

/* A chunk with exceptions; 0 if there is nothing else. Its words are in the work's buffer. */
TARGET static size_t encode_masked(const struct shape *s, const struct quantizer *z,
                                   struct zmpi_chunk_work *work, unsigned char *out)
{
    U *q = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    size_t exceptions = quantize_masked(s, work->words, z, q, work->exception);
    if (exceptions == s->count)
        return 0;
    U base = q[first_quantized(work->exception)];
    hold_exceptions(s, base, q, work->exception);
    subtract_base(s->count, base, q);
    return pack_chunk(s, work, base, ZMPI_MAP_QUANTIZED, exceptions != 0, out);
}

/* Size of the chunk by map 0, or 0 if it cannot be coded so. */
TARGET static size_t encode_quantized(const struct shape *s, const struct zmpi_chunk_rule *rule,
                                      const size_t extent[3], const struct zmpi_rows *rows,
                                      struct zmpi_chunk_work *work, unsigned char *out)
{
    struct lines l = lines_of(s, rows, work);
    int level = pick_level(s, &l, rule);
    if (level < 0)
        return 0;
    struct quantizer z = quantizer_of(rule, level);
    U *q = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    U base = quantize(&z, value_of(load_word(l.at)));
    store_word(out + HEAD, bits_of(z.step));
    if (quantize_lines(&l, &z, base, q))
        return pack_chunk(s, work, base, ZMPI_MAP_QUANTIZED, false, out);
    zmpi_rows_gather(rows, extent, s->x * WIDTH, work);
    return encode_masked(s, &z, work, out);
}

/* Size of the chunk by map 1 with a shift, or 0 if no element can be coded so. The words are in the
 * work's buffer. */
TARGET static size_t encode_shifted(const struct shape *s, const struct zmpi_chunk_rule *rule,
                                    struct zmpi_chunk_work *work, unsigned char *out)
{
    const U *word = (const U *)(const void *)work->words;
    U *q = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    size_t exceptions = shift_blocks(s, rule, word, q, work->exception);
    if (exceptions == s->count)
        return 0;
    U base = q[0];
    if (exceptions) {
        base = q[first_quantized(work->exception)];
        hold_exceptions(s, base, q, work->exception);
    }
    subtract_base(s->count, base, q);
    size_t size = pack_chunk(s, work, base, ZMPI_MAP_INTEGER, exceptions != 0, out);
    out[3] = (unsigned char)rule->shift;
    return size;
}

/* By map 1. The words are in the work's buffer. */
TARGET static size_t encode_integer(const struct shape *s, bool is_float,
                                    struct zmpi_chunk_work *work, unsigned char *out)
{
    const U *word = (const U *)(const void *)work->words;
    U *q = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    U base = is_float ? ordered_view(word[0]) : word[0];
    const V b = v_set1(base);
    if (is_float)
        for (size_t i = 0; i < s->count; i += LANES)
            v_store(q + i, v_sub(v_ordered(v_load(word + i)), b));
    else
        for (size_t i = 0; i < s->count; i += LANES)
            v_store(q + i, v_sub(v_load(word + i), b));
    return pack_chunk(s, work, base, ZMPI_MAP_INTEGER, false, out);
}

TARGET size_t ENCODE(const struct zmpi_chunk_rule *rule, const size_t extent[3],
                     const struct zmpi_rows *src, unsigned char *dst, struct zmpi_chunk_work *work)
{
    const struct shape s = shape_of(extent);
    if (s.count < ZMPI_BLOCK)
        return SCALAR_ENCODE(rule, extent, src, dst, work);
    const struct zmpi_rows own = {.at = work->words};
    const bool narrow = s.x < LANES;
    size_t size = 0;
    if (narrow)
        zmpi_rows_gather(src, extent, s.x * WIDTH, work);
    if (rule->levels)
        size = encode_quantized(&s, rule, extent, narrow ? &own : src, work, dst);
    if (rule->shift) {
        zmpi_rows_gather(src, extent, s.x * WIDTH, work);
        size = encode_shifted(&s, rule, work, dst);
    }
    if (size == 0 || size > stored_bytes(&s)) {
        zmpi_rows_gather(src, extent, s.x * WIDTH, work);
        size = encode_integer(&s, rule->is_float, work, dst);
    }
    return size > stored_bytes(&s) ? store_words(&s, work->words, dst) : size;
}

/*
 * chunk_t.h - template: one chunk from words to bytes and back, in plain C. After fle_t.h,
 * quant_t.h, shift_t.h and layout_t.h.
 *
 * Parameter: NAME(encode) and NAME(decode), the names of the two functions.
 */

static void keep_residuals(const struct shape *s, const U *r, struct zmpi_chunk_work *work)
{
    memcpy(work->kept, r, s->count * WIDTH);
    for (size_t b = 0; b < s->blocks; b++) {
        uint32_t nonzero = 0;
        for (size_t j = 0; j < block_words(s, b); j++)
            nonzero |= (uint32_t)(r[b * ZMPI_BLOCK + j] != 0) << j;
        work->nonzero[b] = nonzero;
    }
}

/* Writes lengths, planes and exceptions of work->integers to `out`, behind a head. x: the float
 * words if there are exceptions, else NULL. Returns 0 if the chunk cannot be coded like that. */
static size_t store_integers(const struct shape *s, struct zmpi_chunk_work *work, U base,
                             enum zmpi_map map, unsigned axes, const T *x, unsigned char *out)
{
    const U *q = (const U *)(const void *)(work->integers + ZMPI_CHUNK_BEFORE);
    U *r = (U *)(void *)work->residuals;
    residuals_of(s, q, base, axes, r);
    if (work->keep)
        keep_residuals(s, r, work);

    const size_t head = head_bytes(map);
    unsigned char *lengths = out + head, *dst = lengths + length_bytes(s);
    memset(lengths, 0, length_bytes(s));
    unsigned any = 0;
    for (size_t b = 0; b < s->blocks; b++) {
        unsigned length = block_encode(r + b * ZMPI_BLOCK, block_words(s, b), dst);
        lengths[b] = (unsigned char)length;
        dst += length ? 4 * (length + 1) : 0;
        any |= length;
    }
    store_word(out + head - WIDTH, base);
    if (!any && !x) {
        store_head(out, map, axes, ZMPI_CHUNK_ZERO);
        return head;
    }
    if (x && !can_be_marked(any))
        return 0;
    store_head(out, map, axes, x ? ZMPI_CHUNK_EXCEPTIONS : 0);
    if (x)
        dst = store_exceptions(s, x, work->exception, lengths, dst);
    return (size_t)(dst - out);
}

/* Size of the chunk by map 0; 0 if it cannot be coded like that. */
static size_t encode_quantized(const struct shape *s, const struct zmpi_chunk_rule *rule,
                               struct zmpi_chunk_work *work, unsigned char *out)
{
    const T *x = (const T *)(const void *)work->words;
    U *q = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    int level = choose_level(s, x, rule);
    if (level < 0)
        return 0;
    struct quantizer z = quantizer_of(rule, level);
    size_t exceptions = quantize_blocks(s, x, &z, q, work->exception);
    if (exceptions == s->count)
        return 0;
    U base = q[0];
    if (exceptions) {
        base = q[first_quantized(work->exception)];
        fill_exceptions(s, base, q, work->exception);
    }
    store_word(out + HEAD, bits_of(z.step));
    return store_integers(s, work, base, ZMPI_MAP_QUANTIZED, axes_within(s, rule->axes),
                          exceptions ? x : NULL, out);
}

/* Size of the chunk by map 1 with a shift; 0 if it cannot be coded like that. */
static size_t encode_shifted(const struct shape *s, const struct zmpi_chunk_rule *rule,
                             struct zmpi_chunk_work *work, unsigned char *out)
{
    const T *x = (const T *)(const void *)work->words;
    const U *word = (const U *)(const void *)work->words;
    U *q = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    size_t exceptions = shift_blocks(s, rule, word, q, work->exception);
    if (exceptions == s->count)
        return 0;
    U base = q[0];
    if (exceptions) {
        base = q[first_quantized(work->exception)];
        fill_exceptions(s, base, q, work->exception);
    }
    size_t size = store_integers(s, work, base, ZMPI_MAP_INTEGER, axes_within(s, rule->axes),
                                 exceptions ? x : NULL, out);
    out[3] = (unsigned char)rule->shift;
    return size;
}

static size_t encode_integer(const struct shape *s, const struct zmpi_chunk_rule *rule,
                             struct zmpi_chunk_work *work, unsigned char *out)
{
    const U *word = (const U *)(const void *)work->words;
    U *q = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    for (size_t i = 0; i < s->count; i++)
        q[i] = rule->is_float ? ordered_view(word[i]) : word[i];
    return store_integers(s, work, q[0], ZMPI_MAP_INTEGER, axes_within(s, rule->axes), NULL, out);
}

size_t NAME(encode)(const struct zmpi_chunk_rule *rule, const size_t extent[3],
                    const struct zmpi_rows *src, unsigned char *dst, struct zmpi_chunk_work *work)
{
    struct shape s = shape_of(extent);
    size_t size = 0;
    zmpi_rows_gather(src, extent, s.x * WIDTH, work->words);
    if (rule->levels)
        size = encode_quantized(&s, rule, work, dst);
    else if (rule->shift)
        size = encode_shifted(&s, rule, work, dst);
    if (size == 0 || size > stored_bytes(&s))
        size = encode_integer(&s, rule, work, dst);
    return size > stored_bytes(&s) ? store_words(&s, work->words, dst) : size;
}

/* ---- decoding: src is untrusted ---- */

static void load_residuals(const struct shape *s, const struct parts *p, U *r)
{
    const unsigned char *src = p->planes;
    for (size_t b = 0; b < s->blocks; b++) {
        unsigned length = block_length(p->lengths[b]);
        block_decode(r + b * ZMPI_BLOCK, block_words(s, b), length, src);
        src += length ? 4 * ((size_t)length + 1) : 0;
    }
}

/* Converts integers to words, in place. */
static void finish_words(const struct shape *s, enum zmpi_map map, bool is_float, T step, U *word)
{
    if (map == ZMPI_MAP_QUANTIZED)
        for (size_t i = 0; i < s->count; i++)
            word[i] = bits_of(dequantize(step, word[i]));
    else if (is_float)
        for (size_t i = 0; i < s->count; i++)
            word[i] = ordered_view(word[i]);
}

enum zmpi_status NAME(decode)(bool is_float, const size_t extent[3], const unsigned char *src,
                              size_t size, const struct zmpi_rows *dst,
                              struct zmpi_chunk_work *work)
{
    struct shape s = shape_of(extent);
    U *word = (U *)(void *)work->words;
    struct parts p;
    enum zmpi_status status = parse_chunk(&s, is_float, src, size, &p);
    if (status)
        return status;
    if (p.map == ZMPI_MAP_STORED) {
        zmpi_copy_elements(word, p.values, s.count * WIDTH, WIDTH);
    } else {
        if (p.zero)
            memset(word, 0, s.count * WIDTH);
        else if (work->given)
            memcpy(word, work->residuals, s.count * WIDTH);
        else
            load_residuals(&s, &p, word);
        integers_of(&s, word, p.base, p.axes);
        finish_words(&s, p.map, is_float, p.step, word);
        if (p.shift)
            unshift_words(s.count, p.shift, word);
        if (p.masks != p.values)
            load_exceptions(&s, &p, word);
    }
    zmpi_rows_scatter(dst, extent, s.x * WIDTH, work->words, memcpy);
    return ZMPI_OK;
}

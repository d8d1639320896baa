/*
 * vector_encode_t.h - template: one chunk from words to bytes. After vector_integers_t.h
 * and, where an instruction set has them, vector_integers16_t.h;
 * SCALAR(encode) is the reference, for chunks shorter than a block.
 */

/* A chunk by map 0 or 1 while it is written: head, lengths, planes. */
struct output {
    unsigned char *begin, *lengths;
    struct packer packer;
};

static inline struct output output_begin(const struct shape *s, enum zmpi_map map,
                                         struct zmpi_chunk_work *work, unsigned char *out)
{
    U *keep = work->keep ? (U *)(void *)work->kept : NULL;
    unsigned char *lengths = out + head_bytes(map), *planes = lengths + length_bytes(s);
    zmpi_store32(planes - 4, 0); /* the padding */
    return (struct output){
        .begin = out,
        .lengths = lengths,
        .packer = {
            .lengths = lengths, .dst = planes, .any = 0, .keep = keep, .nonzero = work->nonzero}};
}

/* exceptions: their lists, if there are any. Returns the size; 0 if the chunk cannot be coded like
 * that. */
TARGET static size_t output_end(const struct shape *s, const struct output *o, enum zmpi_map map,
                                unsigned axes, U base, const struct exceptions *exceptions,
                                const struct zmpi_chunk_work *work)
{
    unsigned char *end = o->packer.dst;
    store_word(o->lengths - WIDTH, base);
    if (!o->packer.any && !exceptions) {
        store_head(o->begin, map, axes, ZMPI_CHUNK_ZERO);
        return head_bytes(map);
    }
    if (exceptions && !can_be_marked(o->packer.any))
        return 0;
    store_head(o->begin, map, axes, exceptions ? ZMPI_CHUNK_EXCEPTIONS : 0);
    if (exceptions)
        end = exceptions_store(s, exceptions, work, o->lengths, end);
    return (size_t)(end - o->begin);
}

/* Lines of at least a block: the tile's own or, if these are shorter, those of a copy. */
TARGET static struct lines encoded_lines(const struct shape *s, const size_t extent[3],
                                         const struct zmpi_rows *rows, struct zmpi_chunk_work *work)
{
    const struct lines l = lines_of(s, rows);
    if (l.words >= ZMPI_BLOCK)
        return l;
    zmpi_rows_gather(rows, extent, s->x * WIDTH, work->words);
    return (struct lines){work->words, s->count, 1, 1, 0, 0};
}

/* Are all words equal? Then there are no residuals to make or to keep. */
TARGET static bool is_constant(const struct lines *l, const struct zmpi_chunk_work *work)
{
    return !work->keep && lines_equal(l, load_word(l->at));
}

/* ---- map 0 ---- */

/* Encodes in integers of 16 bits; 0 if they do not fit. first: the first word that has an integer.
 * FILLED: some words are the fill value, and there are no other exceptions. */
TARGET static size_t encode_near(const struct shape *s, const struct quantizer *z, unsigned axes,
                                 const struct zmpi_rows *rows, const struct lines *lines, T first,
                                 enum source source, struct zmpi_chunk_work *work,
                                 unsigned char *out)
{
#ifdef INTEGERS16
    const U base = quantize(z, first), fill = (U)work->fill;
    const bool sampled = work->level > 0 || source == FILLED;
    const struct tile f = {s, rows, lines, work, *z, sampled, 0, fill, base};
    if (source == FILLED) {
        work->filled = false; /* do not try again if it fails */
        if (!is_exception(z, value_of(fill), quantize(z, value_of(fill))))
            return 0;
    }
    if (!steps_finite(z))
        return 0;
    struct output o = output_begin(s, ZMPI_MAP_QUANTIZED, work, out);
    store_word(out + HEAD, bits_of(z->step));
    if (encode16(&f, axes, source, &o.packer) != DONE)
        return 0;
    if (source == QUANTIZE)
        return output_end(s, &o, ZMPI_MAP_QUANTIZED, axes, base, NULL, work);
    struct exceptions e = exceptions_begin(work);
    list_filled(&e, s, fill);
    work->filled = true;
    work->masked = exceptions_any(&e, work);
    return output_end(s, &o, ZMPI_MAP_QUANTIZED, axes, base, work->masked ? &e : NULL, work);
#else
    (void)s, (void)z, (void)axes, (void)rows, (void)lines, (void)first, (void)source, (void)work,
        (void)out;
    return 0;
#endif
}

/* Encodes with any exceptions. */
TARGET static size_t encode_masked(const struct shape *s, const struct quantizer *z, unsigned axes,
                                   const struct zmpi_rows *rows, const struct lines *lines, T first,
                                   struct zmpi_chunk_work *work, unsigned char *out)
{
    const U base = quantize(z, first);
    const struct tile f = {s, rows, lines, work, *z, true, 0, 0, base};
    struct output o = output_begin(s, ZMPI_MAP_QUANTIZED, work, out);
    store_word(out + HEAD, bits_of(z->step));
    word_encode_MASKED(&f, axes, &o.packer);
    struct exceptions e = exceptions_begin(work);
    list_exceptions(&e, s, lines, work);
    work->masked = exceptions_any(&e, work);
    work->filled = work->masked && exceptions_equal(&e, work);
    work->fill = load_word(work->ahead);
    return output_end(s, &o, ZMPI_MAP_QUANTIZED, axes, base, work->masked ? &e : NULL, work);
}

/* Encodes a chunk that is_constant(); its first block tells the level. 0 if all words are
 * exceptions. */
TARGET static size_t encode_constant(const struct shape *s, const struct zmpi_chunk_rule *rule,
                                     unsigned axes, const struct lines *l,
                                     struct zmpi_chunk_work *work, unsigned char *out)
{
    const struct shape block = shape_of((const size_t[]){1, 1, ZMPI_BLOCK});
    const struct lines words = {l->at, ZMPI_BLOCK, 1, 1, 0, 0};
    const T word = value_of(load_word(l->at));
    const int level = pick_level(&block, &words, rule);
    if (level < 0)
        return 0;
    const struct quantizer z = quantizer_of(rule, level);
    const U base = quantize(&z, word);
    if (is_exception(&z, word, base))
        return 0;
    const struct output o = output_begin(s, ZMPI_MAP_QUANTIZED, work, out);
    store_word(out + HEAD, bits_of(z.step));
    return output_end(s, &o, ZMPI_MAP_QUANTIZED, axes, base, NULL, work);
}

/* All words fit this level except one value that fits no level. Would choose_level choose this
 * level? word: one that fits. */
TARGET static bool is_level(const struct shape *s, const struct lines *l,
                            const struct zmpi_chunk_rule *rule, int level, T word)
{
    for (int i = 1; i < rule->levels; i++)
        if (rule->level[i - 1].limit > rule->level[i].limit)
            return false;
    const size_t all = sample_count(s) * ZMPI_BLOCK; /* or fewer */
    if (level && !more_between(s, l, (T)rule->level[level - 1].limit, (T)rule->level[level].limit,
                               all >> (level == 1 ? 9 : 5)))
        return false;
    return finest_level(l, rule, level, word) == level;
}

/* Encodes with this level and this value as the only exception; 0 if the chunk does not allow
 * that. */
TARGET static size_t encode_filled_again(const struct shape *s, const struct zmpi_chunk_rule *rule,
                                         int level, T fill, unsigned axes,
                                         const struct zmpi_rows *rows, const struct lines *l,
                                         struct zmpi_chunk_work *work, unsigned char *out)
{
    const struct quantizer z = quantizer_of(rule, level);
    T first;
    if (!(FABS(fill) <= (T)rule->level[0].limit) &&
        FABS(fill) <= (T)rule->level[rule->levels - 1].limit) /* some levels fit it */
        return 0;
    if (!find_quantized(l, z.limit, &first) || !is_level(s, l, rule, level, first))
        return 0;
    return encode_near(s, &z, axes, rows, l, first, FILLED, work, out);
}

/*
 * Size of the chunk by map 0; 0 if it cannot be coded like that.
 *
 * It tries the level of the chunk before first: most often that level is right. If the chunk before
 * had no exceptions, it first assumes none. If all of its exceptions had one value, it assumes the
 * same value.
 */
TARGET static size_t encode_quantized(const struct shape *s, const struct zmpi_chunk_rule *rule,
                                      const size_t extent[3], const struct zmpi_rows *rows,
                                      struct zmpi_chunk_work *work, unsigned char *out)
{
    const unsigned axes = axes_within(s, rule->axes);
    const struct lines l = encoded_lines(s, extent, rows, work);
    const int before = work->level < rule->levels ? work->level : -1;
    const T word = value_of(load_word(l.at));
    struct quantizer z;
    size_t size = 0;
    int tried = -1;
    if (is_constant(&l, work))
        return encode_constant(s, rule, axes, &l, work, out);
    if (!work->masked && before >= 0 && is_level(s, &l, rule, before, word)) {
        tried = before;
        z = quantizer_of(rule, tried);
        size = encode_near(s, &z, axes, rows, &l, word, QUANTIZE, work, out);
        if (size)
            return size;
    }
    if ((work->masked ? before : tried) >= 0 && work->filled)
        size = encode_filled_again(s, rule, before, value_of((U)work->fill), axes, rows, &l, work,
                                   out);
    if (size)
        return size;
    const int level = pick_level(s, &l, rule);
    if (level >= 0 || !work->masked)
        work->level = level == tried ? -1 : level;
    if (level < 0)
        return 0;
    z = quantizer_of(rule, level);
    if (level != tried && !work->masked)
        size = encode_near(s, &z, axes, rows, &l, word, QUANTIZE, work, out);
    if (size)
        return size;
    if (!steps_finite(&z)) /* steps are not finite, or nearly so: rare */
        return SCALAR(encode)(rule, extent, rows, out, work);
    T first;
    if (!find_quantized(&l, z.limit, &first))
        return 0;
    if (work->filled)
        size = encode_near(s, &z, axes, rows, &l, first, FILLED, work, out);
    return size ? size : encode_masked(s, &z, axes, rows, &l, first, work, out);
}

/* ---- map 1 ---- */

/* Encodes with a shift, in several passes; 0 if the chunk cannot be coded like that. */
TARGET static size_t encode_shifted(const struct shape *s, const struct zmpi_chunk_rule *rule,
                                    const size_t extent[3], const struct zmpi_rows *rows,
                                    struct zmpi_chunk_work *work, unsigned char *out)
{
    const unsigned axes = axes_within(s, rule->axes);
    U *q = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    zmpi_rows_gather(rows, extent, s->x * WIDTH, work->words);
    const U *word = (const U *)(const void *)work->words;
    const struct lines words = {work->words, s->count, 1, 1, 0, 0};
    size_t exceptions = shift_blocks(s, rule, word, q, work->exception);
    if (exceptions == s->count)
        return 0;
    U base = q[0];
    struct exceptions list = exceptions_begin(work);
    if (exceptions) {
        base = q[first_quantized(work->exception)];
        fill_exceptions(s, base, q, work->exception);
        list_exceptions(&list, s, &words, work);
    }
    for (size_t i = 0; i < s->count; i++)
        q[i] -= base;
    struct output o = output_begin(s, ZMPI_MAP_INTEGER, work, out);
    struct word_residuals r = {q, s->row, s->plane, work->edges.left, work->edges.above, v_set1(0)};
    find_edges(s, axes, &work->edges);
    word_encode_blocks(s, &r, axes, 0, s->blocks, &o.packer);
    size_t size = output_end(s, &o, ZMPI_MAP_INTEGER, axes, base, exceptions ? &list : NULL, work);
    out[3] = (unsigned char)rule->shift;
    return size;
}

TARGET static size_t encode_integer(const struct shape *s, const struct zmpi_chunk_rule *rule,
                                    const size_t extent[3], const struct zmpi_rows *rows,
                                    struct zmpi_chunk_work *work, unsigned char *out)
{
    const unsigned axes = axes_within(s, rule->axes);
    const U first = load_word(rows->at), base = rule->is_float ? ordered_view(first) : first;
    const struct lines l = encoded_lines(s, extent, rows, work);
    struct output o = output_begin(s, ZMPI_MAP_INTEGER, work, out);
    const struct tile f = {.s = s,
                           .rows = rows,
                           .lines = &l,
                           .work = work,
                           .flip = rule->is_float ? SIGN_BIT - 1 : 0,
                           .base = base};
    if (!is_constant(&l, work))
        word_encode_WORDS(&f, axes, &o.packer);
    return output_end(s, &o, ZMPI_MAP_INTEGER, axes, base, NULL, work);
}

TARGET size_t NAME(encode)(const struct zmpi_chunk_rule *rule, const size_t extent[3],
                           const struct zmpi_rows *src, unsigned char *dst,
                           struct zmpi_chunk_work *work)
{
    const struct shape s = shape_of(extent);
    if (s.count < ZMPI_BLOCK)
        return SCALAR(encode)(rule, extent, src, dst, work);
    size_t size = 0;
    if (rule->levels)
        size = encode_quantized(&s, rule, extent, src, work, dst);
    else if (rule->shift)
        size = encode_shifted(&s, rule, extent, src, work, dst);
    if (size == 0 || size > stored_bytes(&s))
        size = encode_integer(&s, rule, extent, src, work, dst);
    if (size <= stored_bytes(&s))
        return size;
    store_head(dst, ZMPI_MAP_STORED, 0, 0);
    zmpi_rows_gather(src, extent, s.x * WIDTH, dst + HEAD);
    return stored_bytes(&s);
}

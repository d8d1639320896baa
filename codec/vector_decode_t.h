/*
 * vector_decode_t.h - template: one chunk from bytes to words. After vector_planes_t.h or
 * vector_short_t.h; SCALAR_DECODE is the reference, for chunks shorter than a block.
 */

KERNEL void decode_quantized(const struct job *j, enum rows rows)
{
    decode_rows(j, QUANTIZED, rows);
}

KERNEL void decode_ordered(const struct job *j, enum rows rows)
{
    decode_rows(j, ORDERED, rows);
}

/* Rows that need not be told apart, because they lie without gaps and no sum begins or ends with
 * one, are one row. */
static inline struct shape join_rows(const struct shape *s, const struct zmpi_rows *dst,
                                     unsigned axes)
{
    const bool rows = s->y == 1 || dst->row == s->row * WIDTH;
    const bool planes = rows && (s->z == 1 || dst->plane == s->plane * WIDTH);
    if (planes && !(axes & ~(unsigned)ZMPI_AXIS_X))
        return shape_of((const size_t[]){1, 1, s->count});
    return rows && !(axes & ~(unsigned)ZMPI_AXIS_Z) ? shape_of((const size_t[]){s->z, 1, s->plane})
                                                    : *s;
}

/* whole: there are no gaps. */
static inline enum rows rows_of(const struct shape *s, unsigned axes, bool aligned, bool whole)
{
    if (aligned)
        return ALIGNED;
    if (whole && (s->row < LANES || axes <= ZMPI_AXIS_X || axes == ZMPI_AXIS_Z))
        return NARROW;
    return s->row < LANES ? PLANES : LOOSE;
}

/* Every integer is the base: all words are the same. The last ones may lie behind the chunk's. */
KERNEL void decode_zero(const struct job *j)
{
    const U word = j->p->map == ZMPI_MAP_QUANTIZED ? bits_of(dequantize(j->p->step, j->p->base))
                   : j->flip                       ? ordered_view(j->p->base)
                                                   : j->p->base;
    U *const words = (U *)(void *)j->work->words;
    const size_t count = j->s->count;
    const V v = v_set1(word);
    for (size_t i = 0; i < count; i += LANES)
        v_store(words + i, v);
}

TARGET enum zmpi_status DECODE(bool is_float, const size_t extent[3], const unsigned char *src,
                               size_t size, const struct zmpi_rows *dst,
                               struct zmpi_chunk_work *work)
{
    const struct shape s = shape_of(extent);
    if (s.count < ZMPI_BLOCK)
        return SCALAR_DECODE(is_float, extent, src, size, dst, work);
    struct parts p;
    enum zmpi_status status = parse_chunk(&s, is_float, src, size, &p);
    if (status)
        return status;
    integers_shift(&s, &p, work);
    const bool stored = p.map == ZMPI_MAP_STORED, exceptions = !stored && p.masks != p.values;
    const struct zmpi_rows words = {
        .at = work->words, .row = s.row * WIDTH, .plane = s.plane * WIDTH};
    const struct shape there = join_rows(&s, dst, p.axes), here = join_rows(&s, &words, p.axes);
    const bool blocks = there.row % ZMPI_BLOCK == 0, one = there.row == there.count;
    const struct shape runs = join_rows(&s, dst, 0);
    const size_t where =
        (uintptr_t)dst->at | (there.y > 1 ? dst->row : 0) | (there.z > 1 ? dst->plane : 0);
    const bool gaps = there.row < LANES && there.y > 1 && dst->row != s.row * WIDTH;
    const bool direct = !stored && !p.zero && !p.shift && !gaps &&
                        (dst->stream ? where % WIDTH == 0 : blocks || !one);
    struct job j = {.s = direct ? &there : &here,
                    .p = &p,
                    .dst = direct ? dst : &words,
                    .work = work,
                    .way = !direct || !dst->stream     ? PLAIN
                           : blocks && where % 64 == 0 ? LINES
                                                       : SEAM,
                    .run = runs.row * WIDTH,
                    .step = runs.y > 1 ? dst->row : dst->plane,
                    .flip = is_float ? SIGN_BIT - 1 : 0};
    /* The last block of an only row may be written whole, behind the words. */
    const bool aligned = j.s->row % ZMPI_BLOCK == 0 || (!direct && here.row == here.count);
    const enum rows rows = rows_of(j.s, p.axes, aligned, !direct || runs.row == runs.count);
#ifdef DECODE_HALVED
    if (p.map == ZMPI_MAP_QUANTIZED && !p.zero) {
        if (exceptions)
            j.patch = patch_of(&s, &p, work);
        if (DECODE_HALVED(&j)) {
            if (!direct)
                zmpi_rows_scatter(dst, extent, s.x * WIDTH, work->words,
                                  dst->stream ? stream_bytes : memcpy);
            return ZMPI_OK;
        }
        j.patch.masks = NULL;
    }
#endif
    if (exceptions && !p.shift && (rows == ALIGNED || rows == NARROW))
        j.exceptions = replacer_of(&p);
    else if (exceptions && !p.shift)
        j.patch = patch_of(&s, &p, work);
    if (p.zero)
        decode_zero(&j);
    else if (p.map == ZMPI_MAP_QUANTIZED)
        decode_quantized(&j, rows);
    else if (!stored)
        decode_ordered(&j, rows);
    if (p.shift)
        words_unshift(&s, &p, (U *)(void *)work->words);
    if (exceptions && p.shift)
        replace_words(&s, &p, (U *)(void *)work->words);
    if (!direct)
        zmpi_rows_scatter(dst, extent, s.x * WIDTH, stored ? p.values : work->words,
                          dst->stream ? stream_bytes : memcpy);
    return ZMPI_OK;
}

/*
 * vector_decode_t.h - template: one chunk from bytes to words: blocks are unpacked, summed along
 * the axes, converted and stored where they belong while they are in registers. After
 * vector_unpack_t.h and vector_narrow_t.h; SCALAR_DECODE is the reference, for chunks shorter than
 * a block.
 *
 * parse_chunk has checked everything before this begins.
 */

/* What is added to the sums along x: those of the row above, in its plane, and the integers of the
 * row one plane before; and what is kept for the rows to come. The base is in the first of these
 * that there is. */
struct sums {
    const U *above, *before;
    U *keep_y, *keep_z;
    V base, carry;
    F step;
    V flip;
    struct patch patch;
};

enum conversion { QUANTIZED, ORDERED };

VECTOR V convert(const struct sums *s, enum conversion c, V v)
{
    return c == QUANTIZED ? f_bits(f_mul(f_of_integers(v), s->step)) : v_ordered(v, s->flip);
}

/* Vector i of a row: from sums along x to words. */
VECTOR V restore(const struct sums *s, size_t i, unsigned axes, enum conversion c, V v)
{
    if (axes & ZMPI_AXIS_Y) {
        v = v_add(v, v_load(s->above + i));
        v_store(s->keep_y + i, v);
    }
    if (axes & ZMPI_AXIS_Z) {
        v = v_add(v, v_load(s->before + i));
        v_store(s->keep_z + i, v);
    }
    if (!axes)
        v = v_add(v, s->base);
    return convert(s, c, v);
}

/* How words are stored: into the caches; past them in whole lines, or in what a seam makes. */
enum way { PLAIN, LINES, SEAM };

/* A block. */
VECTOR void put_block(const V r[VECTORS], enum way way, struct seam *m, unsigned char *dst)
{
    for (unsigned k = 0; k < VECTORS; k++) {
        unsigned char *to = dst + k * LANES * WIDTH;
        if (way == SEAM)
            seam_put(m, r[k]);
        else if (way == LINES)
            v_stream(to, r[k]);
        else
            v_store((U *)(void *)to, r[k]);
    }
}

/* Sums along x go on from block to block. */
VECTOR void carry_on(struct sums *s, V r[VECTORS])
{
    for (unsigned k = 0; k < VECTORS; k++)
        r[k] = v_add(r[k], s->carry);
    s->carry = v_last(r[VECTORS - 1]);
}

/* A row that begins with a block. Writes whole blocks. */
VECTOR void restore_blocks(struct sums *s, struct unpacker *u, struct replacer *e, size_t words,
                           unsigned axes, enum conversion c, enum way way, struct seam *m,
                           unsigned char *dst)
{
    for (size_t i = 0; i < words; i += ZMPI_BLOCK) {
        V r[VECTORS];
        unpack_next(u, axes, r);
        if (axes & ZMPI_AXIS_X)
            carry_on(s, r);
        for (unsigned k = 0; k < VECTORS; k++)
            r[k] = restore(s, i + k * LANES, axes, c, r[k]);
        block_order(r);
        if (e->lengths)
            replace_next(e, r);
        put_block(r, way, m, dst + i * WIDTH);
    }
}

/* A row of sums along x, which begin behind `off`; its first word is number `at` of the chunk. */
struct row {
    const U *x;
    V off;
    size_t at, words;
};

/* The same for vector i of such a row. */
VECTOR V restore_at(const struct sums *s, const struct row *r, size_t i, unsigned axes,
                    enum conversion c)
{
    V v = v_load(r->x + i);
    v = restore(s, i, axes, c, axes & ZMPI_AXIS_X && axes != ZMPI_AXIS_X ? v_sub(v, r->off) : v);
    return s->patch.masks ? patch_at(&s->patch, r->at + i, v) : v;
}

/* A row of at least a vector. exact: nothing may be written behind it. */
VECTOR void restore_row(struct sums *s, const struct row *r, unsigned axes, enum conversion c,
                        unsigned char *dst, bool exact)
{
    size_t i = 0;
    for (; i + LANES <= r->words; i += LANES)
        v_store((U *)(void *)(dst + i * WIDTH), restore_at(s, r, i, axes, c));
    if (i == r->words)
        return;
    V v = restore_at(s, r, i, axes, c);
    if (exact)
        v_store_lanes(dst + i * WIDTH, v, 0, r->words - i);
    else
        v_store((U *)(void *)(dst + i * WIDTH), v);
}

/* The same to a seam. */
VECTOR void restore_row_seam(struct sums *s, const struct row *r, unsigned axes, enum conversion c,
                             struct seam *m)
{
    size_t i = 0;
    for (; i + LANES <= r->words; i += LANES)
        seam_put(m, restore_at(s, r, i, axes, c));
    if (i < r->words)
        seam_put_few(m, restore_at(s, r, i, axes, c), r->words - i);
}

/* Residuals, or with the x axis their sums along the whole chunk, some way ahead of the rows. */
struct supply {
    struct unpacker u;
    U *x;
    size_t begin, have; /* the elements in x; both begin blocks */
    V carry;
};

/* AHEAD: what was just stored is slow to load in another alignment; but rows are to be summed while
 * blocks are unpacked. KEPT: it shares the cache with the rest. */
enum { AHEAD = 2 * ZMPI_BLOCK, KEPT = 2048 };

/* Elements from `at` to end-1, and some more. */
VECTOR void supply_until(struct supply *p, size_t at, size_t end, size_t count, unsigned axes)
{
    if (p->have - p->begin >= KEPT) {
        const size_t begin = at / ZMPI_BLOCK * ZMPI_BLOCK;
        for (size_t i = begin; i < p->have; i += LANES)
            v_store(p->x + (i - begin), v_load(p->x + (i - p->begin)));
        p->begin = begin;
    }
    for (end = end + AHEAD < count ? end + AHEAD : count; p->have < end; p->have += ZMPI_BLOCK) {
        V r[VECTORS];
        unpack_next(&p->u, axes, r);
        block_order(r);
        for (unsigned k = 0; k < VECTORS; k++) {
            if (axes & ZMPI_AXIS_X)
                r[k] = v_add(r[k], p->carry);
            v_store(p->x + (p->have - p->begin) + k * LANES, r[k]);
        }
        if (axes & ZMPI_AXIS_X)
            p->carry = v_last(r[VECTORS - 1]);
    }
}

/* ---- a chunk ---- */

struct job {
    const struct shape *s;
    const struct parts *p;
    const struct zmpi_rows *dst;
    struct zmpi_chunk_work *work;
    enum way way;
    size_t run, step; /* SEAM: bytes without gaps, and from one such run to the next */
    U flip;
    struct replacer exceptions; /* of aligned rows */
    struct patch patch;         /* of others */
};

VECTOR struct seam job_seam(const struct job *j)
{
    return j->way == SEAM ? seam_begin(j->dst->at, j->run, j->step) : (struct seam){0};
}

VECTOR struct sums sums_begin(const struct job *j, size_t row, unsigned axes)
{
    struct sums n = {.base = v_set1(j->p->base),
                     .carry = v_set1(j->p->base),
                     .step = f_set1(j->p->step),
                     .flip = v_set1(j->flip),
                     .patch = j->patch};
    U *bases = (U *)(void *)j->work->bases;
    if (axes & (ZMPI_AXIS_Y | ZMPI_AXIS_Z))
        for (size_t i = 0; i < row; i += LANES)
            v_store(bases + i, n.base);
    n.keep_y = (U *)(void *)j->work->sums;
    return n;
}

/* All rows; no block crosses the end of one. `axes` and c are constants to the compiler. */
VECTOR void decode_aligned(const struct job *j, unsigned axes, enum conversion c)
{
    const struct shape *s = j->s;
    const U *zeros = (const U *)(const void *)j->work->integers;
    const U *bases = (const U *)(const void *)j->work->bases;
    U *q = (U *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE);
    unsigned char tail[TAIL];
    struct unpacker u;
    struct replacer e = j->exceptions;
    struct seam m = job_seam(j);
    struct sums n = sums_begin(j, s->row, axes);
    unpacker_begin(&u, j->p, j->work, tail);
    for (size_t z = 0; z < s->z; z++)
        for (size_t y = 0; y < s->y; y++) {
            unsigned char *to = j->dst->at + z * j->dst->plane + y * j->dst->row;
            n.above = y ? n.keep_y : axes & ZMPI_AXIS_Z ? zeros : bases;
            n.keep_z = q + y * s->row;
            n.before = z ? n.keep_z : bases;
            if (axes != ZMPI_AXIS_X)
                n.carry = v_set1(0);
            if (j->way == SEAM)
                seam_at(&m, to);
            restore_blocks(&n, &u, &e, s->row, axes, c, j->way, &m, to);
        }
    seam_end(&m);
}

/* Rows of at least a vector. Sums along x run on across their ends, in blocks, into a buffer; from
 * there the rows take them, less what the sum was where they begin. */
VECTOR void decode_loose(const struct job *j, unsigned axes, enum conversion c)
{
    const struct shape *s = j->s;
    const struct zmpi_rows *dst = j->dst;
    const U *zeros = (const U *)(const void *)j->work->integers;
    const U *bases = (const U *)(const void *)j->work->bases;
    U *q = (U *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE);
    /* What is kept of a plane: rows in whole vectors. One plane is never looked at again. */
    const size_t padded = (s->row + LANES - 1) / LANES * LANES;
    const size_t step = s->z == 1 ? 0 : padded;
    unsigned char tail[TAIL];
    struct sums n = sums_begin(j, s->row, axes);
    struct supply p = {.x = (U *)(void *)j->work->ahead, .carry = v_set1(0)};
    struct seam m = job_seam(j);
    V off = v_set1(0);
    if (axes == ZMPI_AXIS_X)
        p.carry = n.base;
    unpacker_begin(&p.u, j->p, j->work, tail);
    for (size_t z = 0, at = 0; z < s->z; z++)
        for (size_t y = 0; y < s->y; y++, at += s->row) {
            /* Behind a row lie others that are yet to come, or what is not the tile's. */
            const bool exact = dst->row != s->row * WIDTH || (s->y - y) * s->row < padded;
            if (p.have < at + s->row)
                supply_until(&p, at, at + s->row, s->count, axes);
            n.above = y ? n.keep_y : axes & ZMPI_AXIS_Z ? zeros : bases;
            n.keep_z = q + y * step;
            n.before = z ? n.keep_z : bases;
            const struct row r = {p.x + (at - p.begin), off, at, s->row};
            unsigned char *to = dst->at + z * dst->plane + y * dst->row;
            if (j->way == SEAM) {
                seam_at(&m, to);
                restore_row_seam(&n, &r, axes, c, &m);
            } else {
                restore_row(&n, &r, axes, c, to, exact);
            }
            off = v_set1(r.x[s->row - 1]);
        }
    seam_end(&m);
}

/* The first `words` of a block. */
VECTOR void put_words(const V r[VECTORS], size_t words, enum way way, struct seam *m,
                      unsigned char *dst)
{
    for (unsigned k = 0; k < VECTORS && words > k * LANES; k++) {
        const size_t left = words - k * LANES, n = left < LANES ? left : LANES;
        if (way == SEAM)
            seam_put_few(m, r[k], n);
        else
            v_store_lanes(dst + k * LANES * WIDTH, r[k], 0, n);
    }
}

/* Blocks that are unpacked before they are summed: both at once want too many registers. */
enum { PIECE = 8 };

VECTOR void unpack_piece(struct unpacker *u, V *carry, unsigned axes, size_t blocks, U *to)
{
    for (size_t b = 0; b < blocks && b < PIECE; b++, to += ZMPI_BLOCK) {
        V r[VECTORS];
        unpack_next(u, axes, r);
        block_order(r);
        for (unsigned k = 0; k < VECTORS; k++)
            v_store(to + k * LANES, axes & ZMPI_AXIS_X ? v_add(r[k], *carry) : r[k]);
        if (axes & ZMPI_AXIS_X)
            *carry = v_add(v_last(r[VECTORS - 1]), *carry);
    }
}

/* A chunk without gaps, of rows that are shorter than a vector, or of which no sum along x or y
 * begins or ends with one. */
VECTOR void decode_narrow(const struct job *j, unsigned axes, enum conversion c)
{
    const struct shape *s = j->s;
    U *ahead = (U *)(void *)j->work->ahead;
    unsigned char *to = j->dst->at, tail[TAIL];
    struct unpacker u;
    struct replacer e = j->exceptions;
    struct seam m = job_seam(j);
    struct sums n = sums_begin(j, 0, 0);
    struct places places;
    places_of(s, &places);
    struct narrow rows;
    narrow_begin(&rows, s, axes, n.base, &places,
                 (U *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE));
    unpacker_begin(&u, j->p, j->work, tail);
    if (axes != ZMPI_AXIS_X)
        n.carry = v_set1(0);
    if (j->way == SEAM)
        seam_at(&m, to);
    for (size_t b = 0; b < s->blocks; b++, to += ZMPI_BLOCK * WIDTH) {
        V r[VECTORS];
        const U *x = ahead + b % PIECE * ZMPI_BLOCK;
        if (b % PIECE == 0)
            unpack_piece(&u, &n.carry, axes, s->blocks - b, ahead);
        for (unsigned k = 0; k < VECTORS; k++)
            r[k] = convert(&n, c, narrow_sum_planes(&rows, axes, v_load(x + k * LANES)));
        if (e.lengths)
            replace_next(&e, r);
        if ((b + 1) * ZMPI_BLOCK <= s->count)
            put_block(r, j->way, &m, to);
        else
            put_words(r, s->count - b * ZMPI_BLOCK, j->way, &m, to);
    }
    seam_end(&m);
}

/* The next vector of a plane, to words. before, keep: integers, of the plane before and this one.
 */
VECTOR V restore_plane(const struct sums *s, struct narrow *rows, unsigned axes, enum conversion c,
                       const U *before, U *keep, V v)
{
    v = narrow_sum(rows, axes, v);
    if (axes & ZMPI_AXIS_Z) {
        v = v_add(v, v_load(before));
        v_store(keep, v);
    }
    return convert(s, c, v_add(v, s->base));
}

/* Rows that are shorter than a vector and have no gaps, in planes with gaps between them: each
 * begins with a vector. */
VECTOR void decode_planes(const struct job *j, unsigned axes, enum conversion c)
{
    const struct shape *s = j->s;
    U *kept = (U *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE);
    const U *none = (const U *)(const void *)j->work->integers;
    struct supply p = {.x = (U *)(void *)j->work->ahead, .carry = v_set1(0)};
    struct sums n = sums_begin(j, 0, 0);
    struct seam m = job_seam(j);
    struct places places;
    unsigned char tail[TAIL];
    V off = v_set1(0);
    places_of(s, &places);
    struct narrow rows;
    narrow_begin(&rows, s, axes & ~(unsigned)ZMPI_AXIS_Z, v_set1(0), &places, NULL);
    unpacker_begin(&p.u, j->p, j->work, tail);
    for (size_t z = 0, at = 0; z < s->z; z++) {
        unsigned char *to = j->dst->at + z * j->dst->plane;
        narrow_again(&rows, off);
        if (j->way == SEAM)
            seam_at(&m, to);
        for (size_t from = 0, words; from < s->plane; from += words, at += words) {
            words = s->plane - from < PIECE * ZMPI_BLOCK ? s->plane - from : PIECE * ZMPI_BLOCK;
            if (p.have < at + words)
                supply_until(&p, at, at + words + PIECE * ZMPI_BLOCK, s->count, axes);
            const U *x = p.x + (at - p.begin);
            const U *before = (z ? kept : none) + from;
            U *keep = kept + from;
            size_t i = 0;
            if (j->way == SEAM && !n.patch.masks)
                for (; i + LANES <= words; i += LANES)
                    seam_put(
                        &m, restore_plane(&n, &rows, axes, c, before + i, keep + i, v_load(x + i)));
            for (; i < words; i += LANES) {
                V v = restore_plane(&n, &rows, axes, c, before + i, keep + i, v_load(x + i));
                if (n.patch.masks)
                    v = patch_at(&n.patch, at + i, v);
                if (j->way == SEAM && i + LANES <= words)
                    seam_put(&m, v);
                else if (j->way == SEAM)
                    seam_put_few(&m, v, words - i);
                else if (i + LANES <= words)
                    v_store((U *)(void *)(to + (from + i) * WIDTH), v);
                else
                    v_store_lanes(to + (from + i) * WIDTH, v, 0, words - i);
            }
            off = v_set1(x[words - 1]);
        }
    }
    seam_end(&m);
}

enum rows { LOOSE, ALIGNED, NARROW, PLANES };

VECTOR void decode_rows(const struct job *j, enum conversion c, enum rows rows)
{
    switch (4 * j->p->axes + rows) {
#define CASE(axes)                                                                                 \
    case 4 * (axes) + LOOSE:                                                                       \
        decode_loose(j, axes, c);                                                                  \
        break;                                                                                     \
    case 4 * (axes) + ALIGNED:                                                                     \
        decode_aligned(j, axes, c);                                                                \
        break;                                                                                     \
    case 4 * (axes) + NARROW:                                                                      \
        decode_narrow(j, axes, c);                                                                 \
        break;                                                                                     \
    case 4 * (axes) + PLANES:                                                                      \
        decode_planes(j, axes, c);                                                                 \
        break;
        EACH_AXES(CASE)
#undef CASE
    }
}

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

/* Every integer is the base: all words are the same. */
static inline void decode_zero(const struct job *j)
{
    U word = j->p->map == ZMPI_MAP_QUANTIZED ? bits_of(dequantize(j->p->step, j->p->base))
             : j->flip                       ? ordered_view(j->p->base)
                                             : j->p->base;
    for (size_t i = 0; i < j->s->count; i++)
        store_word(j->work->words + i * WIDTH, word);
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
        unshift_words(s.count, p.shift, (U *)(void *)work->words);
    if (exceptions && p.shift)
        replace_words(&s, &p, (U *)(void *)work->words);
    if (!direct)
        zmpi_rows_scatter(dst, extent, s.x * WIDTH, stored ? p.values : work->words,
                          dst->stream ? stream_bytes : memcpy);
    return ZMPI_OK;
}

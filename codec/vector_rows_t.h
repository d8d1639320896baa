/*
 * vector_rows_t.h - template: rows of a chunk, from its blocks to words in memory: blocks are
 * unpacked, summed along the axes, converted and stored where they belong while they are in
 * registers. After vector_supply_t.h and a seam.
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

/* NEAR_MAGIC: quantized, and at the distance of MAGIC's bits. */
enum conversion { QUANTIZED, NEAR_MAGIC, ORDERED };

VECTOR V convert(const struct sums *s, enum conversion c, V v)
{
    if (c == NEAR_MAGIC)
        return f_bits(f_mul(f_sub(f_of_bits(v), f_set1((T)MAGIC)), s->step));
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

VECTOR void put_vector(V v, enum way way, struct seam *m, unsigned char *to)
{
    if (way == SEAM)
        seam_put(m, v);
    else if (way == LINES)
        v_stream(to, v);
    else
        v_store((U *)(void *)to, v);
}

/* A block. */
VECTOR void put_block(const V r[VECTORS], enum way way, struct seam *m, unsigned char *dst)
{
    for (unsigned k = 0; k < VECTORS; k++)
        put_vector(r[k], way, m, dst + k * LANES * WIDTH);
}

/* A block of sums along x, its words in order, to words, which are stored one vector after another:
 * all of them want too many registers. */
VECTOR void restore_block(const struct sums *s, size_t i, unsigned axes, enum conversion c,
                          const V r[VECTORS], enum way way, struct seam *m, unsigned char *dst)
{
    if (way == PLAIN)
        for (unsigned k = 0; k < VECTORS; k++)
            v_store((U *)(void *)(dst + k * LANES * WIDTH),
                    restore(s, i + k * LANES, axes, c, r[k]));
    else if (way == LINES)
        for (unsigned k = 0; k < VECTORS; k++)
            v_stream(dst + k * LANES * WIDTH, restore(s, i + k * LANES, axes, c, r[k]));
    else
        for (unsigned k = 0; k < VECTORS; k++)
            seam_put(m, restore(s, i + k * LANES, axes, c, r[k]));
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
        if (VECTOR_BY_VECTOR && !e->lengths) {
            restore_block(s, i, axes, c, r, way, m, dst + i * WIDTH);
            continue;
        }
        for (unsigned k = 0; k < VECTORS; k++)
            r[k] = restore(s, i + k * LANES, axes, c, r[k]);
        if (axes & ZMPI_AXIS_X)
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

enum rows { LOOSE, ALIGNED, NARROW, PLANES };

/*
 * vector_batch_t.h - template: rows of a vector or some more, as many at a time as a stage
 * holds: looking after each by itself costs as much as its words do. What is added along y goes
 * from one to the other of two rows in registers; rows of two vectors keep it there. After
 * vector_placed_t.h. (Shorter rows: vector_short_t.h.)
 */

VECTOR struct row row_behind(struct row r)
{
    r.off = v_set1(r.x[r.words - 1]);
    r.x += r.words;
    r.at += r.words;
    return r;
}

VECTOR V row_load(const struct row *r, size_t i, unsigned axes)
{
    const V v = v_load(r->x + i);
    return axes & ZMPI_AXIS_X && axes != ZMPI_AXIS_X ? v_sub(v, r->off) : v;
}

/* What restore is left with where the sums along y are made, which have the base. */
VECTOR V row_words(const struct sums *s, const struct row *r, size_t i, unsigned axes,
                   enum conversion c, bool patched, V v)
{
    const unsigned others = axes & ZMPI_AXIS_Y ? (axes & ZMPI_AXIS_Z) | ZMPI_AXIS_X : axes;
    v = restore(s, i, others, c, v);
    return patched ? patch_row(&s->patch, r->at, i, v) : v;
}

/* Rows of a plane. */
struct batch {
    struct sums s;
    struct row r; /* the first */
    size_t rows;
    size_t step, from; /* what is kept of a row lies so far behind that of the one above; of the
                        * plane before */
    unsigned char *to;
    size_t pitch;     /* bytes from row to row there */
    bool gaps, exact; /* nothing may be written behind any, or behind the last */
    V sum[2];         /* of rows of two vectors: what is above the next one */
};

/* Field by field: what was just stored in smaller pieces is slow to load. */
VECTOR struct row batch_row(const struct batch *b)
{
    return (struct row){.x = b->r.x, .off = b->r.off, .at = b->r.at, .words = b->r.words};
}

VECTOR void sums_behind(struct sums *s, size_t step, size_t from)
{
    s->above = s->keep_y;
    s->keep_z += step;
    s->before += from;
}

/* Vector i of two rows, n words; returns those of the second. gaps: of the first no more, too. */
VECTOR V restore_both(const struct sums s[2], const struct row r[2], size_t i, unsigned axes,
                      enum conversion c, bool patched, unsigned char *const to[2], size_t n,
                      bool gaps)
{
    V v = row_load(r, i, axes), w = row_load(r + 1, i, axes);
    if (axes & ZMPI_AXIS_Y) {
        v = v_add(v, v_load(s->above + i));
        w = v_add(w, v);
        v_store(s->keep_y + i, w);
    }
    v_store_few(to[0] + i * WIDTH, row_words(s, r, i, axes, c, patched, v), gaps ? n : LANES);
    w = row_words(s + 1, r + 1, i, axes, c, patched, w);
    v_store_few(to[1] + i * WIDTH, w, n);
    return w;
}

VECTOR void restore_two(const struct sums s[2], const struct row r[2], unsigned axes,
                        enum conversion c, bool patched, unsigned char *const to[2], bool exact,
                        bool gaps)
{
    const size_t words = r->words, whole = exact ? words / LANES * LANES : words;
    const V first = restore_both(s, r, 0, axes, c, patched, to, LANES, false);
    size_t i = LANES;
    for (; i < whole; i += LANES)
        restore_both(s, r, i, axes, c, patched, to, LANES, false);
    if (i < words)
        restore_both(s, r, i, axes, c, patched, to, words - i, gaps);
    v_store((U *)(void *)to[1], first); /* where the first row may have ended */
}

VECTOR void restore_rows(const struct batch *b, unsigned axes, enum conversion c, bool patched)
{
    struct sums s[2] = {b->s, b->s};
    struct row r[2] = {batch_row(b)};
    const size_t step = b->step, from = b->from, pitch = b->pitch;
    unsigned char *to[2] = {b->to, b->to + pitch};
    size_t n = b->rows;
    s[1].keep_z += step;
    s[1].before += from;
    for (; n > 1; n -= 2) {
        r[1] = row_behind(r[0]);
        restore_two(s, r, axes, c, patched, to, b->gaps || (b->exact && n == 2), b->gaps);
        r[0] = row_behind(r[1]);
        for (unsigned k = 0; k < 2; k++) {
            sums_behind(s + k, 2 * step, 2 * from);
            to[k] += 2 * pitch;
        }
    }
    if (n)
        restore_row(s, r, axes, c, to[0], b->gaps || b->exact);
}

/* The same of two vectors each. */
VECTOR void restore_pairs(struct batch *b, unsigned axes, enum conversion c, bool patched)
{
    struct sums s = b->s;
    struct row r = batch_row(b);
    V sum[2] = {b->sum[0], b->sum[1]};
    unsigned char *to = b->to;
    for (size_t n = b->rows; n; n--, to += b->pitch) {
        const bool exact = b->gaps || (b->exact && n == 1);
        for (unsigned k = 0; k < 2; k++) {
            const size_t i = k * LANES;
            V v = row_load(&r, i, axes);
            if (axes & ZMPI_AXIS_Y)
                sum[k] = v = v_add(v, sum[k]);
            v = row_words(&s, &r, i, axes, c, patched, v);
            v_store_few(to + i * WIDTH, v, k == 1 && exact ? r.words - i : LANES);
        }
        r = row_behind(r);
        sums_behind(&s, b->step, b->from);
    }
    b->sum[0] = sum[0];
    b->sum[1] = sum[1];
}

VECTOR void restore_some_rows(struct batch *b, unsigned axes, enum conversion c, bool patched)
{
    if (b->r.words > LANES && b->r.words <= 2 * LANES)
        restore_pairs(b, axes, c, patched);
    else
        restore_rows(b, axes, c, patched);
}

VECTOR void restore_batch(struct batch *b, unsigned axes, enum conversion c)
{
    if (b->s.patch.masks)
        restore_some_rows(b, axes, c, true);
    else
        restore_some_rows(b, axes, c, false);
}

/* A function for each set of axes and conversion. */
typedef void restore_batch_fn(struct batch *b);

VECTOR void decode_batches(const struct job *j, unsigned axes, restore_batch_fn *restore_these)
{
    const struct shape *s = j->s;
    const U *zeros = (const U *)(const void *)j->work->integers;
    const U *bases = (const U *)(const void *)j->work->bases;
    U *q = (U *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE);
    /* What is kept of a plane. One plane is never looked at again. */
    const size_t step = s->z == 1 ? 0 : (s->row + LANES - 1) / LANES * LANES;
    const bool gaps = s->y > 1 && j->dst->row != s->row * WIDTH;
    const size_t some = STAGE / s->row,
                 most = (gaps && j->way == SEAM) || some < 2 ? 1 : some / 2 * 2;
    unsigned char tail[TAIL];
    struct batch b = {.s = sums_begin(j, s->row, axes),
                      .r = {.off = v_set1(0), .words = s->row},
                      .step = step,
                      .pitch = gaps ? j->dst->row : s->row * WIDTH,
                      .gaps = gaps && j->way != SEAM};
    struct supply p = {.x = (U *)(void *)j->work->ahead,
                       .carry = axes == ZMPI_AXIS_X ? b.s.base : v_set1(0)};
    struct seam m = job_seam(j);
    struct stage stage;
    stage_begin(&stage, j);
    unpacker_begin(&p.u, j->p, j->work, tail);
    for (size_t z = 0; z < s->z; z++) {
        b.sum[0] = b.sum[1] = axes & ZMPI_AXIS_Z ? v_set1(0) : b.s.base;
        b.from = z ? step : 0;
        for (size_t y = 0; y < s->y; y += b.rows) {
            b.rows = s->y - y < most ? s->y - y : most;
            const size_t words = b.rows * s->row;
            if (p.have < b.r.at + words)
                supply_until(&p, b.r.at, b.r.at + words, s->count, axes);
            b.r.x = p.x + (b.r.at - p.begin);
            b.s.above = y ? b.s.keep_y : axes & ZMPI_AXIS_Z ? zeros : bases;
            b.s.keep_z = q + y * step;
            b.s.before = z ? b.s.keep_z : bases;
            b.to = j->dst->at + z * j->dst->plane + y * j->dst->row;
            if (j->way == SEAM)
                b.to = stage_row(&stage, &m, b.to, words);
            b.exact = j->way != SEAM && y + b.rows == s->y;
            restore_these(&b);
            b.r.at += words;
            b.r.off = v_set1(b.r.x[words - 1]);
        }
    }
    stage_end(&stage, &m);
}

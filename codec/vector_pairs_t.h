/*
 * vector_pairs_t.h - template: rows that take two vectors, as the numbers of a particle may: what
 * is added along y stays in registers, and several rows are looked after together. After
 * vector_placed_t.h. (Rows of one vector are faster several in a vector: vector_short_t.h.)
 */

/* A row; `sum`: those above it, and then its own. exact: nothing may be written behind it. */
VECTOR void restore_pair(const struct sums *s, const struct row *r, V sum[2], unsigned axes,
                         enum conversion c, unsigned char *to, bool exact)
{
    /* What restore is left with; the base is in the sums. */
    const unsigned others = axes & ZMPI_AXIS_Y ? (axes & ZMPI_AXIS_Z) | ZMPI_AXIS_X : axes;
    for (unsigned k = 0; k < 2; k++) {
        const size_t i = k * LANES;
        V v = v_load(r->x + i);
        if (axes & ZMPI_AXIS_X && axes != ZMPI_AXIS_X)
            v = v_sub(v, r->off);
        if (axes & ZMPI_AXIS_Y)
            sum[k] = v = v_add(v, sum[k]);
        v = restore(s, i, others, c, v);
        if (s->patch.masks)
            v = patch_at(&s->patch, r->at + i, v);
        if (k == 1 && exact)
            v_store_few(to + i * WIDTH, v, r->words - i);
        else
            v_store((U *)(void *)(to + i * WIDTH), v);
    }
}

/* n rows, r the first; returns what the next one is. What is kept of them is `step` words apart,
 * of the plane before `from`. */
VECTOR struct row restore_pairs(const struct sums *sums, struct row r, size_t n, V sum[2],
                                size_t step, size_t from, unsigned axes, enum conversion c,
                                unsigned char *to, bool exact)
{
    struct sums s = *sums;
    V both[2] = {sum[0], sum[1]};
    for (; n; n--, to += r.words * WIDTH) {
        restore_pair(&s, &r, both, axes, c, to, exact && n == 1);
        r.off = v_set1(r.x[r.words - 1]);
        r.x += r.words;
        r.at += r.words;
        s.before += from;
        s.keep_z += step;
    }
    sum[0] = both[0];
    sum[1] = both[1];
    return r;
}

VECTOR void decode_pairs(const struct job *j, unsigned axes, enum conversion c)
{
    enum { BATCH = 8 };
    const struct shape *s = j->s;
    const U *bases = (const U *)(const void *)j->work->bases;
    U *q = (U *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE);
    /* What is kept of a plane. One plane is never looked at again. */
    const size_t step = s->z == 1 ? 0 : 2 * LANES;
    const size_t batch = s->y > 1 && j->dst->row != s->row * WIDTH ? 1 : BATCH;
    const unsigned char *next = NULL;
    unsigned char tail[TAIL];
    struct sums n = sums_begin(j, s->row, axes);
    struct supply p = {.x = (U *)(void *)j->work->ahead, .carry = v_set1(0)};
    struct seam m = job_seam(j);
    struct stage stage = stage_of(j);
    size_t staged = 0;
    struct row r = {.off = v_set1(0), .words = s->row};
    if (axes == ZMPI_AXIS_X)
        p.carry = n.base;
    unpacker_begin(&p.u, j->p, j->work, tail);
    for (size_t z = 0; z < s->z; z++) {
        const V first = axes & ZMPI_AXIS_Z ? v_set1(0) : n.base;
        V sum[2] = {first, first};
        for (size_t y = 0, rows; y < s->y; y += rows) {
            rows = s->y - y < batch ? s->y - y : batch;
            const size_t words = rows * s->row;
            const bool exact = batch == 1 || y + rows == s->y;
            unsigned char *to = j->dst->at + z * j->dst->plane + y * j->dst->row;
            if (p.have < r.at + words)
                supply_until(&p, r.at, r.at + words, s->count, axes);
            r.x = p.x + (r.at - p.begin);
            n.keep_z = q + y * step;
            n.before = z ? n.keep_z : bases;
            if (j->way == SEAM) {
                unsigned char *room = stage_row(&stage, &m, &staged, next, to);
                next = to + words * WIDTH;
                to = room;
                staged += words;
            }
            r = restore_pairs(&n, r, rows, sum, step, z ? step : 0, axes, c, to,
                              exact && j->way != SEAM);
        }
    }
    stage_made(&stage, &m, staged);
    stage_made(&stage, &m, 0);
    seam_end(&m);
}

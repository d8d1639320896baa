/*
 * vector_short_t.h - template: what vector_planes_t.h does, for instruction sets that have no cheap
 * way to join two vectors anywhere: of rows that are shorter than a vector, as many as fit are one,
 * loaded and stored where they lie. After vector_placed_t.h.
 */

/* Whole rows in a vector. */
struct group {
    size_t row, rows, words;
    V begin;       /* v_take: of words that lie one further down, those before the rows */
    V last;        /* v_take: the last row, over and over */
    V from[LANES]; /* lanes that have n rows before them in the vector */
};

VECTOR struct group group_of(size_t row)
{
    struct group g = {.row = row, .rows = LANES / row, .words = LANES / row * row};
    U begin[LANES], last[LANES];
    for (size_t i = 0; i < LANES; i++) {
        begin[i] = (U)(i / row * row);
        last[i] = (U)(g.words - row + i % row);
    }
    g.begin = v_indices(v_load(begin));
    g.last = v_indices(v_load(last));
    for (size_t n = 0; n < g.rows; n++) {
        U from[LANES];
        for (size_t i = 0; i < LANES; i++)
            from[i] = i < n * row ? 0 : (U)-1;
        g.from[n] = v_load(from);
    }
    return g;
}

/* Sums along x of the rows at x, from those along the whole chunk. rows: as in g; mostly
 * a constant. */
VECTOR V group_load(const struct group *g, size_t rows, const U *x, unsigned axes)
{
    const V v = v_load(x);
    if (!(axes & ZMPI_AXIS_X) || axes == ZMPI_AXIS_X)
        return v;
    return v_sub(v, rows == 1 ? v_set1(x[-1]) : v_take(v_load(x - 1), g->begin));
}

/* With the rows above them in the vector, and `sum`, which becomes what comes to the next ones. */
VECTOR V group_sum(const struct group *g, size_t rows, const U *x, unsigned axes, V *sum)
{
    V v = group_load(g, rows, x, axes);
    if (!(axes & ZMPI_AXIS_Y))
        return v;
    for (size_t n = 1; n < rows; n++)
        v = v_add(v, v_and(group_load(g, rows, x - n * g->row, axes), g->from[n]));
    if (rows == 1)
        return *sum = v_add(v, *sum);
    const V before = *sum;
    *sum = v_add(before, v_take(v, g->last));
    return v_add(v, before);
}

/* A part of a plane of such rows, or some planes. */
struct part {
    struct sums s;
    const struct group *g;
    size_t planes;
    const U *x;
    U *keep;          /* integers of the plane before, group by group, a vector each */
    size_t at, words; /* in the chunk; words of a plane, if there are several */
    size_t room;      /* so many words may be written */
    unsigned char *to;
    V first, sum; /* along y: where a plane begins; behind the last one */
};

/* keep: of the plane before, then of this one. */
VECTOR V restore_group(const struct sums *s, const struct group *g, size_t rows, const U *x,
                       size_t at, U *keep, V *sum, unsigned axes, enum conversion c)
{
    V v = group_sum(g, rows, x, axes, sum);
    if (!axes)
        v = v_add(v, s->base);
    if (axes & ZMPI_AXIS_Z) {
        v = v_add(v, v_load(keep));
        v_store(keep, v);
    }
    v = convert(s, c, v);
    return s->patch.masks ? patch_at(&s->patch, at, v) : v;
}

VECTOR void restore_planes(struct part *p, size_t rows, unsigned axes, enum conversion c)
{
    const struct sums s = p->s;
    const struct group g = *p->g;
    const size_t at = p->at, words = p->words, all = p->planes * words;
    const size_t whole = p->room < LANES ? 0 : p->room + 1 - LANES;
    const U *x = p->x;
    unsigned char *to = p->to;
    V sum = p->sum;
    for (size_t i = 0, next = words; i < all; i = next, next += words, sum = p->first) {
        const size_t end = next < whole ? next : whole;
        U *keep = p->keep;
        for (; i < end; i += g.words, keep += LANES)
            v_store((U *)(void *)(to + i * WIDTH),
                    restore_group(&s, &g, rows, x + i, at + i, keep, &sum, axes, c));
        for (; i < next; i += g.words, keep += LANES)
            v_store_few(to + i * WIDTH,
                        restore_group(&s, &g, rows, x + i, at + i, keep, &sum, axes, c),
                        next - i < g.words ? next - i : g.words);
        p->sum = sum;
    }
}

VECTOR void restore_short(struct part *p, unsigned axes, enum conversion c)
{
    if (p->g->rows == 1)
        restore_planes(p, 1, axes, c);
    else if (p->g->rows == 2)
        restore_planes(p, 2, axes, c);
    else
        restore_planes(p, p->g->rows, axes, c);
}

typedef void restore_short_fn(struct part *p);

/* Planes of rows that are shorter than a vector and have no gaps. */
VECTOR void decode_planes(const struct job *j, unsigned axes, restore_short_fn *restore_these)
{
    enum { MARGIN = ZMPI_BLOCK }; /* words that are loaded before a vector */
    const struct shape *s = j->s;
    /* Where sums do not begin with rows, these need not be told apart. */
    const struct group g = group_of(axes > ZMPI_AXIS_X ? s->row : LANES);
    const bool gaps = s->z > 1 && j->dst->plane != s->plane * WIDTH;
    const size_t groups = STAGE / g.words, most = groups * g.words;
    const size_t fit = gaps && j->way != SEAM ? 1 : most / s->plane;
    const size_t some = gaps && fit > RUNS ? RUNS : fit;
    U *kept = (U *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE);
    struct supply p = {.x = (U *)(void *)j->work->ahead + MARGIN, .carry = v_set1(0)};
    struct part q = {.s = sums_begin(j, LANES, axes), .g = &g};
    struct seam m = job_seam(j);
    struct stage stage;
    unsigned char tail[TAIL];
    stage_begin(&stage, j);
    memset(j->work->ahead, 0, MARGIN * WIDTH);
    if (axes == ZMPI_AXIS_X)
        p.carry = q.s.base;
    q.first = axes & ZMPI_AXIS_Z ? v_set1(0) : q.s.base;
    unpacker_begin(&p.u, j->p, j->work, tail);
    for (size_t z = 0; z < s->z; z += q.planes) {
        q.planes = some < 2 ? 1 : some < s->z - z ? some : s->z - z;
        q.keep = kept;
        q.sum = q.first;
        for (size_t from = 0; from < s->plane; from += q.words) {
            q.words = s->plane - from < most ? s->plane - from : most;
            const size_t words = q.planes * q.words;
            if (p.have < q.at + words)
                supply_until(&p, q.at < MARGIN ? 0 : q.at - MARGIN, q.at + words, s->count, axes);
            q.x = p.x + (q.at - p.begin);
            q.room = j->way == SEAM ? SIZE_MAX : gaps ? s->plane - from : s->count - q.at;
            q.to = j->dst->at + z * j->dst->plane + from * WIDTH;
            if (j->way == SEAM)
                q.to = stage_runs(&stage, &m, q.to, gaps ? q.words : words, gaps ? q.planes : 1,
                                  j->dst->plane);
            if (axes & ZMPI_AXIS_Z && z == 0) /* what lies before the first plane */
                for (size_t i = 0, n = 0; n < q.words; i += LANES, n += g.words)
                    v_store(q.keep + i, q.s.base);
            restore_these(&q);
            q.at += words;
            if (s->z > 1)
                q.keep += groups * LANES;
        }
    }
    stage_end(&stage, &m);
}

/* One row, of whole blocks but for the last. */
VECTOR void decode_row(const struct job *j, unsigned axes, enum conversion c)
{
    enum { PIECE = STAGE / 2 };
    const struct shape *s = j->s;
    unsigned char *to = j->dst->at, tail[TAIL];
    struct unpacker u;
    struct replacer e = j->exceptions;
    struct seam m = job_seam(j);
    struct stage stage;
    struct sums n = sums_begin(j, 0, axes);
    stage_begin(&stage, j);
    unpacker_begin(&u, j->p, j->work, tail);
    for (size_t at = 0; at < s->count; at += ZMPI_BLOCK, to += ZMPI_BLOCK * WIDTH) {
        V r[VECTORS];
        if (j->way == SEAM && at % PIECE == 0)
            to = stage_row(&stage, &m, j->dst->at + at * WIDTH,
                           s->count - at < PIECE ? s->count - at : PIECE);
        unpack_next(&u, axes, r);
        if (axes & ZMPI_AXIS_X)
            carry_on(&n, r);
        for (unsigned k = 0; k < VECTORS; k++)
            r[k] = restore(&n, 0, axes, c, r[k]);
        if (axes & ZMPI_AXIS_X)
            block_order(r);
        if (e.lengths)
            replace_next(&e, r);
        if (at + ZMPI_BLOCK <= s->count || j->way == SEAM)
            put_block(r, PLAIN, &m, to);
        else
            put_words(r, s->count - at, PLAIN, &m, to);
    }
    stage_end(&stage, &m);
}

/* Blocks have an order of their own: in the last one of an only row that it does not fill, what is
 * added behind the row counts too. */
VECTOR void extend_bases(const struct job *j)
{
    U *bases = (U *)(void *)j->work->bases;
    for (size_t i = j->s->row / ZMPI_BLOCK * ZMPI_BLOCK; i < j->s->blocks * ZMPI_BLOCK; i += LANES)
        v_store(bases + i, v_set1(j->p->base));
}

/* A function for each set of axes and conversion: compilers keep what a loop needs in registers in
 * functions of few loops. */
VECTOR void decode_along(const struct job *j, unsigned axes, enum conversion c, enum rows rows,
                         restore_batch_fn *restore_these, restore_short_fn *restore_those)
{
    if (rows == LOOSE && j->way == SEAM && j->s->row >= PLACED)
        decode_placed(j, axes, c);
    else if (rows == LOOSE)
        decode_batches(j, axes, restore_these);
    else if (rows == ALIGNED && j->way == SEAM)
        decode_whole(j, axes, c);
    else if (rows == ALIGNED)
        decode_aligned(j, axes, c);
    else if (rows == PLANES)
        decode_planes(j, axes, restore_those);
    else if (axes <= ZMPI_AXIS_X)
        decode_row(j, axes, c);
}

#define ALONG(axes, name, c)                                                                       \
    KERNEL void restore_##name##_along_##axes(struct batch *b)                                     \
    {                                                                                              \
        restore_batch(b, axes, c);                                                                 \
    }                                                                                              \
    KERNEL void restore_short_##name##_along_##axes(struct part *p)                                \
    {                                                                                              \
        restore_short(p, axes, c);                                                                 \
    }                                                                                              \
    KERNEL void decode_##name##_along_##axes(const struct job *j, enum rows rows)                  \
    {                                                                                              \
        decode_along(j, axes, c, rows, restore_##name##_along_##axes,                              \
                     restore_short_##name##_along_##axes);                                         \
    }
#define BOTH(axes) ALONG(axes, quantized, QUANTIZED_FAST) ALONG(axes, ordered, ORDERED)
EACH_AXES(BOTH)
#undef BOTH
#undef ALONG

VECTOR void decode_rows(const struct job *job, enum conversion c, enum rows rows)
{
    struct job j = *job;
    struct parts p = *j.p;
    if (c == QUANTIZED && QUANTIZED_FAST == NEAR_MAGIC) {
        p.base += bits_of((T)MAGIC);
        j.p = &p;
    }
    if (rows == NARROW && j.p->axes > ZMPI_AXIS_X) {
        rows = j.s->row < LANES ? PLANES : LOOSE;
        if (j.exceptions.lengths)
            j.patch = patch_of(j.s, j.p, j.work);
    }
    if (rows == ALIGNED && j.s->row == j.s->count)
        extend_bases(&j);
    switch (j.p->axes) {
#define CASE(axes)                                                                                 \
    case axes:                                                                                     \
        if (c == QUANTIZED)                                                                        \
            decode_quantized_along_##axes(&j, rows);                                               \
        else                                                                                       \
            decode_ordered_along_##axes(&j, rows);                                                 \
        break;
        EACH_AXES(CASE)
#undef CASE
    }
}

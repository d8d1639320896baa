/*
 * vector_sums_t.h - template: the blocks of a chunk to its integers, by sums along the axes, and
 * these to words in memory. Once for integers of a word and once for those of 16 bits. Parameters:
 *
 *   A(name)       names of this one
 *   W, X, X_(op)  the type of its integers, its vectors and their operations
 *   X_LANES       integers in a vector
 *   X_BAND        integers that are made together
 *   X_ORDERED     may words be others than quantized?
 *
 * and A(unpack_words) and A(unpack_sums): the next blocks, behind a carry.
 *
 * Residuals, or with the x axis their sums along the whole chunk, lie one behind the other, and so
 * do integers: rows of any length need no padding. What is stored behind a row is
 * overwritten by the next one. Integers are made in bands, so that memory gets words one after
 * another; and what was stored since words went past the caches is slow to load in another
 * alignment, so that residuals are PIECE ahead.
 */

/* PIECE: residuals that are made together. */
enum { A(MARGIN) = 32, A(PIECE) = X_BAND / 2 };

struct A(reader) {
    struct unpacker u;
    X carry;
    W *x; /* all of them, or, where `ring` is less, some, which share the cache with the rest */
    size_t ring, have;
};

/* unit: at most so many residuals are made at a time. */
VECTOR struct A(reader) A(reader_of)(const struct job *j, size_t unit, X carry, unsigned char *tail)
{
    struct A(reader) p;
    p.carry = carry;
    p.x = (W *)(void *)j->work->ahead + X_LANES;
    p.ring = unit <= X_BAND ? 4 * X_BAND : ZMPI_CHUNK_INPUT_BYTES / WIDTH;
    p.have = 0;
    unpacker_begin(&p.u, j->p, j->work, tail);
    p.x[-1] = 0;
    return p;
}

/* Makes the next residuals, or those that are left. */
VECTOR void A(reader_next)(struct A(reader) * p, const struct shape *s, unsigned axes, W *to)
{
    const size_t left = s->blocks - p->u.coded.block, most = A(PIECE) / ZMPI_BLOCK;
    if (axes & ZMPI_AXIS_X)
        A(unpack_sums)(&p->u, &p->carry, left < most ? left : most, to);
    else
        A(unpack_words)(&p->u, &p->carry, left < most ? left : most, to);
}

/* Makes residuals up to number end-1 of the chunk. The buffer's beginning is copied behind its end,
 * where a band may continue. */
VECTOR void A(reader_until)(struct A(reader) * p, size_t end, const struct shape *s, unsigned axes)
{
    for (end = end < s->count ? end : s->count; p->have < end; p->have += A(PIECE)) {
        const size_t at = p->have & (p->ring - 1);
        A(reader_next)(p, s, axes, p->x + at);
        if (at < X_BAND && p->have > at)
            for (size_t i = at; i < at + A(PIECE); i += X_LANES)
                X_(store)(p->x + p->ring + i, X_(load)(p->x + i));
    }
}

/* Element `at`; the element before it lies in front of it. */
VECTOR const W *A(reader_at)(const struct A(reader) * p, size_t at)
{
    return at ? p->x + 1 + ((at - 1) & (p->ring - 1)) : p->x;
}

/* Integers on their way to memory, in a buffer that starts over again and again. */
struct A(integers) {
    W *begin, *to; /* to: where the next ones go */
    size_t limit;
    size_t back; /* how much further on the copy before `begin` was taken; or 0 */
    W seen;      /* all of them, ORed */
    struct A(writer) out;
};

VECTOR struct A(integers) A(integers_of)(const struct job *j, size_t most, struct conversion how)
{
    W *const q = (W *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE) + A(MARGIN);
    return (struct A(integers)){.begin = q,
                                .to = q,
                                .limit = 2 * (most < X_BAND ? X_BAND : most) + 4 * X_LANES,
                                .out = A(writer_of)(j, q, how)};
}

/* Lets the next integers begin at the buffer's start again. */
VECTOR void A(begin_again)(struct A(integers) * r)
{
    if ((size_t)(r->to - r->begin) < r->limit)
        return;
    for (size_t i = 0; i < A(MARGIN); i += X_LANES)
        X_(store)(r->begin - A(MARGIN) + i, X_(load)(r->to - A(MARGIN) + i));
    r->back = (size_t)(r->to - r->begin);
    r->to = r->begin;
}

/* So many integers were added. Writes those before number `at` of the chunk, except some of the
 * last. */
VECTOR void A(put)(struct A(integers) * r, size_t words, size_t at)
{
    A(write_until)(&r->out, at);
    r->out.q -= r->back;
    r->back = 0;
    if (!X_ORDERED)
        r->seen |= A(all_of)(r->to, words);
    r->to += words;
}

/* ---- rows of at least a vector, or any ---- */

struct A(band) {
    const W *x, *before;
    size_t rows, row, step; /* step: from row to row of `before` */
    X begin;                /* above the first row */
    W *kept, *q;
    bool first;
};

/* Sums some rows, one column of vectors after another, the last one first: the next row overwrites
 * what is stored behind a row. */
VECTOR void A(sum_band)(const struct A(band) * b, unsigned axes)
{
    for (size_t k = (b->row + X_LANES - 1) / X_LANES; k-- > 0;) {
        const size_t i = k * X_LANES;
        X above = axes & ZMPI_AXIS_Y && !b->first ? X_(load)(b->kept + i) : b->begin;
        const W *x = b->x + i, *end = b->x - 1, *before = b->before + i;
        W *q = b->q + i;
        for (size_t n = b->rows; n > 0; n--) {
            X v = X_(load)(x);
            if (axes & ZMPI_AXIS_X)
                v = X_(sub)(v, X_(set1)(*end));
            if (axes & ZMPI_AXIS_Y)
                v = above = X_(add)(v, above);
            if (axes & ZMPI_AXIS_Z)
                v = X_(add)(v, X_(load)(before));
            X_(store)(q, v);
            x += b->row;
            end += b->row;
            q += b->row;
            before += b->step;
        }
        if (axes & ZMPI_AXIS_Y)
            X_(store)(b->kept + i, above);
    }
}

/* first: the value outside the tile. Returns all integers, ORed. */
VECTOR W A(sum_rows)(const struct job *j, const struct shape *s, unsigned axes, W first,
                     struct conversion how)
{
    const size_t row = s->row, most = row < X_BAND ? X_BAND / row : 1;
    W *const bases = (W *)(void *)j->work->bases;
    unsigned char tail[TAIL];
    struct A(integers) r = A(integers_of)(j, axes & ZMPI_AXIS_Z ? s->plane : most * row, how);
    struct A(reader) p = A(reader_of)(j, row, X_(set1)(0), tail);
    struct A(band) b = {.row = row,
                        .kept = (W *)(void *)j->work->sums,
                        .begin = X_(set1)(axes & ZMPI_AXIS_Z ? 0 : first),
                        .before = bases};
    if (axes & ZMPI_AXIS_Z)
        for (size_t i = 0; i < row; i += X_LANES)
            X_(store)(bases + i, X_(set1)(first));
    for (size_t z = 0, at = 0; z < s->z; z++) {
        const W *before = r.to - s->plane;
        for (size_t y = 0, words; y < s->y; y += b.rows, at += words) {
            b.rows = s->y - y < most ? s->y - y : most;
            words = b.rows * row;
            A(reader_until)(&p, at + words + A(PIECE), s, axes);
            if (y == 0 || !(axes & ZMPI_AXIS_Z))
                A(begin_again)(&r);
            b.x = A(reader_at)(&p, at);
            b.q = r.to;
            b.step = z ? row : 0;
            b.before = z ? before + y * row : bases;
            b.first = y == 0;
            A(sum_band)(&b, axes);
            A(put)(&r, words, at);
        }
    }
    A(write_until)(&r.out, s->count);
    return r.seen;
}

/* ---- shorter rows ---- */

#ifdef LANE_MASKS

/* Several whole rows in a vector. */
struct A(group) {
    size_t words;
    X begin, last;       /* begin: lanes of the word before a row, in a vector that starts one word
                            earlier; last: lanes of the last row, repeated */
    unsigned steps;      /* sums of every row-th word: how many steps; lanes where they exist */
    X down[5], there[5]; /* one row, two rows, four... */
};

KERNEL void A(group_of)(struct A(group) * g, size_t row)
{
    W begin[X_LANES], last[X_LANES], down[X_LANES], there[X_LANES];
    g->words = X_LANES / row * row;
    g->steps = 0;
    for (size_t i = 0; i < X_LANES; i++) {
        begin[i] = (W)(i / row * row);
        last[i] = (W)(g->words - row + i % row);
    }
    g->begin = X_(load)(begin);
    g->last = X_(load)(last);
    for (size_t d = row; d < g->words; d *= 2) {
        for (size_t i = 0; i < X_LANES; i++) {
            down[i] = (W)(i < d ? 0 : i - d);
            there[i] = i < d ? 0 : (W)-1;
        }
        g->down[g->steps] = X_(load)(down);
        g->there[g->steps++] = X_(load)(there);
    }
}

/* Sums a plane from its residuals, or from sums along x, at x. kept: the plane before, one vector
 * for each group, a step apart. */
VECTOR void A(sum_plane)(const struct A(group) * g, size_t plane, unsigned axes, X above,
                         const W *x, W *kept, size_t step, W *q)
{
    for (size_t i = 0; i < plane; i += g->words, kept += step) {
        X v = X_(load)(x + i);
        if (axes & ZMPI_AXIS_X)
            v = X_(sub)(v, X_(take)(X_(load)(x + i - 1), g->begin));
        if (axes & ZMPI_AXIS_Y) {
            for (unsigned k = 0; k < g->steps; k++)
                v = X_(add)(v, X_(and)(X_(take)(v, g->down[k]), g->there[k]));
            v = X_(add)(v, above);
            above = X_(take)(v, g->last);
        }
        if (axes & ZMPI_AXIS_Z) {
            v = X_(add)(v, X_(load)(kept));
            if (step)
                X_(store)(kept, v);
        }
        X_(store)(q + i, v);
    }
}

/* Like sum_rows, some planes at a time. */
VECTOR W A(sum_planes)(const struct job *j, const struct shape *s, unsigned axes, W first,
                       struct conversion how)
{
    const size_t plane = s->plane, most = plane < X_BAND ? X_BAND / plane : 1;
    const X above = X_(set1)(axes & ZMPI_AXIS_Z ? 0 : first);
    const size_t step = s->z > 1 ? X_LANES : 0;
    W *const kept = (W *)(void *)j->work->sums;
    unsigned char tail[TAIL];
    struct A(integers) r = A(integers_of)(j, most * plane, how);
    struct A(reader) p = A(reader_of)(j, plane, X_(set1)(0), tail);
    struct A(group) g;
    A(group_of)(&g, s->row);
    X_(store)(kept, X_(set1)(first));
    if (step && axes & ZMPI_AXIS_Z)
        for (size_t i = 0, k = 0; i < plane; i += g.words, k += step)
            X_(store)(kept + k, X_(set1)(first));
    for (size_t z = 0, at = 0, n; z < s->z; z += n, at += n * plane) {
        n = s->z - z < most ? s->z - z : most;
        A(reader_until)(&p, at + n * plane + A(PIECE), s, axes);
        A(begin_again)(&r);
        const W *x = A(reader_at)(&p, at);
        for (size_t i = 0; i < n; i++)
            A(sum_plane)(&g, plane, axes, above, x + i * plane, kept, step, r.to + i * plane);
        A(put)(&r, n * plane, at);
    }
    A(write_until)(&r.out, s->count);
    return r.seen;
}

#endif

/* ---- a chunk ---- */

/* For axes whose sums run across rows. */
VECTOR W A(sum_flat)(const struct job *j, unsigned axes, W first, struct conversion how)
{
    unsigned char tail[TAIL];
    struct A(integers) r = A(integers_of)(j, X_BAND, how);
    struct A(reader) p = A(reader_of)(j, X_BAND, X_(set1)(first), tail);
    for (size_t at = 0; at < j->s->count; at += A(PIECE)) {
        const size_t left = j->s->count - at;
        A(begin_again)(&r);
        A(reader_next)(&p, j->s, axes, r.to);
        A(put)(&r, left < A(PIECE) ? left : A(PIECE), at);
    }
    A(write_until)(&r.out, j->s->count);
    return r.seen;
}

VECTOR W A(sum_along)(const struct job *j, unsigned axes, W first, struct conversion how)
{
    const struct shape planar = shape_of((const size_t[]){1, j->s->z, j->s->plane});
    if (axes <= ZMPI_AXIS_X)
        return A(sum_flat)(j, axes, first, how);
    const struct shape *const s = axes == ZMPI_AXIS_Z ? &planar : j->s;
    const unsigned along = axes == ZMPI_AXIS_Z ? ZMPI_AXIS_Y : axes;
#ifdef LANE_MASKS
    if (s->row < X_LANES)
        return A(sum_planes)(j, s, along, first, how);
#endif
    return A(sum_rows)(j, s, along, first, how);
}

#define CASE(axes)                                                                                 \
    KERNEL W A(sum_along_##axes)(const struct job *j, W first, struct conversion how)              \
    {                                                                                              \
        return A(sum_along)(j, axes, first, how);                                                  \
    }
/* clang-format off */
        CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
/* clang-format on */
#undef CASE

    /* All of a chunk to its words. */
    TARGET static W A(sums)(const struct job *j, W first, struct conversion how)
{
    typedef W sum_fn(const struct job *j, W first, struct conversion how);
    static sum_fn *const along[] = {A(sum_along_0), A(sum_along_1), A(sum_along_2), A(sum_along_3),
                                    A(sum_along_4), A(sum_along_5), A(sum_along_6), A(sum_along_7)};
    return along[j->p->axes](j, first, how);
}

#undef A
#undef X
#undef X_
#undef X_LANES
#undef X_BAND
#undef X_ORDERED
#undef W

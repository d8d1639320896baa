/*
 * vector_across_t.h - template: words in rows without gaps between them to residuals, in vectors
 * that rows run across: what is subtracted along x and y is found in registers. After
 * vector_halves_t.h; once for integers of a word and once for those of 16 bits. Parameters:
 *
 *   A(name)       names of this one
 *   X, X_(name)   its vectors and their operations, of X_LANES lanes of type W
 *   X_PART        residuals that are made planes together
 *   X_MOST        vectors that are made in one go
 *   X_ONCE        is there a loop that asks for words once? (fetch_by)
 *   TAKING        what words are taken by, and bits for masks
 *
 * and, by such names, taking_of, take_whole, take_last, outcome and pack_room; base: what lies
 * outside the tile.
 */

/* Of a row and a vector: no longer than it, or longer. */
struct A(across) {
    /* The row above begins in a vector so many before this one, and lies there and in the next one,
     * by take_two. */
    size_t back;
    X above;
};

VECTOR struct A(across) A(across_of)(size_t row)
{
    struct A(across) a = {.back = (row + X_LANES - 1) / X_LANES};
    W above[X_LANES];
    for (size_t i = 0; i < X_LANES; i++)
        above[i] = (W)(a.back * X_LANES - row + i);
    a.above = X_(load)(above);
    return a;
}

/* The vector in which the row above begins; what is kept of rows and planes; which lanes have a
 * neighbour in their row, a bit each (blocks of a plane begin as those of the chunk do), and what
 * is left of these. */
struct A(around) {
    X last;
    W *keep_y, *keep_z;
    const unsigned char *inside;
    X left;
};

/* A vector of integers less the row above. */
VECTOR X A(less_above)(struct A(around) * n, const struct A(across) * a, enum across across, X q)
{
    const X first = n->last;
    n->last = q;
    if (across == LONG) {
        X_(store)(n->keep_y, q);
        n->last = X_(load)(n->keep_y - (a->back - 1) * X_LANES);
        n->keep_y += X_LANES;
    }
    return X_(sub)(q, X_(take_two)(first, a->above, n->last));
}

/* To residuals. */
VECTOR X A(predict)(struct A(around) * n, const struct A(across) * a, enum across across,
                    unsigned axes, X q)
{
    X d = axes & ZMPI_AXIS_Y ? A(less_above)(n, a, across, q) : q;
    if (axes & ZMPI_AXIS_Z) {
        const X e = d;
        d = X_(sub)(d, X_(load)(n->keep_z));
        X_(store)(n->keep_z, e);
        n->keep_z += X_LANES;
    }
    if (!(axes & ZMPI_AXIS_X))
        return d;
    const X left = X_(shift_in)(n->left, d);
    n->left = d;
    const uint32_t inside = zmpi_load32(n->inside);
    n->inside += X_LANES / 8;
    return X_(sub_where)(d, left, inside);
}

/* Words of a plane from x on, in so many vectors; a vector may be loaded up to `end`. */
struct A(stretch) {
    const unsigned char *x, *end;
    size_t vectors, rest; /* the last one has so many words */
    struct ahead ahead;
};

/* Some of them; returns where they end. A vector is stored whole: what is behind its words is
 * overwritten by the next one, or in no row. */
VECTOR W *A(take_some)(struct TAKING *taking, struct A(around) * around, const struct A(across) * a,
                       enum across across, unsigned axes, enum source source, struct ahead ahead,
                       struct A(stretch) * s, W *r)
{
    const size_t some = s->vectors < X_MOST ? s->vectors : X_MOST;
    const size_t last = s->vectors > some ? X_LANES : s->rest;
    const unsigned char *x = s->x;
    struct TAKING t = *taking; /* in registers */
    struct A(around) n = *around;
    uint32_t mask;
    for (size_t left = some; left > (last < X_LANES); left--, x += X_LANES * WIDTH, r += X_LANES) {
        const X q = A(take_whole)(&t, x, source, ahead, &mask);
        X_(store)(r, A(predict)(&n, a, across, axes, q));
        if (source == FILLED)
            put_bits(&t.bits, mask, X_LANES);
    }
    if (last < X_LANES) {
        const size_t there = (size_t)(s->end - x) / WIDTH;
        const X q = A(take_last)(&t, x, last, there, source, ahead, &mask);
        X_(store)(r, A(predict)(&n, a, across, axes, q));
        if (source == FILLED)
            put_bits(&t.bits, mask, last);
        x += last * WIDTH;
        r += last;
    }
    *taking = t;
    *around = n;
    s->vectors -= some;
    s->x = x;
    return r;
}

/* Words are asked for twice, or once (fetch_by). */
VECTOR W *A(take_stretch)(struct TAKING *t, struct A(around) * n, const struct A(across) * a,
                          enum across across, unsigned axes, enum source source,
                          struct A(stretch) * s, W *r)
{
    const struct ahead once = {0, s->ahead.near};
    if (X_ONCE && !s->ahead.far)
        return A(take_some)(t, n, a, across, axes, source, once, s, r);
    return A(take_some)(t, n, a, across, axes, source, s->ahead, s, r);
}

/* lines: without gaps between rows. `axes`, of which y or z is one, `across` and `source` are
 * constants to the compiler. */
VECTOR enum outcome A(fuse)(const struct fuse *f, unsigned axes, enum across across,
                            enum source source, struct packer *p)
{
    _Alignas(64) W before[X_LANES + X_PART + X_MOST * X_LANES + ZMPI_BLOCK];
    W *const room = before + X_LANES;
    const struct lines l = *f->lines;
    const size_t plane = f->s->plane, vectors = (plane + X_LANES - 1) / X_LANES;
    struct coming coming = coming_of(f, &l);
    struct TAKING t = A(taking_of)(f, source);
    const struct A(across) a = A(across_of)(f->s->x);
    W *const above = (W *)(void *)f->work->sums;
    W *const kept = (W *)(void *)(f->work->integers + ZMPI_CHUNK_BEFORE);
    const X base = A(base)(f), first = axes & ZMPI_AXIS_Y ? X_(set1)(0) : base;
    struct A(around) n = {.left = base};
    size_t words = 0;
    bool looked = false; /* for exceptions: behind the first part, and at the end */
    if (axes & ZMPI_AXIS_Z)
        for (size_t i = 0; i < vectors; i++)
            X_(store)(kept + i * X_LANES, first);
    if (across == LONG)
        for (size_t i = 0; i < a.back; i++)
            X_(store)(above + i * X_LANES, base);
    if (axes & ZMPI_AXIS_X)
        find_edges(f->s, &f->work->edges);
    for (size_t z = 0; z < l.z; z++) {
        struct A(stretch) s = {.x = l.at + z * l.plane, .rest = plane - (vectors - 1) * X_LANES};
        s.end = s.x + l.words * WIDTH;
        s.ahead = coming_ahead(&coming, s.x);
        while (s.x < s.end) {
            if (!s.vectors) {
                s.vectors = vectors;
                n.last = base;
                n.keep_z = kept;
                n.keep_y = above + a.back * X_LANES;
                n.inside = (const unsigned char *)f->work->edges.left;
            }
            W *const to = A(take_stretch)(&t, &n, &a, across, axes, source, &s, room + words);
            words = (size_t)(to - room);
            const bool all = s.x == s.end && z + 1 == l.z;
            if (words < X_PART && !all)
                continue;
            const enum outcome o = looked && !all ? DONE : A(outcome)(&t, f, source);
            if (o)
                return o;
            looked = true;
            words = A(pack_room)(f, &t, room, words, all, p);
        }
    }
    if (source == FILLED)
        put_bits(&t.bits, 0, 0); /* none behind the last */
    return DONE;
}

/* Without the y axis it makes no difference how long rows are. */
VECTOR enum outcome A(fuse_any)(const struct fuse *f, unsigned axes, enum source source,
                                struct packer *p)
{
    if (axes & ZMPI_AXIS_Y && f->s->x > X_LANES)
        return A(fuse)(f, axes, LONG, source, p);
    return A(fuse)(f, axes, SHORT, source, p);
}

#undef A
#undef X
#undef X_
#undef X_LANES
#undef X_PART
#undef X_MOST
#undef X_ONCE
#undef W
#undef TAKING

/*
 * vector_across_t.h - template: words in rows without gaps between them to residuals, in vectors
 * that rows run across: what is subtracted along x and y is found in registers. After
 * vector_halves_t.h; once for integers of a word and once for those of 16 bits. Parameters:
 *
 *   A(name)       names of this one
 *   X, X_(name)   its vectors and their operations, of X_LANES lanes of type W
 *   X_PART        residuals that are made planes together, at most, where words are not near
 *   X_MOST        vectors that are made in one go, twice as many where they are
 *   X_TURNS       vectors that take turns then (as in halve_row)
 *   X_FLAT        is what lies outside the tile 0, whatever the base is?
 *   TAKING        what words are taken by, and bits for masks
 *
 * and, by such names, taking_of, take_whole, take_last, outcome, part and pack_room; base: what
 * lies outside the tile.
 */

/* Short rows, and planes that go on where the one before ends: a mask tells which words have a row
 * above. Without that a plane begins with a vector (of 7 x 7 words two, as of 64). */
VECTOR bool A(flat)(unsigned axes, enum across across)
{
    return X_FLAT && across == SHORT && axes & ZMPI_AXIS_Y && !(axes & ZMPI_AXIS_Z);
}

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
 * neighbour in their row, and (flat) above it, a bit each (blocks of a plane begin as those of the
 * chunk do), and what is left of these. */
struct A(around) {
    X last;
    W *keep_y, *keep_z;
    const unsigned char *inside, *under;
    X left;
};

/* So many vectors of integers, less which they are to be: the row above. */
VECTOR void A(rows_above)(struct A(around) * n, const struct A(across) * a, enum across across,
                          unsigned vectors, const X q[], X above[])
{
    X next[X_TURNS];
    for (unsigned k = 0; k < vectors; k++) {
        next[k] = q[k];
        if (across == LONG)
            X_(store)(n->keep_y + k * X_LANES, q[k]);
    }
    if (across == LONG) {
        for (unsigned k = 0; k < vectors; k++)
            next[k] = X_(load)(n->keep_y - (a->back - 1) * X_LANES + k * X_LANES);
        n->keep_y += vectors * X_LANES;
    }
    for (unsigned k = 0; k < vectors; k++)
        above[k] = X_(take_two)(k ? next[k - 1] : n->last, a->above, next[k]);
    n->last = next[vectors - 1];
}

/* So many vectors to residuals. */
VECTOR void A(predict)(struct A(around) * n, const struct A(across) * a, enum across across,
                       unsigned vectors, unsigned axes, X q[])
{
    X d[X_TURNS];
    if (axes & ZMPI_AXIS_Y) {
        A(rows_above)(n, a, across, vectors, q, d);
        for (unsigned k = 0; k < vectors; k++)
            q[k] = A(flat)(axes, across)
                       ? X_(sub_where)(q[k], d[k], zmpi_load32(n->under + k * X_LANES / 8))
                       : X_(sub)(q[k], d[k]);
        n->under += vectors * X_LANES / 8;
    }
    if (axes & ZMPI_AXIS_Z) {
        for (unsigned k = 0; k < vectors; k++)
            d[k] = X_(sub)(q[k], X_(load)(n->keep_z + k * X_LANES));
        for (unsigned k = 0; k < vectors; k++) {
            X_(store)(n->keep_z + k * X_LANES, q[k]);
            q[k] = d[k];
        }
        n->keep_z += vectors * X_LANES;
    }
    if (axes & ZMPI_AXIS_X) {
        for (unsigned k = 0; k < vectors; k++)
            d[k] = X_(shift_in)(k ? q[k - 1] : n->left, q[k]);
        n->left = q[vectors - 1];
        for (unsigned k = 0; k < vectors; k++)
            q[k] = X_(sub_where)(q[k], d[k], zmpi_load32(n->inside + k * X_LANES / 8));
        n->inside += vectors * X_LANES / 8;
    }
}

/* Words of a plane from x on, in so many vectors; a vector may be loaded up to `end`. */
struct A(stretch) {
    const unsigned char *x, *end;
    size_t vectors, rest; /* the last one has so many words */
    struct ahead ahead;
};

/* What some of them become. */
struct A(made) {
    const unsigned char *x;
    W *r;
    size_t left; /* vectors */
};

/* Whole vectors of them, so many in turns, as long as `least` are left behind these. */
VECTOR void A(take_turns)(struct TAKING *t, struct A(around) * n, const struct A(across) * a,
                          enum across across, unsigned vectors, unsigned axes, enum source source,
                          struct ahead ahead, size_t least, struct A(made) * m)
{
    const size_t words = vectors * X_LANES;
    for (; m->left >= vectors + least; m->left -= vectors, m->x += words * WIDTH, m->r += words) {
        uint32_t mask;
        X q[X_TURNS];
        A(take_whole)(t, m->x, vectors, source, ahead, &mask, q);
        A(predict)(n, a, across, vectors, axes, q);
        for (unsigned k = 0; k < vectors; k++)
            X_(store)(m->r + k * X_LANES, q[k]);
        if (source == FILLED)
            put_bits(&t->bits, mask, X_LANES);
    }
}

/* Some of them; returns where they end. A vector is stored whole: what is behind its words is
 * overwritten by the next one, or in no row. */
VECTOR W *A(take_stretch)(struct TAKING *taking, struct A(around) * around,
                          const struct A(across) * a, enum across across, unsigned axes,
                          enum source source, bool near, struct A(stretch) * s, W *r)
{
    const size_t most = near ? 2 * X_MOST : X_MOST, some = s->vectors < most ? s->vectors : most;
    const size_t last = s->vectors > some ? X_LANES : s->rest;
    const size_t part = last < X_LANES;
    const struct ahead ahead = {near ? 0 : s->ahead.far, s->ahead.near};
    struct TAKING t = *taking; /* in registers */
    struct A(around) n = *around;
    struct A(made) m = {s->x, r, some};
    if (near && source == QUANTIZE)
        A(take_turns)(&t, &n, a, across, X_TURNS, axes, source, ahead, part, &m);
    A(take_turns)(&t, &n, a, across, 1, axes, source, ahead, part, &m);
    if (part) {
        const size_t there = (size_t)(s->end - m.x) / WIDTH;
        uint32_t mask;
        X q = A(take_last)(&t, m.x, last, there, source, ahead, &mask);
        A(predict)(&n, a, across, 1, axes, &q);
        X_(store)(m.r, q);
        if (source == FILLED)
            put_bits(&t.bits, mask, last);
        m.x += last * WIDTH;
        m.r += last;
    }
    *taking = t;
    *around = n;
    s->vectors -= some;
    s->x = m.x;
    return m.r;
}

/* lines: without gaps between rows. `axes`, of which y or z is one, `across`, `source` and `near`
 * are constants to the compiler. */
VECTOR enum outcome A(fuse)(const struct fuse *f, unsigned axes, enum across across,
                            enum source source, bool near, struct packer *p)
{
    _Alignas(64) W few[X_LANES + X_PART + X_MOST * X_LANES + ZMPI_BLOCK];
    W *const room = (near ? (W *)(void *)f->work->residuals : few) + X_LANES;
    const struct lines l = *f->lines;
    const size_t plane = A(flat)(axes, across) ? l.words : f->s->plane;
    const size_t vectors = (plane + X_LANES - 1) / X_LANES;
    struct coming coming = coming_of(f, &l);
    struct TAKING t = A(taking_of)(f, source);
    const struct A(across) a = A(across_of)(f->s->x);
    W *const above = (W *)(void *)f->work->sums;
    W *const kept = (W *)(void *)(f->work->integers + ZMPI_CHUNK_BEFORE);
    const X base = A(base)(f), first = axes & ZMPI_AXIS_Y ? X_(set1)(0) : base;
    struct A(around) n = {.left = base};
    size_t part = A(part)(f, axes, source, near, false), words = 0;
    bool looked = false; /* for exceptions: behind the first part, and at the end */
    if (axes & ZMPI_AXIS_Z)
        for (size_t i = 0; i < vectors; i++)
            X_(store)(kept + i * X_LANES, first);
    if (across == LONG)
        for (size_t i = 0; i < a.back; i++)
            X_(store)(above + i * X_LANES, base);
    if (axes & ZMPI_AXIS_X || A(flat)(axes, across))
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
                n.under = (const unsigned char *)f->work->edges.above;
            }
            W *const to = A(take_stretch)(&t, &n, &a, across, axes, source, near, &s, room + words);
            words = (size_t)(to - room);
            const bool all = s.x == s.end && z + 1 == l.z;
            if (words < part && !all)
                continue;
            const enum outcome o = looked && !all ? DONE : A(outcome)(&t, f, source);
            if (o)
                return o;
            looked = true;
            part = A(part)(f, axes, source, near, true);
            words = A(pack_room)(f, &t, room, words, all, p);
        }
    }
    if (source == FILLED)
        put_bits(&t.bits, 0, 0); /* none behind the last */
    return DONE;
}

/* Without the y axis it makes no difference how long rows are. */
VECTOR enum outcome A(fuse_any)(const struct fuse *f, unsigned axes, enum source source, bool near,
                                struct packer *p)
{
    if (axes & ZMPI_AXIS_Y && f->s->x > X_LANES)
        return A(fuse)(f, axes, LONG, source, near, p);
    return A(fuse)(f, axes, SHORT, source, near, p);
}

#undef A
#undef X
#undef X_
#undef X_LANES
#undef X_PART
#undef X_MOST
#undef X_TURNS
#undef X_FLAT
#undef W
#undef TAKING

/*
 * vector_half_bunch_t.h - template: words in rows without gaps between them to integers of 16 bits,
 * and these to residuals, wherever rows end: what is subtracted along x and y is found in
 * registers. After vector_halves_t.h; only where any lanes go anywhere.
 */

/* Of a vector of such rows: no longer than it, or longer. */
enum bunching { SHORT, LONG };

struct half_bunch {
    /* The row above begins in a vector so many before this one, and lies there and in the next one,
     * by h_take_two. */
    size_t back;
    H above;
};

VECTOR struct half_bunch half_bunch_of(size_t row)
{
    struct half_bunch b = {.back = (row + HALVES - 1) / HALVES};
    uint16_t above[HALVES];
    for (size_t i = 0; i < HALVES; i++)
        above[i] = (uint16_t)(b.back * HALVES - row + i);
    b.above = h_load(above);
    return b;
}

/* A vector of integers less the row above. n: the vector that this begins in; LONG: what is kept of
 * those before. */
VECTOR H less_above(struct nearby *n, const struct half_bunch *b, enum bunching bunching, H q)
{
    const H first = n->last;
    n->last = q;
    if (bunching == LONG) {
        h_store(n->keep_y, q);
        n->last = h_load(n->keep_y - (b->back - 1) * HALVES);
        n->keep_y += HALVES;
    }
    return h_sub(q, h_take_two(first, b->above, n->last));
}

/* These to residuals. n: along z, what was kept of each vector of the plane before. */
VECTOR H predict_bunch(struct nearby *n, const struct half_bunch *b, enum bunching bunching,
                       unsigned axes, H q)
{
    H d = axes & ZMPI_AXIS_Y ? less_above(n, b, bunching, q) : q;
    if (axes & ZMPI_AXIS_Z) {
        const H e = d;
        d = h_sub(d, h_load(n->keep_z));
        h_store(n->keep_z, e);
        n->keep_z += HALVES;
    }
    if (!(axes & ZMPI_AXIS_X))
        return d;
    const H left = h_shift_in(n->left, d);
    n->left = d;
    return h_sub_where(d, left, *n->inside++);
}

/* Words of a plane from x on, in so many vectors; a vector may be loaded up to `end`. */
struct half_stretch {
    const unsigned char *x, *end;
    size_t vectors, rest; /* the last one has so many words */
    struct ahead ahead;
};

/* Vectors that are made in one go. */
enum { MOST_HALVES = 8 };

/* The last vector of a plane, of which so many words count, and may be loaded up to `there`: what
 * lies behind that nobody asked for before. */
VECTOR H take_last(struct halving *t, const unsigned char *x, size_t words, size_t there,
                   enum source source, struct ahead ahead)
{
    uint32_t mask, none[JOINED];
    F q[JOINED];
    if (source != FILLED && there >= HALVES)
        return take_halves(t, x, source, ahead, none);
    for (unsigned k = 0; k < JOINED; k++) {
        const size_t i = k * LANES;
        const unsigned count = lanes_before(i, words);
        if (count && i * WIDTH % 64 == 0)
            fetch(x + i * WIDTH, ahead);
        q[k] = half_taken(t, load_before(x, i, there), ALL_LANES >> (LANES - count), source, &mask);
        if (source == FILLED)
            put_bits(&t->bits, mask, count);
    }
    return half_joined(t, q);
}

/* Some of them; returns where they end. A vector is stored whole: what is behind its words is
 * overwritten by the next one, or in no row. */
VECTOR uint16_t *halve_stretch(struct halving *halving, struct nearby *nearby,
                               const struct half_bunch *b, enum bunching bunching, unsigned axes,
                               enum source source, struct half_stretch *s, uint16_t *r)
{
    const size_t some = s->vectors < MOST_HALVES ? s->vectors : MOST_HALVES;
    const size_t last = s->vectors > some ? HALVES : s->rest;
    const unsigned char *x = s->x;
    struct halving t = *halving; /* in registers */
    struct nearby n = *nearby;
    uint32_t mask[JOINED];
    for (size_t left = some; left > (last < HALVES); left--, x += HALVES * WIDTH, r += HALVES) {
        const H q = take_halves(&t, x, source, s->ahead, mask);
        h_store(r, predict_bunch(&n, b, bunching, axes, q));
        if (source == FILLED)
            put_masks(&t, mask);
    }
    if (last < HALVES) {
        const size_t there = (size_t)(s->end - x) / WIDTH;
        const H q = take_last(&t, x, last, there, source, s->ahead);
        h_store(r, predict_bunch(&n, b, bunching, axes, q));
        x += last * WIDTH;
        r += last;
    }
    *halving = t;
    *nearby = n;
    s->vectors -= some;
    s->x = x;
    return r;
}

/* Which words of a plane of such rows, vector by vector, are not the first ones of theirs. */
static inline void mark_inside(const struct shape *s, uint32_t inside[])
{
    const size_t step = s->x - 1 - (HALVES - 1) % s->x; /* so many less, of rows */
    uint64_t starts = 0;
    for (size_t i = 0; i < HALVES; i += s->x)
        starts |= UINT64_C(1) << i;
    for (size_t i = 0, first = 0; i < s->plane; i += HALVES) {
        inside[i / HALVES] = first < HALVES ? ~(uint32_t)(starts << first) : UINT32_MAX;
        first += step;
        first -= first < s->x ? 0 : s->x;
    }
}

/* lines: without gaps between rows. `axes`, `bunching` and `source` are constants to the compiler.
 */
VECTOR enum outcome halve_bunch(const struct fuse *f, unsigned axes, enum bunching bunching,
                                enum source source, struct packer *p)
{
    _Alignas(64) uint16_t room[PART_HALVES + (MOST_HALVES + 1) * HALVES];
    uint32_t inside[ZMPI_CHUNK_INPUT_BYTES / WIDTH / HALVES + 1];
    const struct lines l = *f->lines;
    const size_t plane = f->s->plane, vectors = (plane + HALVES - 1) / HALVES;
    struct coming coming = coming_of(f, &l);
    struct halving t = halving_of(f);
    const struct half_bunch b = half_bunch_of(f->s->x);
    uint16_t *const above = (uint16_t *)(void *)f->work->sums;
    uint16_t *const kept = (uint16_t *)(void *)(f->work->integers + ZMPI_CHUNK_BEFORE);
    const H zero = h_set1(0);
    struct nearby n = {.left = zero};
    size_t words = 0;
    if (axes & ZMPI_AXIS_Z)
        for (size_t i = 0; i < vectors; i++)
            h_store(kept + i * HALVES, zero);
    if (bunching == LONG && axes & ZMPI_AXIS_Y)
        for (size_t i = 0; i < b.back; i++)
            h_store(above + i * HALVES, zero);
    if (axes & ZMPI_AXIS_X)
        mark_inside(f->s, inside);
    for (size_t z = 0; z < l.z; z++) {
        struct half_stretch s = {.x = l.at + z * l.plane, .rest = plane - (vectors - 1) * HALVES};
        s.end = s.x + l.words * WIDTH;
        s.ahead = coming_ahead(&coming, s.x);
        while (s.x < s.end) {
            if (!s.vectors) {
                s.vectors = vectors;
                n.last = zero;
                n.keep_z = kept;
                n.keep_y = above + b.back * HALVES;
                n.inside = inside;
            }
            uint16_t *const to =
                halve_stretch(&t, &n, &b, bunching, axes, source, &s, room + words);
            words = (size_t)(to - room);
            const bool all = s.x == s.end && z + 1 == l.z;
            if (words < PART_HALVES && !all)
                continue;
            const enum outcome o = half_outcome(&t, f);
            if (o)
                return o;
            words = pack_room(p, room, words, all);
        }
    }
    if (source == FILLED)
        put_bits(&t.bits, 0, 0); /* none behind the last */
    return DONE;
}

#define CASE(axes)                                                                                 \
    KERNEL enum outcome halve_bunch_##axes(const struct fuse *f, struct packer *p)                 \
    {                                                                                              \
        if (f->s->x <= HALVES)                                                                     \
            return halve_bunch(f, axes, SHORT, QUANTIZE, p);                                       \
        return halve_bunch(f, axes, LONG, QUANTIZE, p);                                            \
    }                                                                                              \
    KERNEL enum outcome halve_bunch_filled_##axes(const struct fuse *f, struct packer *p)          \
    {                                                                                              \
        if (f->s->x <= HALVES)                                                                     \
            return halve_bunch(f, axes, SHORT, FILLED, p);                                         \
        return halve_bunch(f, axes, LONG, FILLED, p);                                              \
    }
CASE(2)
CASE(3)
CASE(4)
CASE(5)
CASE(6)
CASE(7)
#undef CASE

#define EACH_BUNCHED(how)                                                                          \
    {                                                                                              \
        NULL, NULL, how##_2, how##_3, how##_4, how##_5, how##_6, how##_7                           \
    }

/* How, or NULL. Long rows of whole vectors are faster one by one. */
static inline halve_fn *halved_in(const struct fuse *f, unsigned axes, enum source source)
{
    static halve_fn *const bunched[][8] = {EACH_BUNCHED(halve_bunch),
                                           EACH_BUNCHED(halve_bunch_filled)};
    static halve_fn *const rows[][8] = {EACH_HALVED(QUANTIZE), EACH_HALVED(FILLED)};
    const bool no_gaps = f->lines->y == 1 && f->s->plane >= ZMPI_BLOCK;
    const bool one_by_one = f->s->x > 2 * HALVES && f->s->x % HALVES == 0;
    if (no_gaps && !one_by_one && axes > ZMPI_AXIS_X)
        return bunched[source == FILLED][axes];
    return rows_halved(f, axes) ? rows[source == FILLED][axes] : NULL;
}

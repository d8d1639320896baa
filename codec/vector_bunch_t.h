/*
 * vector_bunch_t.h - template: words in rows no longer than a vector to residuals, which become
 * planes: what is subtracted along x and y is found in registers. Along x, as many whole rows as
 * fit are a vector. After pack_taken.
 */

struct bunch {
    size_t words; /* that count in a vector */
    V left;       /* v_take: the words before these, */
    V inside;     /* of those that have one in their row */
    V above;      /* v_take: the words of the row above; of the first one, the last one's */
    V last;       /* lanes of the last row */
};

KERNEL struct bunch bunch_of(size_t row, unsigned axes)
{
    struct bunch b = {.words = axes & ZMPI_AXIS_X ? LANES / row * row : LANES};
    U left[LANES], inside[LANES], above[LANES], last[LANES];
    for (size_t i = 0; i < LANES; i++) {
        left[i] = (U)(i ? i - 1 : 0);
        inside[i] = i % row ? (U)-1 : 0;
        above[i] = (U)(i < row ? b.words - row + i : i - row);
        last[i] = i < b.words - row ? 0 : (U)-1;
    }
    b.left = v_indices(v_load(left));
    b.inside = v_load(inside);
    b.above = v_indices(v_load(above));
    b.last = v_load(last);
    return b;
}

/* A vector of words to residuals. n: the vector before; and along z, what was kept of each vector
 * of the plane before. one: of one row. */
VECTOR V take_bunch(struct intake *t, struct neighbours *n, const struct bunch *b, bool one,
                    unsigned axes, V word)
{
    const V q = take_quantized(t, word);
    V d = q;
    if (axes & ZMPI_AXIS_Y) {
        d = v_sub(q, one ? n->last : v_take(v_blend(q, n->last, b->last), b->above));
        n->last = q;
    }
    if (axes & ZMPI_AXIS_Z) {
        const V e = d;
        d = v_sub(d, v_load(n->keep_z));
        v_store(n->keep_z, e);
        n->keep_z += LANES;
    }
    return axes & ZMPI_AXIS_X ? v_sub(d, v_and(v_take(d, b->left), b->inside)) : d;
}

/* Words of a plane from x on, in so many vectors; a vector may be loaded up to `end`. */
struct stretch {
    const unsigned char *x, *end;
    size_t vectors, rest; /* the last one has so many words */
    struct ahead ahead;
};

/* Some of them; returns where they end. A vector is stored whole: what is behind its words is
 * overwritten by the next one, or in no row. */
VECTOR U *take_stretch(struct intake *t, struct neighbours *n, const struct bunch *b, bool one,
                       unsigned axes, struct stretch *s, U *d)
{
    enum { MOST = 32 };
    const size_t some = s->vectors < MOST ? s->vectors : MOST, words = b->words;
    const unsigned char *x = s->x;
    size_t left = some;
    for (; left > 2; left -= 2, x += 2 * words * WIDTH, d += 2 * words) {
        fetch(x, s->ahead);
        v_store(d, take_bunch(t, n, b, one, axes, load_words(x, 0)));
        v_store(d + words, take_bunch(t, n, b, one, axes, load_words(x, words)));
    }
    fetch(x, s->ahead);
    if (left == 2) {
        v_store(d, take_bunch(t, n, b, one, axes, load_words(x, 0)));
        x += words * WIDTH;
        d += words;
    }
    s->vectors -= some;
    const size_t last = s->vectors ? words : s->rest;
    const bool whole = s->end - x >= LANES * WIDTH;
    const V word = whole ? load_words(x, 0)
                         : v_take(load_words(s->end - LANES * WIDTH, 0), v_turn(LANES - last));
    v_store(d, take_bunch(t, n, b, one, axes, word));
    s->x = x + last * WIDTH;
    return d + last;
}

/* lines: without gaps between rows. */
VECTOR enum outcome fuse_short(const struct fuse *f, unsigned axes, bool one, struct packer *p)
{
    const struct lines l = *f->lines;
    const size_t plane = f->s->plane;
    struct coming coming = coming_of(f, &l);
    struct intake t = intake_of(f, QUANTIZE);
    struct residuals r = {.left = f->work->edges.left}; /* not looked at */
    const struct bunch b = bunch_of(f->s->x, axes);
    const size_t vectors = (plane + b.words - 1) / b.words;
    U *const kept = (U *)(void *)(f->work->integers + ZMPI_CHUNK_BEFORE);
    U *const room = (U *)(void *)f->work->sums + LANES;
    const V base = v_set1(f->base), first = axes & ZMPI_AXIS_Y ? v_set1(0) : base;
    struct neighbours n = {.keep_z = kept};
    struct taken taken = {room, 0, 0, false};
    if (axes & ZMPI_AXIS_Z)
        for (size_t i = 0; i < vectors; i++)
            v_store(kept + i * LANES, first);
    for (size_t z = 0; z < l.z; z++) {
        struct stretch s = {.x = l.at + z * l.plane, .rest = plane - (vectors - 1) * b.words};
        s.end = s.x + l.words * WIDTH;
        s.ahead = coming_ahead(&coming, s.x);
        while (s.x < s.end) {
            if (!s.vectors) {
                s.vectors = vectors;
                n.last = base;
                n.keep_z = kept;
            }
            U *const to = take_stretch(&t, &n, &b, one, axes, &s, room + taken.words);
            taken.words = (size_t)(to - room);
            if (taken.words < PART && (s.x < s.end || z + 1 < l.z))
                continue;
            const enum outcome o = intake_outcome(&t, f, QUANTIZE);
            if (o)
                return o;
            pack_taken(f, &r, 0, &taken, room, p);
        }
    }
    return DONE;
}

#define CASE(axes)                                                                                 \
    KERNEL enum outcome fuse_short_##axes(const struct fuse *f, struct packer *p)                  \
    {                                                                                              \
        if (axes & ZMPI_AXIS_X && 2 * f->s->x > LANES)                                             \
            return fuse_short(f, axes, true, p);                                                   \
        return fuse_short(f, axes, false, p);                                                      \
    }
CASE(2)
CASE(3)
CASE(4)
CASE(5)
CASE(6)
CASE(7)
#undef CASE

typedef enum outcome fuse_short_fn(const struct fuse *f, struct packer *p);
static fuse_short_fn *const fuse_short_along[] = {
    NULL, NULL, fuse_short_2, fuse_short_3, fuse_short_4, fuse_short_5, fuse_short_6, fuse_short_7};

/* Can they be taken so? */
static inline bool rows_short(const struct fuse *f, unsigned axes)
{
    return f->s->x <= LANES && f->s->plane >= ZMPI_BLOCK && f->lines->y == 1 && axes > ZMPI_AXIS_X;
}

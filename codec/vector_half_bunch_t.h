/*
 * vector_half_bunch_t.h - template: what vector_bunch_t.h does, in integers of 16 bits: rows no
 * longer than a vector of these. After vector_halves_t.h; only where any lanes go anywhere.
 */

struct half_bunch {
    size_t words; /* that count in a vector */
    H left;       /* h_take: the integers before these, */
    H inside;     /* of those that have one in their row */
    H above;      /* h_take: those of the row above; of the first one, the last one's */
    H last;       /* lanes of the last row */
};

KERNEL struct half_bunch half_bunch_of(size_t row, unsigned axes)
{
    struct half_bunch b = {.words = axes & ZMPI_AXIS_X ? HALVES / row * row : HALVES};
    uint16_t left[HALVES], inside[HALVES], above[HALVES], last[HALVES];
    for (size_t i = 0; i < HALVES; i++) {
        left[i] = (uint16_t)(i ? i - 1 : 0);
        inside[i] = i % row ? UINT16_MAX : 0;
        above[i] = (uint16_t)(i < row ? b.words - row + i : i - row);
        last[i] = i < b.words - row ? 0 : UINT16_MAX;
    }
    b.left = h_load(left);
    b.inside = h_load(inside);
    b.above = h_load(above);
    b.last = h_load(last);
    return b;
}

/* A vector of integers to residuals. n: the vector before; and along z, what was kept of each
 * vector of the plane before. one: of one row. */
VECTOR H predict_bunch(struct nearby *n, const struct half_bunch *b, bool one, unsigned axes, H q)
{
    H d = q;
    if (axes & ZMPI_AXIS_Y) {
        d = h_sub(q, one ? n->last : h_take(v_blend(q, n->last, b->last), b->above));
        n->last = q;
    }
    if (axes & ZMPI_AXIS_Z) {
        const H e = d;
        d = h_sub(d, h_load(n->keep_z));
        h_store(n->keep_z, e);
        n->keep_z += HALVES;
    }
    return axes & ZMPI_AXIS_X ? h_sub(d, v_and(h_take(d, b->left), b->inside)) : d;
}

/* Words of a plane from x on, in so many vectors; a vector may be loaded up to `end`. */
struct half_stretch {
    const unsigned char *x, *end;
    size_t vectors, rest; /* the last one has so many words */
    struct ahead ahead;
};

/* Vectors that are made in one go. */
enum { MOST_HALVES = 16 };

/* The words at x, if not whole, of so many that are there; in other lanes there may be others. */
VECTOR H take_halves(struct halving *t, const unsigned char *x, size_t end, bool whole,
                     struct ahead ahead)
{
    F q[HALVES / LANES];
    for (unsigned k = 0; k < HALVES / LANES; k++) {
        const size_t i = k * LANES;
        fetch(x + i * WIDTH, ahead);
        q[k] = half_scaled(t, whole ? load_words(x, i) : load_before(x, i, end));
    }
    return half_joined(t, q);
}

/* Some of them; returns where they end. A vector is stored whole: what is behind its words is
 * overwritten by the next one, or in no row. */
VECTOR uint16_t *halve_stretch(struct halving *t, struct nearby *n, const struct half_bunch *b,
                               bool one, unsigned axes, struct half_stretch *s, uint16_t *r)
{
    const size_t some = s->vectors < MOST_HALVES ? s->vectors : MOST_HALVES, words = b->words;
    const unsigned char *x = s->x;
    for (size_t left = some; left > 1; left--, x += words * WIDTH, r += words) {
        const H q = take_halves(t, x, 0, true, s->ahead);
        h_store(r, predict_bunch(n, b, one, axes, q));
    }
    s->vectors -= some;
    const size_t last = s->vectors ? words : s->rest, there = (size_t)(s->end - x) / WIDTH;
    const H q = take_halves(t, x, there, false, s->ahead);
    h_store(r, predict_bunch(n, b, one, axes, q));
    s->x = x + last * WIDTH;
    return r + last;
}

/* lines: without gaps between rows. */
VECTOR enum outcome halve_short(const struct fuse *f, unsigned axes, bool one, struct packer *p)
{
    _Alignas(64) uint16_t room[PART_HALVES + (MOST_HALVES + 1) * HALVES];
    const struct lines l = *f->lines;
    const size_t plane = f->s->plane;
    struct coming coming = coming_of(f, &l);
    struct halving t = halving_of(f);
    const struct half_bunch b = half_bunch_of(f->s->x, axes);
    const size_t vectors = (plane + b.words - 1) / b.words;
    uint16_t *const kept = (uint16_t *)(void *)(f->work->integers + ZMPI_CHUNK_BEFORE);
    const H base = h_set1(half_base(f)), first = axes & ZMPI_AXIS_Y ? h_set1(0) : base;
    struct nearby n = {.keep_z = kept};
    size_t words = 0;
    if (axes & ZMPI_AXIS_Z)
        for (size_t i = 0; i < vectors; i++)
            h_store(kept + i * HALVES, first);
    for (size_t z = 0; z < l.z; z++) {
        struct half_stretch s = {.x = l.at + z * l.plane, .rest = plane - (vectors - 1) * b.words};
        s.end = s.x + l.words * WIDTH;
        s.ahead = coming_ahead(&coming, s.x);
        while (s.x < s.end) {
            if (!s.vectors) {
                s.vectors = vectors;
                n.last = base;
                n.keep_z = kept;
            }
            words = (size_t)(halve_stretch(&t, &n, &b, one, axes, &s, room + words) - room);
            const bool all = s.x == s.end && z + 1 == l.z;
            if (words < PART_HALVES && !all)
                continue;
            const enum outcome o = half_outcome(&t, &f->quantizer);
            if (o)
                return o;
            words = pack_room(p, room, words, all);
        }
    }
    return DONE;
}

#define CASE(axes)                                                                                 \
    KERNEL enum outcome halve_short_##axes(const struct fuse *f, struct packer *p)                 \
    {                                                                                              \
        if (axes & ZMPI_AXIS_X && 2 * f->s->x > HALVES)                                            \
            return halve_short(f, axes, true, p);                                                  \
        return halve_short(f, axes, false, p);                                                     \
    }
CASE(2)
CASE(3)
CASE(4)
CASE(5)
CASE(6)
CASE(7)
#undef CASE

static halve_fn *const halve_short_along[] = {NULL,          NULL,          halve_short_2,
                                              halve_short_3, halve_short_4, halve_short_5,
                                              halve_short_6, halve_short_7};

/* Can they be taken so? */
static inline bool can_be_bunched(const struct fuse *f, unsigned axes)
{
    return f->s->x < ZMPI_BLOCK && f->s->plane >= ZMPI_BLOCK && f->lines->y == 1 &&
           axes > ZMPI_AXIS_X;
}

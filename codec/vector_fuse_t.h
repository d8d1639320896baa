/*
 * vector_fuse_t.h - template: the rows of a tile to planes in one pass: each vector of words is
 * loaded, made integers, checked, predicted and packed while it is in registers, if no block
 * crosses the end of a row; else the integers are kept on their way. After vector_quant_t.h.
 *
 * What prediction needs of the rows before is kept in two buffers:
 * the integers of the row above, and the differences along y of the plane before. Outside the tile
 * lies the base, instead of zeros behind a subtraction.
 */

/* Quantized; words as they are; quantized but for exceptions, of which FILLED knows only one word,
 * MASKED any: masks of these are left in the work. */
enum source { QUANTIZE, WORDS, FILLED, MASKED };

struct fuse {
    const struct shape *s;
    const struct zmpi_rows *rows;
    const struct lines *lines; /* the same */
    struct zmpi_chunk_work *work;
    struct quantizer quantizer; /* but for WORDS */
    bool within;                /* QUANTIZE: all words are known to be */
    bool sampled;               /* a tile is looked at before it is coded */
    U flip;                     /* WORDS: see v_ordered */
    U fill;                     /* FILLED */
    U base;                     /* in terms of the integers here */
};

/* Per-row state of prediction. */
struct neighbours {
    const U *above, *before; /* what is subtracted */
    U *keep_y, *keep_z;      /* what is kept for the rows to come */
    V base, last;
};

/* Residuals of a vector of integers, element i of the row. */
VECTOR V predict(struct neighbours *n, size_t i, unsigned axes, V q)
{
    V d = axes ? q : v_sub(q, n->base);
    if (axes & ZMPI_AXIS_Y) {
        d = v_sub(d, v_load(n->above + i));
        v_store(n->keep_y + i, q);
    }
    if (axes & ZMPI_AXIS_Z) {
        V e = d;
        d = v_sub(d, v_load(n->before + i));
        v_store(n->keep_z + i, e);
    }
    if (!(axes & ZMPI_AXIS_X))
        return d;
    V r = v_sub(d, v_shift_in(n->last, d));
    n->last = d;
    return r;
}

struct intake {
    struct vector_quantizer z;
    struct doubt doubt;
    V flip, fill, held;
    uint32_t *masks; /* FILLED, MASKED: the next block's */
};

VECTOR struct intake intake_of(const struct fuse *f, enum source source)
{
    struct intake t = {.z = vector_quantizer_within(&f->quantizer),
                       .doubt = doubt_none(),
                       .flip = v_set1(f->flip),
                       .fill = v_set1(f->fill),
                       .held = v_set1(f->base),
                       .masks = f->work->exception};
    if (source == MASKED)
        t.z = vector_quantizer_of(&f->quantizer);
    return t;
}

/* WIDE: there may be words beyond the limit. */
enum outcome { DONE, EXCEPTION, WIDE };

VECTOR enum outcome intake_outcome(const struct intake *t, const struct fuse *f, enum source source)
{
    if (source == WORDS || source == MASKED)
        return DONE;
    if (doubt_any(&t->doubt, t->z.limit, t->z.bound))
        return EXCEPTION;
    return !f->within && doubt_wide(&t->doubt, (U)f->quantizer.window) ? WIDE : DONE;
}

VECTOR V take_quantized(struct intake *t, V word)
{
    F x = f_of_bits(word), v = nearest(&t->z, x);
    const F steps = f_sub(v, t->z.magic);
    doubt_add(&t->doubt, x, f_bits(v), f_error(x, steps, t->z.step), t->z.limit, t->z.bound);
    return f_bits(v);
}

/* Words to integers. In the places of exceptions, which get bits in mask, the last one before them
 * is held. */
VECTOR V take(struct intake *t, V word, enum source source, uint32_t *mask)
{
    uint32_t fine;
    V q;
    *mask = 0;
    if (source == WORDS)
        return v_ordered(word, t->flip);
    if (source == QUANTIZE)
        return take_quantized(t, word);
    if (source == FILLED) {
        const M differ = v_differ(word, t->fill);
        q = take_quantized(t, v_where(differ, word));
        fine = m_bits(differ);
    } else {
        const F x = f_of_bits(word), v = nearest(&t->z, x);
        q = f_bits(v);
        fine = quantized(&t->z, x, v);
    }
    *mask = ~fine & ALL_LANES;
    return t->held = v_hold(q, fine, t->held);
}

/*
 * The hardware's prefetchers stop where a line of the tile ends, so that lines are asked for here,
 * NEAR bytes or more before they are coded, into the second-level cache: those of this tile, and at
 * its end the next one's. (With the next tile's lines 32 KiB ahead it was 5 % slower; but they are
 * there where a tile is looked at first.) From there to the first level the prefetchers do
 * not follow short rows either: what is needed three lines of cache on is asked for again (4 % of
 * the whole).
 */
enum { NEAR = 6144 };

struct coming {
    struct lines l;
    const unsigned char *next; /* the tile's; or this one's again */
    size_t y, z;
};

VECTOR struct coming coming_of(const struct fuse *f, const struct lines *l)
{
    const size_t line = l->words * WIDTH, lines = (NEAR + line - 1) / line;
    struct coming c = {*l, f->rows->next ? f->rows->next : l->at, lines % l->y, lines / l->y};
    if (f->sampled)
        return (struct coming){{c.next, l->words, l->y, l->z, l->row, l->plane}, c.next, 0, 0};
    if (l->y * l->z == 1 && c.next == l->at + line)
        return (struct coming){.l.at = l->at + NEAR};
    for (; c.z >= l->z; c.z -= l->z)
        c.l.at = c.next;
    return c;
}

/* How far from x, where the next line begins, the one lies that is asked for meanwhile. */
VECTOR size_t coming_ahead(struct coming *c, const unsigned char *x)
{
    const unsigned char *line = c->l.at + c->z * c->l.plane + c->y * c->l.row;
    if (++c->y == c->l.y) {
        c->y = 0;
        if (++c->z == c->l.z) {
            c->z = 0;
            c->l.at = c->next;
        }
    }
    return (size_t)((uintptr_t)line - (uintptr_t)x);
}

VECTOR void fetch(const unsigned char *x, size_t ahead)
{
    v_prefetch(x, ahead);
    __builtin_prefetch((const void *)((uintptr_t)x + 192));
}

/* A row that blocks fit in. */
VECTOR void fuse_blocks(struct intake *t, struct neighbours *n, const unsigned char *x,
                        size_t words, size_t ahead, unsigned axes, enum source source,
                        struct packer *p)
{
    for (size_t i = 0; i < words; i += ZMPI_BLOCK) {
        V r[VECTORS];
        uint32_t masks = 0, mask;
        for (unsigned k = 0; k < VECTORS; k++) {
            const size_t j = i + k * LANES;
            if (j * WIDTH % 64 == 0)
                fetch(x + j * WIDTH, ahead);
            const V word = v_load((const U *)(const void *)(x + j * WIDTH));
            r[k] = predict(n, j, axes, take(t, word, source, &mask));
            v_settle(&r[k]);
            masks |= mask << (k * LANES);
        }
        if (source >= FILLED)
            *t->masks++ = masks;
        pack_next(p, r);
    }
}

/* Words between one look for exceptions and the next; and in rows of any length so many integers,
 * in turns with blocks made of as many that lie as far behind: what was just stored is slow to load
 * in another alignment. Not many more: while blocks are made nothing is fetched. */
enum { PART = 256 };

/* The rows of an aligned tile: no block crosses the end of one. `axes` and `source` are constants
 * to the compiler. If it is not done, the planes are worth nothing. */
VECTOR enum outcome fuse_aligned(const struct fuse *f, unsigned axes, enum source source,
                                 struct packer *packer)
{
    struct packer own = *packer, *const p = &own; /* in registers: bytes stored may be anything */
    const struct shape s = *f->s;
    const struct zmpi_rows rows = *f->rows;
    struct zmpi_chunk_work *work = f->work;
    const U *zeros = (const U *)(const void *)work->integers;
    U *bases = (U *)(void *)work->bases, *keep_y = (U *)(void *)work->sums;
    U *keep_z = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    const struct lines l = {rows.at, s.x, s.y, s.z, rows.row, rows.plane};
    struct coming coming = coming_of(f, &l);
    struct intake t = intake_of(f, source);
    struct neighbours n = {.base = v_set1(f->base), .last = v_set1(f->base)};
    if (axes & (ZMPI_AXIS_Y | ZMPI_AXIS_Z))
        for (size_t i = 0; i < s.x; i += LANES)
            v_store(bases + i, n.base);
    for (size_t z = 0, unseen = 0; z < s.z; z++)
        for (size_t y = 0; y < s.y; y++) {
            n.above = y ? keep_y : bases;
            n.keep_y = keep_y;
            n.keep_z = keep_z + y * s.x;
            n.before = z ? n.keep_z : axes & ZMPI_AXIS_Y ? zeros : bases;
            if (axes != ZMPI_AXIS_X)
                n.last = v_set1(0);
            const unsigned char *x = rows.at + z * rows.plane + y * rows.row;
            fuse_blocks(&t, &n, x, s.x, coming_ahead(&coming, x), axes, source, p);
            if ((unseen += s.x) < PART && (y + 1 < s.y || z + 1 < s.z))
                continue;
            unseen = 0;
            const enum outcome o = intake_outcome(&t, f, source);
            if (o)
                return o;
        }
    pack_flush(p);
    *packer = own;
    return DONE;
}

/* ---- rows of any length ---- */

/* A block of words to integers less base; returns the mask of exceptions. */
VECTOR uint32_t take_words(struct intake *t, const unsigned char *x, size_t ahead, V base,
                           enum source source, U *q)
{
    uint32_t masks = 0, mask;
    for (unsigned i = 0; i < ZMPI_BLOCK; i += LANES) {
        if (i * WIDTH % 64 == 0)
            fetch(x + i * WIDTH, ahead);
        const V word = v_load((const U *)(const void *)(x + i * WIDTH));
        v_store(q + i, v_sub(take(t, word, source, &mask), base));
        masks |= mask << i;
    }
    return masks;
}

/* The words that come next, line by line. */
struct walk {
    struct lines l;
    const unsigned char *x; /* in line y of plane z */
    size_t left, y, z;      /* words of the line from there */
    struct coming coming;
    size_t ahead;
};

VECTOR void walk_line(struct walk *w)
{
    w->x = w->l.at + w->z * w->l.plane + w->y * w->l.row;
    w->left = w->l.words;
    w->ahead = coming_ahead(&w->coming, w->x);
}

VECTOR struct walk walk_begin(const struct fuse *f)
{
    struct walk w = {.l = *f->lines, .coming = coming_of(f, f->lines)};
    walk_line(&w);
    return w;
}

VECTOR void walk_on(struct walk *w)
{
    if (++w->y == w->l.y) {
        w->y = 0;
        w->z++;
    }
    walk_line(w);
}

/* The block that ends at `end`, and the one at x: a copy of what lies around the end of a line. */
VECTOR void copy_around(const unsigned char *end, const unsigned char *x, U copy[2 * ZMPI_BLOCK])
{
    const unsigned char *last = end - ZMPI_BLOCK * WIDTH;
    for (size_t i = 0; i < ZMPI_BLOCK; i += LANES) {
        v_store(copy + i, v_load((const U *)(const void *)(last + i * WIDTH)));
        v_store(copy + ZMPI_BLOCK + i, v_load((const U *)(const void *)(x + i * WIDTH)));
    }
}

/* The words of a block. Where it crosses the end of a line, the last ones of this line again and
 * the first ones of the next, a block of each: only addresses depend on where it does. With
 * exceptions, whose integers depend on what was before them, a copy. */
VECTOR void take_next(struct intake *t, struct walk *w, V base, enum source source, U *q)
{
    U copy[2 * ZMPI_BLOCK];
    const unsigned char *x = w->x;
    size_t n = ZMPI_BLOCK;
    if (w->left < ZMPI_BLOCK) {
        const size_t left = w->left;
        const unsigned char *end = x + left * WIDTH;
        n -= left;
        walk_on(w);
        x = w->x;
        if (source >= FILLED) {
            copy_around(end, x, copy);
            x = (const unsigned char *)(copy + n);
        } else {
            take_words(t, end - ZMPI_BLOCK * WIDTH, w->ahead, base, source, q + left - ZMPI_BLOCK);
            q += left;
        }
    }
    const uint32_t mask = take_words(t, x, w->ahead, base, source, q);
    if (source >= FILLED)
        *t->masks++ = mask;
    w->x += n * WIDTH;
    w->left -= n;
}

/* The last ones, fewer than a block. */
VECTOR void take_rest(struct intake *t, const struct walk *w, V base, enum source source, U *q)
{
    U copy[2 * ZMPI_BLOCK];
    const size_t left = w->left, again = ZMPI_BLOCK - left;
    const unsigned char *end = w->x + left * WIDTH;
    if (source < FILLED) {
        take_words(t, end - ZMPI_BLOCK * WIDTH, w->ahead, base, source, q - again);
        return;
    }
    copy_around(end, end - ZMPI_BLOCK * WIDTH, copy);
    const unsigned char *x = (const unsigned char *)(copy + again);
    *t->masks++ = take_words(t, x, w->ahead, base, source, q) & (UINT32_MAX >> again);
}

/* From this source on, blocks are made by a function for all sources and axes, which is a little
 * slower: the code of each set of axes is long. */
#ifdef FILLED_APART
#define BY_CALL MASKED
#else
#define BY_CALL FILLED
#endif

/* Blocks from..end-1 of integers. */
VECTOR void make_blocks(const struct fuse *f, struct residuals *r, unsigned axes, size_t from,
                        size_t end, enum source source, struct packer *p)
{
    if (source >= BY_CALL)
        pack_blocks(f->s, r, axes, from, end, p);
    else
        pack_range(f->s, r, axes, from, end, p);
}

/* Integers, and blocks of them some way behind. */
VECTOR enum outcome fuse_loose(const struct fuse *f, unsigned axes, enum source source,
                               struct packer *packer)
{
    enum { STEP = PART / ZMPI_BLOCK };
    struct packer own = *packer, *const p = source < BY_CALL ? &own : packer;
    const size_t whole = f->s->count / ZMPI_BLOCK;
    struct intake t = intake_of(f, source);
    struct residuals r = residuals_begin(f->s, f->work);
    struct walk w = walk_begin(f);
    const V base = v_set1(f->base);
    U *q = (U *)(void *)(f->work->integers + ZMPI_CHUNK_BEFORE);
    size_t taken = 0, made = 0;
    while (taken < whole) {
        const size_t end = whole - taken < STEP ? whole : taken + STEP;
        for (; taken < end; taken++, q += ZMPI_BLOCK)
            take_next(&t, &w, base, source, q);
        if (taken == whole && f->s->count % ZMPI_BLOCK)
            take_rest(&t, &w, base, source, q);
        const enum outcome o = intake_outcome(&t, f, source);
        if (o)
            return o;
        if (taken > STEP) {
            make_blocks(f, &r, axes, made, taken - STEP, source, p);
            made = taken - STEP;
        }
    }
    make_blocks(f, &r, axes, made, f->s->blocks, source, p);
    pack_flush(p);
    if (source < BY_CALL)
        *packer = own;
    return DONE;
}

#ifdef AXES_APART
/* See vector_short_t.h. */
VECTOR enum outcome fuse_axes(const struct fuse *f, unsigned axes, enum source source,
                              struct packer *p)
{
    return f->s->x % ZMPI_BLOCK ? fuse_loose(f, axes, source, p) : fuse_aligned(f, axes, source, p);
}

#define CASE(a)                                                                                    \
    KERNEL enum outcome quantized_of_##a(const struct fuse *f, struct packer *p)                   \
    {                                                                                              \
        return fuse_axes(f, a, QUANTIZE, p);                                                       \
    }                                                                                              \
    KERNEL enum outcome filled_of_##a(const struct fuse *f, struct packer *p)                      \
    {                                                                                              \
        return fuse_aligned(f, a, FILLED, p);                                                      \
    }                                                                                              \
    KERNEL enum outcome masked_of_##a(const struct fuse *f, struct packer *p)                      \
    {                                                                                              \
        return fuse_aligned(f, a, MASKED, p);                                                      \
    }                                                                                              \
    KERNEL enum outcome ordered_of_##a(const struct fuse *f, struct packer *p)                     \
    {                                                                                              \
        return fuse_axes(f, a, WORDS, p);                                                          \
    }
EACH_AXES(CASE)
#undef CASE

VECTOR enum outcome fuse_rows(const struct fuse *f, unsigned axes, enum source source,
                              struct packer *p)
{
    if (f->s->x % ZMPI_BLOCK && source >= FILLED)
        return fuse_loose(f, axes, source, p);
    switch (axes) {
#define CASE(a)                                                                                    \
    case a:                                                                                        \
        return (source == QUANTIZE ? quantized_of_##a                                              \
                : source == FILLED ? filled_of_##a                                                 \
                : source == MASKED ? masked_of_##a                                                 \
                                   : ordered_of_##a)(f, p);
        EACH_AXES(CASE)
#undef CASE
    }
    return EXCEPTION;
}
#else
VECTOR enum outcome fuse_rows(const struct fuse *f, unsigned axes, enum source source,
                              struct packer *p)
{
    const bool loose = f->s->x % ZMPI_BLOCK;
    if (loose && source >= BY_CALL)
        return fuse_loose(f, axes, source, p);
    switch (axes) {
#define CASE(a)                                                                                    \
    case a:                                                                                        \
        return loose ? fuse_loose(f, a, source, p) : fuse_aligned(f, a, source, p);
        EACH_AXES(CASE)
#undef CASE
    }
    return EXCEPTION;
}
#endif

KERNEL enum outcome fuse_quantized(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_rows(f, axes, QUANTIZE, p);
}

KERNEL enum outcome fuse_filled(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_rows(f, axes, FILLED, p);
}

KERNEL enum outcome fuse_masked(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_rows(f, axes, MASKED, p);
}

KERNEL enum outcome fuse_ordered(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_rows(f, axes, WORDS, p);
}

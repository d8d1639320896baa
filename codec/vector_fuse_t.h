/*
 * vector_fuse_t.h - template: the rows of a tile to planes in one pass: each vector of words is
 * loaded, made integers, checked, predicted and packed while it is in registers, if no block
 * crosses the end of a row; else the integers are kept on their way. After vector_quant_t.h.
 *
 * What prediction needs of the rows before is kept in two buffers:
 * the integers of the row above, and the differences along y of the plane before. Outside the tile
 * lies the base, instead of zeros behind a subtraction.
 */

/* MASKED: quantized but for exceptions, which are listed. */
enum source { QUANTIZE, WORDS, MASKED };

struct fuse {
    const struct shape *s;
    const struct zmpi_rows *rows;
    const struct lines *lines; /* the same */
    struct zmpi_chunk_work *work;
    struct quantizer quantizer;    /* QUANTIZE */
    bool within;                   /* QUANTIZE: all words are known to be */
    U flip;                        /* WORDS: see v_ordered */
    U base;                        /* in terms of the integers here */
    struct exceptions *exceptions; /* MASKED: the lists */
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
    V flip, held;
    struct exceptions exceptions;
};

VECTOR struct intake intake_of(const struct fuse *f, enum source source)
{
    struct intake t = {.z = vector_quantizer_within(&f->quantizer),
                       .doubt = doubt_none(),
                       .flip = v_set1(f->flip)};
    if (source == MASKED) {
        t.z = vector_quantizer_of(&f->quantizer);
        t.held = v_set1(f->base);
        t.exceptions = *f->exceptions;
    }
    return t;
}

/* WIDE: there may be words beyond the limit. */
enum outcome { DONE, EXCEPTION, WIDE };

VECTOR enum outcome intake_outcome(const struct intake *t, const struct fuse *f)
{
    if (doubt_any(&t->doubt, t->z.limit, t->z.bound))
        return EXCEPTION;
    return !f->within && doubt_wide(&t->doubt, (U)f->quantizer.window) ? WIDE : DONE;
}

/* Words to integers. */
VECTOR V take(struct intake *t, V word, enum source source)
{
    if (source == WORDS)
        return v_ordered(word, t->flip);
    F x = f_of_bits(word), v = nearest(&t->z, x);
    const F steps = f_sub(v, t->z.magic);
    doubt_add(&t->doubt, x, f_bits(v), f_error(x, steps, t->z.step), t->z.limit, t->z.bound);
    return f_bits(v);
}

/* A block, the same with exceptions. */
VECTOR void take_block(struct intake *t, const unsigned char *x, V q[VECTORS])
{
    uint32_t all = 0, mask;
    for (unsigned k = 0; k < VECTORS; k++) {
        const V word = v_load((const U *)(const void *)(x + k * LANES * WIDTH));
        q[k] = hold_next(&t->z, word, ALL_LANES, &t->held, &mask);
        all |= mask << (k * LANES);
    }
    exceptions_next(&t->exceptions, x, all);
}

/* The hardware's prefetchers stop where a row of the tile ends, so the next tile's rows are asked
 * for here, into the second-level cache. From there to the first they do not follow short rows
 * either: what is needed three lines on is asked for again (4 % of the whole). */
VECTOR void fetch(const unsigned char *x, size_t ahead)
{
    v_prefetch(x, ahead);
    __builtin_prefetch((const void *)((uintptr_t)x + 192));
}

/* Where the next tile's words lie from this one's; where they just follow, less far is enough. */
static inline size_t fetch_ahead(const struct zmpi_rows *rows, const struct shape *s)
{
    enum { NEAR = 8192 };
    const size_t ahead = rows->next ? (size_t)(rows->next - rows->at) : 0;
    return ahead == s->count * WIDTH && s->x == s->count && ahead > NEAR ? NEAR : ahead;
}

/* A row that blocks fit in. */
VECTOR void fuse_blocks(struct intake *t, struct neighbours *n, const unsigned char *x,
                        size_t words, size_t ahead, unsigned axes, enum source source,
                        struct packer *p)
{
    for (size_t i = 0; i < words; i += ZMPI_BLOCK) {
        V r[VECTORS];
        if (source == MASKED)
            take_block(t, x + i * WIDTH, r);
        for (unsigned k = 0; k < VECTORS; k++) {
            const size_t j = i + k * LANES;
            if (j * WIDTH % 64 == 0)
                fetch(x + j * WIDTH, ahead);
            if (source != MASKED)
                r[k] = take(t, v_load((const U *)(const void *)(x + j * WIDTH)), source);
            r[k] = predict(n, j, axes, r[k]);
        }
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
    const size_t ahead = fetch_ahead(&rows, &s);
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
            fuse_blocks(&t, &n, rows.at + z * rows.plane + y * rows.row, s.x, ahead, axes, source,
                        p);
            if ((unseen += s.x) < PART && (y + 1 < s.y || z + 1 < s.z))
                continue;
            unseen = 0;
            const enum outcome o = source == QUANTIZE ? intake_outcome(&t, f) : DONE;
            if (o)
                return o;
        }
    if (source == MASKED)
        *f->exceptions = t.exceptions;
    *packer = own;
    return DONE;
}

/* ---- rows of any length ---- */

/* A block of words to integers less base. */
VECTOR void take_words(struct intake *t, const unsigned char *x, size_t ahead, V base,
                       enum source source, U *q)
{
    for (unsigned i = 0; i < ZMPI_BLOCK; i += LANES) {
        if (i * WIDTH % 64 == 0)
            fetch(x + i * WIDTH, ahead);
        const V word = v_load((const U *)(const void *)(x + i * WIDTH));
        v_store(q + i, v_sub(take(t, word, source), base));
    }
}

/* The words that come next, line by line. */
struct walk {
    struct lines l;
    const unsigned char *x; /* in line y of plane z */
    size_t left, y, z;      /* words of the line from there */
};

VECTOR void walk_on(struct walk *w)
{
    if (++w->y == w->l.y) {
        w->y = 0;
        w->z++;
    }
    w->x = w->l.at + w->z * w->l.plane + w->y * w->l.row;
    w->left = w->l.words;
}

/* The words of a block. Where it crosses the end of a line, the last ones of this line again and
 * the first ones of the next, a block of each: only addresses depend on where it does. */
VECTOR void take_next(struct intake *t, struct walk *w, size_t ahead, V base, enum source source,
                      U *q)
{
    size_t n = ZMPI_BLOCK;
    if (w->left < ZMPI_BLOCK) {
        q += w->left;
        n -= w->left;
        take_words(t, w->x + w->left * WIDTH - ZMPI_BLOCK * WIDTH, ahead, base, source,
                   q - ZMPI_BLOCK);
        walk_on(w);
    }
    take_words(t, w->x, ahead, base, source, q);
    w->x += n * WIDTH;
    w->left -= n;
}

/* Integers, and blocks of them some way behind. */
VECTOR enum outcome fuse_loose(const struct fuse *f, unsigned axes, enum source source,
                               struct packer *packer)
{
    enum { STEP = PART / ZMPI_BLOCK };
    struct packer own = *packer, *const p = &own;
    const size_t ahead = fetch_ahead(f->rows, f->s);
    const size_t whole = f->s->count / ZMPI_BLOCK, rest = f->s->count % ZMPI_BLOCK;
    struct intake t = intake_of(f, source);
    struct residuals r = residuals_begin(f->s, f->work);
    struct walk w = {*f->lines, f->lines->at, f->lines->words, 0, 0};
    const V base = v_set1(f->base);
    U *q = (U *)(void *)(f->work->integers + ZMPI_CHUNK_BEFORE);
    size_t taken = 0, made = 0;
    while (taken < whole) {
        const size_t end = whole - taken < STEP ? whole : taken + STEP;
        for (; taken < end; taken++, q += ZMPI_BLOCK)
            take_next(&t, &w, ahead, base, source, q);
        if (taken == whole && rest)
            take_words(&t, w.x + rest * WIDTH - ZMPI_BLOCK * WIDTH, ahead, base, source,
                       q + rest - ZMPI_BLOCK);
        const enum outcome o = source == QUANTIZE ? intake_outcome(&t, f) : DONE;
        if (o)
            return o;
        if (taken > STEP)
            made = pack_until(p, &r, axes, made, taken - STEP);
    }
    pack_until(p, &r, axes, made, whole);
    if (rest)
        pack_rest(p, &r, f->s, axes);
    *packer = own;
    return DONE;
}

VECTOR enum outcome fuse_rows(const struct fuse *f, unsigned axes, enum source source,
                              struct packer *p)
{
    switch (2 * axes + (f->s->x % ZMPI_BLOCK == 0)) {
#define CASE(a)                                                                                    \
    case 2 * (a):                                                                                  \
        return fuse_loose(f, a, source, p);                                                        \
    case 2 * (a) + 1:                                                                              \
        return fuse_aligned(f, a, source, p);
        EACH_AXES(CASE)
#undef CASE
    }
    return EXCEPTION;
}

KERNEL enum outcome fuse_quantized(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_rows(f, axes, QUANTIZE, p);
}

KERNEL enum outcome fuse_ordered(const struct fuse *f, unsigned axes, struct packer *p)
{
    return fuse_rows(f, axes, WORDS, p);
}

/* With exceptions, which are listed; blocks fit in the rows. */
KERNEL void fuse_masked(const struct fuse *f, unsigned axes, struct packer *p)
{
    switch (axes) {
#define CASE(a)                                                                                    \
    case a:                                                                                        \
        fuse_aligned(f, a, MASKED, p);                                                             \
        break;
        EACH_AXES(CASE)
#undef CASE
    }
}

/* Words of rows of any length on their way to blocks. */
struct holder {
    struct masks masks;
    U *q, *copy;
    V held;
};

/* n of LANES words to integers less base, and to a copy. */
VECTOR void hold_words(struct holder *h, const struct vector_quantizer *z, V word, size_t n, V base)
{
    uint32_t mask;
    V v = hold_next(z, word, ALL_LANES >> (LANES - n), &h->held, &mask);
    v_store(h->q, v_sub(v, base));
    v_store(h->copy, word);
    h->q += n;
    h->copy += n;
    masks_append(&h->masks, mask, (unsigned)n);
}

/* A row, or a part of one. */
KERNEL void hold_row(const struct fuse *f, struct holder *holder, const unsigned char *x,
                     size_t words)
{
    const struct vector_quantizer z = vector_quantizer_of(&f->quantizer);
    const size_t ahead = fetch_ahead(f->rows, f->s);
    const V base = v_set1(f->base);
    struct holder h = *holder;
    size_t i = 0;
    for (; i + LANES <= words; i += LANES) {
        if (i * WIDTH % 64 == 0)
            fetch(x + i * WIDTH, ahead);
        hold_words(&h, &z, v_load((const U *)(const void *)(x + i * WIDTH)), LANES, base);
    }
    if (i < words) {
        fetch(x + i * WIDTH, ahead);
        hold_words(&h, &z, v_load_few(x + i * WIDTH, words - i), words - i, base);
    }
    *holder = h;
}

/* The same for rows of any length: words, integers and masks go to the work, and blocks of them
 * follow some way behind. */
TARGET static void fuse_masked_loose(const struct fuse *f, unsigned axes, struct packer *p)
{
    const struct shape *s = f->s;
    const struct lines l = *f->lines;
    struct zmpi_chunk_work *work = f->work;
    struct residuals r = residuals_begin(s, work);
    struct holder h = {.masks = {.next = work->exception},
                       .q = (U *)(void *)(work->integers + ZMPI_CHUNK_BEFORE),
                       .copy = (U *)(void *)work->words,
                       .held = v_set1(f->base)};
    size_t at = 0, block = 0;
    for (size_t z = 0; z < l.z; z++)
        for (size_t y = 0; y < l.y; y++) {
            const unsigned char *x = l.at + z * l.plane + y * l.row;
            for (size_t i = 0, n; i < l.words; i += n, at += n) {
                n = l.words - i < PART ? l.words - i : PART;
                hold_row(f, &h, x + i * WIDTH, n);
                const size_t end = at + n == s->count ? s->blocks : (at + n) / ZMPI_BLOCK;
                if (end < s->blocks && end - block < PART / ZMPI_BLOCK)
                    continue;
                if (h.masks.n && end == s->blocks)
                    *h.masks.next = (uint32_t)h.masks.bits;
                list_exceptions(f->exceptions, work, block, end);
                pack_blocks(s, &r, axes, block, end, p);
                block = end;
            }
        }
}

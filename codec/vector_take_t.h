/*
 * vector_take_t.h - template: the words of a tile to integers, and integers of rows to residuals, a
 * vector at a time. After vector_quant_t.h.
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
    T magic;                    /* QUANTIZE, FILLED: window_magic */
    U base;                     /* in terms of the integers here */
};

/* Per-row state of prediction. */
struct neighbours {
    const U *above, *before; /* what is subtracted */
    U *keep_y, *keep_z;      /* what is kept for the rows to come */
    V base, last;
};

/* A vector, element i of the row, less its neighbours along y and z. */
VECTOR V subtract_rows(struct neighbours *n, size_t i, unsigned axes, V q)
{
    V d = q;
    if (axes & ZMPI_AXIS_Y) {
        d = v_sub(d, v_load(n->above + i));
        v_store(n->keep_y + i, q);
    }
    if (axes & ZMPI_AXIS_Z) {
        const V e = d;
        d = v_sub(d, v_load(n->before + i));
        v_store(n->keep_z + i, e);
    }
    return d;
}

/* Residuals of a vector of integers, element i of the row. */
VECTOR V predict(struct neighbours *n, size_t i, unsigned axes, V q)
{
    const V d = subtract_rows(n, i, axes, axes ? q : v_sub(q, n->base));
    if (!(axes & ZMPI_AXIS_X))
        return d;
    V r = v_sub(d, v_shift_in(n->last, d));
    n->last = d;
    return r;
}

/* Words i.. of a row at x. Those of many lie in two lines of the cache, which are two loads: not
 * again for each instruction that takes them. */
VECTOR V load_words(const unsigned char *x, size_t i)
{
    return v_loaded(v_load((const U *)(const void *)(x + i * WIDTH)));
}

struct intake {
    struct vector_quantizer z;
    struct doubt doubt;
    V flip, fill, held;
    uint32_t *masks;     /* FILLED, MASKED: the next block's */
    unsigned char *fine; /* FILLED with LANE_MASKS: the next vector's, of those that are none */
};

VECTOR struct intake intake_of(const struct fuse *f, enum source source)
{
    struct intake t = {.z = vector_quantizer_within(&f->quantizer, f->magic),
                       .doubt = doubt_none(),
                       .flip = v_set1(f->flip),
                       .fill = v_set1(f->fill),
                       .held = v_set1(f->base),
                       .masks = f->work->exception,
                       .fine = (unsigned char *)f->work->exception};
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
    if (doubt_any(&t->doubt, t->z.limit))
        return EXCEPTION;
    const bool wide = doubt_wide(&t->doubt, (U)f->quantizer.window);
    if (f->within)
        f->work->wide = wide; /* else the next tile need not be looked at before */
    return wide && !f->within ? WIDE : DONE;
}

VECTOR V take_quantized(struct intake *t, V word)
{
    const V v = f_bits(nearest(&t->z, f_of_bits(word)));
    doubt_add(&t->doubt, word, v, t->z.limit);
    return v;
}

/* From this source on the masks of blocks are kept as blocks are taken, and blocks are made by a
 * function for all sources and axes, which is a little slower: the code of each set of axes is
 * long. */
#ifdef LANE_MASKS
#define LISTED MASKED

/* With words that are the fill value, and get no bit in masks. */
VECTOR V take_filled_vector(struct intake *t, V word)
{
    const M fine = v_differ(word, t->fill);
    const F x = f_of_bits(word);
    const V v = f_bits(f_add(f_mul_where(fine, x, t->z.inverse), t->z.magic));
    doubt_add_where(&t->doubt, fine, word, v);
    t->held = v_hold_by(v, m_store_bits(fine, t->fine), t->held);
    t->fine += LANES / 8;
    return t->held;
}
#else
#define LISTED FILLED
#endif

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
#ifdef LANE_MASKS
    if (source == FILLED)
        return take_filled_vector(t, word);
#endif
    if (source == FILLED) {
        const M differ = v_differ(word, t->fill);
        q = take_quantized(t, v_where(differ, word));
        fine = m_bits(differ);
    } else {
        const F x = f_of_bits(word);
        q = f_bits(nearest(&t->z, x));
        fine = f_fine(x, t->z.limit);
    }
    *mask = ~fine & ALL_LANES;
    return t->held = v_hold(q, fine, t->held);
}

/*
 * The hardware's prefetchers stop where a line of the tile ends, and follow short ones not even
 * from the second-level cache to the first, so that lines are asked for here, in the tile's own
 * order and at its end the next one's: AHEAD_FAR bytes or more before they are coded into the
 * second-level cache, AHEAD_NEAR bytes into the first. (With the next tile's lines 32 KiB ahead it
 * was 5 % slower; but they are there where a tile is looked at first.)
 */
enum { AHEAD_FAR = 10240, AHEAD_NEAR = 4096 };

/* The line that comes next of those that are asked for. */
struct cursor {
    struct lines l;
    const unsigned char *next; /* the tile's; or this one's again */
    size_t y, z;
};

VECTOR struct cursor cursor_at(const struct fuse *f, const struct lines *l, size_t bytes)
{
    const size_t line = l->words * WIDTH, lines = (bytes + line - 1) / line;
    struct cursor c = {*l, f->rows->next ? f->rows->next : l->at, lines % l->y, lines / l->y};
    if (l->y * l->z == 1 && c.next == l->at + line)
        return (struct cursor){.l.at = l->at + bytes};
    for (; c.z >= l->z; c.z -= l->z)
        c.l.at = c.next;
    return c;
}

/* How far it is from x. */
VECTOR size_t cursor_ahead(struct cursor *c, const unsigned char *x)
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

struct coming {
    struct cursor far, near;
    bool cached;
};

VECTOR struct coming coming_of(const struct fuse *f, const struct lines *l)
{
    struct coming c = {cursor_at(f, l, AHEAD_FAR), cursor_at(f, l, AHEAD_NEAR), f->work->cached};
    if (f->sampled) {
        const unsigned char *next = f->rows->next ? f->rows->next : l->at;
        c.far = (struct cursor){{next, l->words, l->y, l->z, l->row, l->plane}, next, 0, 0};
    }
    return c;
}

/* How far from x, where a line begins, the lines lie that are asked for meanwhile. far: 0 in an
 * array that the second-level cache has. */
struct ahead {
    size_t far, near;
};

VECTOR void fetch(const unsigned char *x, struct ahead ahead)
{
    v_prefetch(x, ahead.far);
    __builtin_prefetch((const void *)((uintptr_t)x + ahead.near));
}

/* The same in loops of their own where words are asked for twice, and once. */
VECTOR void fetch_by(const unsigned char *x, struct ahead ahead)
{
    if (ahead.far)
        v_prefetch(x, ahead.far);
    __builtin_prefetch((const void *)((uintptr_t)x + ahead.near));
}

/* The last byte of a line may lie in a line of the cache that no other step of 64 bytes comes to.
 */
VECTOR struct ahead coming_ahead(struct coming *c, const unsigned char *x)
{
    const struct ahead ahead = {c->cached ? 0 : cursor_ahead(&c->far, x),
                                cursor_ahead(&c->near, x)};
    fetch(x + c->near.l.words * WIDTH - 1, ahead);
    return ahead;
}

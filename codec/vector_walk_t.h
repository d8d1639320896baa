/*
 * vector_walk_t.h - template: words of rows of any length, block by block, to integers. After
 * vector_take_t.h.
 */

/* A block of words to integers less base; returns the mask of exceptions. */
VECTOR uint32_t take_words(struct intake *t, const unsigned char *x, struct ahead ahead, V base,
                           enum source source, U *q)
{
    uint32_t masks = 0, mask;
    for (unsigned i = 0; i < ZMPI_BLOCK; i += LANES) {
        if (i * WIDTH % 64 == 0)
            fetch(x + i * WIDTH, ahead);
        const V word = load_words(x, i);
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
    struct ahead ahead;
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

#ifdef LANE_MASKS
/* A block across the end of a line: `left` words at x, the others at `next`. */
VECTOR uint32_t take_joined(struct intake *t, const unsigned char *x, size_t left,
                            const unsigned char *next, struct ahead ahead, V base,
                            enum source source, U *q)
{
    const unsigned char *before = (const unsigned char *)((uintptr_t)next - left * WIDTH);
    const uint32_t from_next = UINT32_MAX << left;
    uint32_t masks = 0, mask;
    for (unsigned i = 0; i < ZMPI_BLOCK; i += LANES) {
        if (i * WIDTH % 64 == 0)
            fetch(next + i * WIDTH, ahead);
        const V word = v_load_joined(x + i * WIDTH, before + i * WIDTH, from_next >> i);
        v_store(q + i, v_sub(take(t, word, source, &mask), base));
        masks |= mask << i;
    }
    return masks;
}

/* The words of a block. */
VECTOR void take_next(struct intake *t, struct walk *w, V base, enum source source, U *q)
{
    const unsigned char *x = w->x;
    const size_t left = w->left;
    size_t n = ZMPI_BLOCK;
    uint32_t mask;
    if (left < ZMPI_BLOCK) {
        n -= left;
        walk_on(w);
        mask = take_joined(t, x, left, w->x, w->ahead, base, source, q);
    } else {
        mask = take_words(t, x, w->ahead, base, source, q);
    }
    if (source >= LISTED)
        *t->masks++ = mask;
    w->x += n * WIDTH;
    w->left -= n;
}
#else
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
    if (source >= LISTED)
        *t->masks++ = mask;
    w->x += n * WIDTH;
    w->left -= n;
}
#endif

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
    const uint32_t mask = take_words(t, x, w->ahead, base, source, q) & (UINT32_MAX >> again);
    if (source >= LISTED)
        *t->masks++ = mask;
}

/*
 * vector_halves_t.h - template: words of rows to residuals of 16 bits in a small room, and these to
 * planes, in turns: where all integers of a chunk lie in a window so narrow that residuals along
 * three axes fit. After vector_in_rows_t.h.
 */

/* Residuals that are made planes together. Where words are near, as many as the first-level cache
 * has room for. On their way from memory nothing is asked for meanwhile; and along x alone they are
 * made so fast that memory would be asked for more than it can take at a time, and then for
 * nothing: PART_ALONG of what lies there. */
enum { PART_HALVES = 4096 / WIDTH, PART_NEAR = 4096 };

/* looked: for exceptions, which is done behind the first part. (Among fill values nothing is gained
 * by more.) */
VECTOR size_t half_part(const struct fuse *f, unsigned axes, enum source source, bool near,
                        bool looked)
{
    if (source == QUANTIZE && near && looked)
        return PART_NEAR;
    return axes <= ZMPI_AXIS_X && f->rows->stream ? PART_ALONG : PART_HALVES;
}

/* Of 2 HALF_WINDOW integers no four less four others are 2^15 or more. */
enum { HALF_WINDOW = 1 << 12 };

/* Per-row state of prediction. */
struct nearby {
    const uint16_t *above, *before; /* what is subtracted */
    uint16_t *keep_y, *keep_z;      /* what is kept for the rows to come */
    H last;
};

/* So many vectors less those of a row before; they are kept. */
VECTOR void less_before(const uint16_t *before, uint16_t *keep, unsigned vectors, H q[])
{
    H d[TURNS];
    for (unsigned k = 0; k < vectors; k++)
        d[k] = h_sub(q[k], h_load(before + k * HALVES));
    for (unsigned k = 0; k < vectors; k++) {
        h_store(keep + k * HALVES, q[k]);
        q[k] = d[k];
    }
}

/* So many vectors of integers less base to residuals, from element i of the row on. */
VECTOR void predict_halves(struct nearby *n, size_t i, unsigned vectors, unsigned axes, H q[])
{
    H d[TURNS];
    if (axes & ZMPI_AXIS_Y)
        less_before(n->above + i, n->keep_y + i, vectors, q);
    if (axes & ZMPI_AXIS_Z)
        less_before(n->before + i, n->keep_z + i, vectors, q);
    if (axes & ZMPI_AXIS_X) {
        for (unsigned k = 0; k < vectors; k++)
            d[k] = h_shift_in(k ? q[k - 1] : n->last, q[k]);
        n->last = q[vectors - 1];
        for (unsigned k = 0; k < vectors; k++)
            q[k] = h_sub(q[k], d[k]);
    }
}

/*
 * What words are taken by. Integers are less the base, not in a window: that they lie near each
 * other, and words within the limit, is seen from the extremes of what saturates, an instruction
 * for twice as many words as in a comparison of these.
 */
struct halving {
    struct vector_quantizer z;
    struct bits bits; /* FILLED: masks */
    V fill, held, least_word;
    H base, least, most;
};

/* In 32 bits nothing within the limit less this overflows, or what is far from it comes near. */
enum { BASE_MOST = 1 << 30 };

static inline int64_t half_base(const struct fuse *f)
{
    return (S)(f->base - bits_of(f->magic));
}

VECTOR struct halving halving_of(const struct fuse *f)
{
    const int64_t base = half_base(f);
    return (struct halving){.z = vector_quantizer_of(&f->quantizer),
                            .bits = {(unsigned char *)f->work->exception, 0, 0},
                            .fill = v_set1(f->fill),
                            .held = held_before((T)base),
                            .least_word = v_set1(0),
                            .base = h_base((int32_t)base),
                            .least = h_set1(0),
                            .most = h_set1(0)};
}

/* Vectors of words to a vector of integers. */
enum { JOINED = HALVES / LANES };

/* Integers that are to lie near each other; what is not finite or large became the least or the
 * greatest. */
VECTOR void half_seen(struct halving *t, H h)
{
    t->least = h_least(t->least, h);
    t->most = h_most(t->most, h);
}

/* How many of the words of a vector from i on lie before `end`. */
static inline unsigned lanes_before(size_t i, size_t end)
{
    return i + LANES <= end ? LANES : i < end ? (unsigned)(end - i) : 0;
}

/* Those at x; and in the lanes behind them others before `end`, of which there are as many as
 * lanes. A load that is masked would wait on Zen 4. */
VECTOR V load_before(const unsigned char *x, size_t i, size_t end)
{
    const unsigned words = lanes_before(i, end);
    if (words == LANES)
        return load_words(x, i);
    return v_take(load_words(x, end - LANES), v_turn(words ? LANES - words : 0));
}

/* Some words are the fill value: the last one before is held in their place. Only the first `words`
 * count. The mask is as list_filled wants it. */
VECTOR H half_filled(struct halving *t, const V word[JOINED], size_t words, uint32_t *mask)
{
    F q[JOINED];
    *mask = 0;
    for (unsigned k = 0; k < JOINED; k++) {
        const uint32_t valid = ALL_LANES >> (LANES - lanes_before(k * LANES, words));
        uint32_t bits;
#ifdef LANE_MASKS
        bits = m_bits(v_differ(word[k], t->fill)) & valid;
        t->least_word = v_least_where((M)bits, t->least_word, word[k]);
        q[k] = f_mul(f_of_bits(word[k]), t->z.inverse);
#else
        q[k] = half_held(word[k], valid, t->fill, t->z.inverse, &t->least_word, &t->held, &bits);
#endif
        *mask |= bits << k * LANES;
    }
    H h;
    h_nearest(q, t->base, 1, &h);
#ifdef LANE_MASKS
    if (*mask != UINT32_MAX) /* worth a branch, though coasts are hard to foresee */
        h = h_hold(h, *mask, t->held);
    t->held = h;
#endif
    half_seen(t, h);
    return h;
}

/* So many vectors of words. */
VECTOR void half_taken(struct halving *t, const V word[], unsigned vectors, H q[])
{
    F x[TURNS * JOINED];
    for (unsigned k = 0; k < vectors * JOINED; k++)
        x[k] = f_mul(f_of_bits(word[k]), t->z.inverse);
    for (unsigned k = 0; k < vectors * JOINED; k++)
        t->least_word = v_least(t->least_word, word[k]);
    h_nearest(x, t->base, vectors, q);
    for (unsigned k = 0; k < vectors; k++)
        half_seen(t, q[k]);
}

/* So many vectors of words at x; FILLED: one, and its mask. */
VECTOR void take_halves(struct halving *t, const unsigned char *x, unsigned vectors,
                        enum source source, struct ahead ahead, uint32_t *mask, H q[])
{
    V word[TURNS * JOINED];
    for (unsigned k = 0; k < vectors * JOINED; k++) {
        const size_t i = k * LANES;
        if (i * WIDTH % 64 == 0)
            fetch_by(x + i * WIDTH, ahead);
        word[k] = load_words(x, i);
    }
    if (source == FILLED)
        q[0] = half_filled(t, word, HALVES, mask);
    else
        half_taken(t, word, vectors, q);
}

/* The same from element i of a row at x on, of which so many words count, and may be loaded up to
 * `end`: what lies behind that nobody asked for before. */
VECTOR H take_last(struct halving *t, const unsigned char *x, size_t i, size_t words, size_t end,
                   enum source source, struct ahead ahead, uint32_t *mask)
{
    V word[JOINED];
    for (unsigned k = 0; k < JOINED; k++) {
        const size_t j = i + k * LANES;
        if (k * LANES < words && k * LANES * WIDTH % 64 == 0)
            fetch_by(x + j * WIDTH, ahead);
        word[k] = load_before(x, j, end);
    }
    if (source == FILLED)
        return half_filled(t, word, words, mask);
    H q;
    half_taken(t, word, 1, &q);
    return q;
}

/* WIDE: there may be words beyond the limit, or integers too far from each other, as what saturates
 * is from the base. */
VECTOR enum outcome half_outcome(const struct halving *t, const struct fuse *f)
{
    const int64_t base = half_base(f), window = (int64_t)f->quantizer.window;
    const int64_t within = window + (int64_t)f->quantizer.room;
    const int64_t least = base + h_least_lane(t->least), most = base + ~h_least_lane(~t->most);
    if (least_is_zero(t->least_word))
        return EXCEPTION;
    if (least < -2 * window - 1 || most > 2 * window + 1) /* surely beyond: see window_within */
        return EXCEPTION;
    return most - least < 2 * HALF_WINDOW && most <= within && least >= -within ? DONE : WIDE;
}

/* Words of a row, from number i on, to r. */
struct halved_row {
    const unsigned char *x; /* the row */
    size_t i;
    struct ahead ahead;
    uint16_t *r;
};

/* Whole vectors of them, so many in turns, while there are before `end`. */
VECTOR void halve_whole(struct halving *t, struct nearby *n, struct halved_row *w, size_t end,
                        unsigned vectors, unsigned axes, enum source source)
{
    const size_t words = vectors * HALVES;
    for (; w->i + words <= end; w->i += words, w->r += words) {
        uint32_t mask;
        H q[TURNS];
        take_halves(t, w->x + w->i * WIDTH, vectors, source, w->ahead, &mask, q);
        predict_halves(n, w->i, vectors, axes, q);
        for (unsigned k = 0; k < vectors; k++)
            h_store(w->r + k * HALVES, q[k]);
        if (source == FILLED)
            put_bits(&t->bits, mask, HALVES);
    }
}

/* Words up to end-1, the first one's number a multiple of a vector; what is stored behind them is
 * overwritten by the next row, or in no row. */
VECTOR void halve_words(struct halving *halving, struct nearby *n, struct halved_row w, size_t end,
                        unsigned turns, unsigned axes, enum source source)
{
    struct halving t = *halving;
    if (turns > 1)
        halve_whole(&t, n, &w, end, turns, axes, source);
    halve_whole(&t, n, &w, end, 1, axes, source);
    if (w.i < end) {
        const size_t left = end - w.i;
        uint32_t mask;
        H q = take_last(&t, w.x, w.i, left, end, source, w.ahead, &mask);
        predict_halves(n, w.i, 1, axes, &q);
        h_store(w.r, q);
        if (source == FILLED)
            put_bits(&t.bits, mask, left);
        if (axes == ZMPI_AXIS_X)
            n->last = h_lane(n->last, left - 1);
    }
    *halving = t;
}

/* near: words are asked for once (fetch_by), and vectors take turns, so that none waits for what is
 * made of the one before. On their way from memory these wait for others. */
VECTOR void halve_row(struct halving *t, struct nearby *n, struct halved_row w, size_t end,
                      unsigned axes, enum source source, bool near)
{
    if (near)
        w.ahead.far = 0;
    halve_words(t, n, w, end, near && source == QUANTIZE ? TURNS : 1, axes, source);
}

/* Blocks of what is in the room; the rest moves to its beginning. Returns how many words. */
VECTOR size_t pack_room(struct packer *p, uint16_t *room, size_t words, bool all)
{
    const size_t blocks = words / ZMPI_BLOCK, rest = words % ZMPI_BLOCK;
    pack_halves(p, room, blocks);
    uint16_t *const left = room + blocks * ZMPI_BLOCK;
    if (all && rest) {
        memset(left + rest, 0, (ZMPI_BLOCK - rest) * sizeof *left);
        pack_halves(p, left, 1);
    }
    for (size_t i = 0; i < ZMPI_BLOCK; i += HALVES)
        h_store(room + i, h_load(left + i));
    return rest;
}

/* In rows of at least a block. `axes`, `source` and `near` are constants to the compiler. */
VECTOR enum outcome fuse_halves(const struct fuse *f, unsigned axes, enum source source, bool near,
                                struct packer *p)
{
    _Alignas(64) uint16_t few[PART_HALVES + 2 * ZMPI_BLOCK];
    const struct shape s = *f->s;
    const struct zmpi_rows rows = *f->rows;
    struct zmpi_chunk_work *work = f->work;
    uint16_t *const room = near ? (uint16_t *)(void *)work->residuals : few;
    const unsigned yz = axes & (ZMPI_AXIS_Y | ZMPI_AXIS_Z);
    const struct lines tile = {rows.at, s.x, s.y, s.z, rows.row, rows.plane};
    const struct lines l = yz ? tile : *f->lines;
    const size_t padded = (s.x + HALVES - 1) / HALVES * HALVES;
    uint16_t *zeros = (uint16_t *)(void *)work->bases;
    uint16_t *keep_y = (uint16_t *)(void *)work->sums;
    uint16_t *keep_z = (uint16_t *)(void *)(work->integers + ZMPI_CHUNK_BEFORE);
    struct coming coming = coming_of(f, &l);
    struct halving t = halving_of(f);
    struct nearby n = {.keep_y = keep_y, .last = h_set1(0)};
    if (yz)
        for (size_t i = 0; i < s.x; i += HALVES)
            h_store(zeros + i, n.last);
    size_t part = half_part(f, axes, source, near, false), words = 0;
    bool looked = false; /* for exceptions: behind the first part, and at the end */
    for (size_t z = 0; z < l.z; z++)
        for (size_t y = 0; y < l.y; y++) {
            const unsigned char *x = l.at + z * l.plane + y * l.row;
            const struct ahead ahead = coming_ahead(&coming, x);
            n.above = y ? keep_y : zeros;
            n.keep_z = keep_z + y * padded;
            n.before = z ? n.keep_z : zeros;
            if (yz)
                n.last = h_set1(0);
            for (size_t i = 0, end; i < l.words; i = end) {
                end = i + (part - words + HALVES - 1) / HALVES * HALVES;
                if (end > l.words)
                    end = l.words;
                halve_row(&t, &n, (struct halved_row){x, i, ahead, room + words}, end, axes, source,
                          near);
                words += end - i;
                const bool all = end == l.words && y + 1 == l.y && z + 1 == l.z;
                if (words < part && !all)
                    continue;
                const enum outcome o = looked && !all ? DONE : half_outcome(&t, f);
                if (o)
                    return o;
                looked = true;
                part = half_part(f, axes, source, near, true);
                words = pack_room(p, room, words, all);
            }
        }
    if (source == FILLED)
        put_bits(&t.bits, 0, 0); /* none behind the last */
    return DONE;
}

#define CASE(source, along)                                                                        \
    KERNEL enum outcome halve_##source##_##along(const struct fuse *f, struct packer *p)           \
    {                                                                                              \
        return fuse_halves(f, along, source, false, p);                                            \
    }                                                                                              \
    KERNEL enum outcome halve_near_##source##_##along(const struct fuse *f, struct packer *p)      \
    {                                                                                              \
        return fuse_halves(f, along, source, true, p);                                             \
    }
#define CASES(source)                                                                              \
    CASE(source, 0)                                                                                \
    CASE(source, 1)                                                                                \
    CASE(source, 2) CASE(source, 3) CASE(source, 4) CASE(source, 5) CASE(source, 6) CASE(source, 7)
CASES(QUANTIZE)
CASES(FILLED)
#undef CASES
#undef CASE

typedef enum outcome halve_fn(const struct fuse *f, struct packer *p);

#define EACH_HALVED(source)                                                                        \
    {                                                                                              \
        halve_##source##_0, halve_##source##_1, halve_##source##_2, halve_##source##_3,            \
            halve_##source##_4, halve_##source##_5, halve_##source##_6, halve_##source##_7         \
    }

/* How in rows of at least a block, or NULL; those without neighbours along y and z are one. */
static inline halve_fn *halve_rows(const struct fuse *f, unsigned axes, enum source source)
{
    static halve_fn *const rows[][2][8] = {
        {EACH_HALVED(QUANTIZE), EACH_HALVED(near_QUANTIZE)},
        {EACH_HALVED(FILLED), EACH_HALVED(near_FILLED)},
    };
    if (f->s->x < ZMPI_BLOCK && axes & (ZMPI_AXIS_Y | ZMPI_AXIS_Z))
        return NULL;
    return rows[source == FILLED][f->work->cached][axes];
}

/* In integers of 16 bits, if these are near each other; halve: how, or NULL. Where they were not,
 * the next chunks are not tried, more of them each time. WIDE: nothing has been done. */
TARGET static enum outcome fuse_halved(const struct fuse *f, halve_fn *halve, struct packer *p)
{
    enum { LONGEST = 31 };
    const struct packer begin = *p;
    struct zmpi_chunk_work *work = f->work;
    const int64_t base = half_base(f);
    if (f->quantizer.window == 0 || base < -BASE_MOST || base > BASE_MOST || p->keep || !halve)
        return WIDE;
    if (work->apart) {
        work->apart--;
        return WIDE;
    }
    const enum outcome made = halve(f, p);
    if (made == DONE) {
        work->apart_run = 0;
        work->wide = false;
    }
    if (made != WIDE)
        return made;
    *p = begin;
    if (work->apart_run < LONGEST)
        work->apart_run = (unsigned char)(2 * work->apart_run + 1);
    work->apart = work->apart_run;
    return WIDE;
}

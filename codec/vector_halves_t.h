/*
 * vector_halves_t.h - template: words of rows to residuals of 16 bits in a small room, and these to
 * planes, in turns: where all integers of a chunk lie in a window so narrow that residuals along
 * three axes fit. After vector_in_rows_t.h.
 */

/* Residuals that are made planes together. Along x alone they are made so fast that memory would be
 * asked for more than it can take at a time, and then for nothing: PART_ALONG of what lies there.
 */
enum { PART_HALVES = 4096 / WIDTH };

/* Of 2 HALF_WINDOW integers no four less four others are 2^15 or more. */
enum { HALF_WINDOW = 1 << 12 };

/* Per-row state of prediction. */
struct nearby {
    const uint16_t *above, *before; /* what is subtracted */
    uint16_t *keep_y, *keep_z;      /* what is kept for the rows to come */
    H last;
};

/* Residuals of a vector of integers less base, element i of the row. */
VECTOR H predict_halves(struct nearby *n, size_t i, unsigned axes, H q)
{
    H d = q;
    if (axes & ZMPI_AXIS_Y) {
        d = h_sub(d, h_load(n->above + i));
        h_store(n->keep_y + i, q);
    }
    if (axes & ZMPI_AXIS_Z) {
        const H e = d;
        d = h_sub(d, h_load(n->before + i));
        h_store(n->keep_z + i, e);
    }
    if (!(axes & ZMPI_AXIS_X))
        return d;
    const H r = h_sub(d, h_shift_in(n->last, d));
    n->last = d;
    return r;
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
VECTOR H half_seen(struct halving *t, H h)
{
    t->least = h_least(t->least, h);
    t->most = h_most(t->most, h);
    return h;
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
    H h = h_nearest(q, t->base);
#ifdef LANE_MASKS
    if (*mask != UINT32_MAX) /* worth a branch, though coasts are hard to foresee */
        h = h_hold(h, *mask, t->held);
    t->held = h;
#endif
    return half_seen(t, h);
}

VECTOR H half_taken(struct halving *t, const V word[JOINED], size_t words, enum source source,
                    uint32_t *mask)
{
    F q[JOINED];
    if (source == FILLED)
        return half_filled(t, word, words, mask);
    for (unsigned k = 0; k < JOINED; k++) {
        t->least_word = v_least(t->least_word, word[k]);
        q[k] = f_mul(f_of_bits(word[k]), t->z.inverse);
    }
    return half_seen(t, h_nearest(q, t->base));
}

/* A vector of words at x; FILLED: and its mask. */
VECTOR H take_halves(struct halving *t, const unsigned char *x, enum source source,
                     struct ahead ahead, uint32_t *mask)
{
    V word[JOINED];
    for (unsigned k = 0; k < JOINED; k++) {
        const size_t i = k * LANES;
        if (i * WIDTH % 64 == 0)
            fetch_by(x + i * WIDTH, ahead);
        word[k] = load_words(x, i);
    }
    return half_taken(t, word, HALVES, source, mask);
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
    return half_taken(t, word, words, source, mask);
}

/* WIDE: there may be words beyond the limit, or integers too far from each other, as what saturates
 * is from the base. */
VECTOR enum outcome half_outcome(const struct halving *t, const struct fuse *f)
{
    const int64_t base = half_base(f), window = (int64_t)f->quantizer.window;
    const int64_t within = window + (int64_t)f->quantizer.room;
    const int64_t least = base + h_least_lane(t->least), most = base + ~h_least_lane(~t->most);
    if (m_any(v_equal(t->least_word, v_set1(SIGN_BIT))))
        return EXCEPTION;
    if (least < -2 * window - 1 || most > 2 * window + 1) /* surely beyond: see window_within */
        return EXCEPTION;
    return most - least < 2 * HALF_WINDOW && most <= within && least >= -within ? DONE : WIDE;
}

/* Words i..end-1 of a row at x, i of them whole vectors, to r; what is stored behind them is
 * overwritten by the next row, or in no row. */
VECTOR void halve_words(struct halving *halving, struct nearby *n, const unsigned char *x, size_t i,
                        size_t end, struct ahead ahead, unsigned axes, enum source source,
                        uint16_t *r)
{
    struct halving t = *halving;
    uint32_t mask;
    for (; i + HALVES <= end; i += HALVES, r += HALVES) {
        const H q = take_halves(&t, x + i * WIDTH, source, ahead, &mask);
        h_store(r, predict_halves(n, i, axes, q));
        if (source == FILLED)
            put_bits(&t.bits, mask, HALVES);
    }
    if (i < end) {
        const H q = take_last(&t, x, i, end - i, end, source, ahead, &mask);
        h_store(r, predict_halves(n, i, axes, q));
        if (source == FILLED)
            put_bits(&t.bits, mask, end - i);
        if (axes == ZMPI_AXIS_X)
            n->last = h_lane(n->last, end - i - 1);
    }
    *halving = t;
}

/* Words are asked for twice, or once (fetch_by). */
VECTOR void halve_row(struct halving *t, struct nearby *n, const unsigned char *x, size_t i,
                      size_t end, struct ahead ahead, unsigned axes, enum source source,
                      uint16_t *r)
{
    if (ahead.far)
        halve_words(t, n, x, i, end, ahead, axes, source, r);
    else
        halve_words(t, n, x, i, end, (struct ahead){0, ahead.near}, axes, source, r);
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

/* In rows of at least a block. `axes` and `source` are constants to the compiler. */
VECTOR enum outcome fuse_halves(const struct fuse *f, unsigned axes, enum source source,
                                struct packer *p)
{
    _Alignas(64) uint16_t room[PART_HALVES + 2 * ZMPI_BLOCK];
    const struct shape s = *f->s;
    const struct zmpi_rows rows = *f->rows;
    struct zmpi_chunk_work *work = f->work;
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
    const size_t part = axes <= ZMPI_AXIS_X && rows.stream ? PART_ALONG : PART_HALVES;
    size_t words = 0;
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
                halve_row(&t, &n, x, i, end, ahead, axes, source, room + words);
                words += end - i;
                const bool all = end == l.words && y + 1 == l.y && z + 1 == l.z;
                if (words < part && !all)
                    continue;
                const enum outcome o = looked && !all ? DONE : half_outcome(&t, f);
                if (o)
                    return o;
                looked = true;
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
        return fuse_halves(f, along, source, p);                                                   \
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

/* Rows of at least a block; those without neighbours along y and z are one. */
static inline bool rows_halved(const struct fuse *f, unsigned axes)
{
    return f->s->x >= ZMPI_BLOCK || !(axes & (ZMPI_AXIS_Y | ZMPI_AXIS_Z));
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

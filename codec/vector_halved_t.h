/*
 * vector_halved_t.h - template: chunks whose integers lie so near the base that they are summed in
 * 16 bits. After vector_outlet_t.h and what unpacks halves.
 *
 * With n axes an integer is a residual and those of 2^n - 1 neighbours, added or subtracted;
 * outside the tile these are 0, all relative to the base. Let residuals have at most 15 planes, and
 * let k = 15 - n. If the neighbours are none of them less than -2^k or not less than 2^k, the
 * integer is less than (2^n - 1) 2^k + 2^15 = 2^16 - 2^k in magnitude: so, in 16 bits, it lies
 * within these limits only if it does so in truth, and then it is right, whatever overflowed on the
 * way. By induction all are right if all lie within the limits. So the chunk is summed as if they
 * did, and then it is looked whether they do. Integers have 2^k added, so that they are those of
 * less than 2^(k+1).
 *
 * Words are unpacked, and summed, in bands: of BAND_PAST words where they go past the caches, so
 * that memory gets them one after another, else of BAND_PLAIN. What was stored since words went
 * past the caches is slow to load in another alignment: they are waited for.
 */

enum { CHUNK_WORDS = ZMPI_CHUNK_INPUT_BYTES / WIDTH };

static inline size_t band_words(const struct job *j)
{
    return j->way == PLAIN ? BAND_PLAIN : BAND_PAST;
}

/* The next blocks of a band, or those that are left. */
VECTOR void half_piece(struct unpacker *u, H *carry, const struct shape *s, bool sums, size_t band,
                       uint16_t *to)
{
    const size_t left = s->blocks - u->coded.block, most = band / ZMPI_BLOCK,
                 blocks = left < most ? left : most;
    if (sums)
        unpack_half_sums(u, carry, blocks, to);
    else
        unpack_half_words(u, carry, blocks, to);
}

/* Residuals, or with the x axis their sums along the whole chunk: all of them, or, for bands, where
 * `turn` is less, some, which share the cache with the rest. */
struct half_supply {
    struct unpacker u;
    H carry;
    uint16_t *x;
    size_t band, turn, have;
};

/* For bands of whole rows. */
VECTOR struct half_supply half_supply_of(const struct job *j, size_t row, unsigned char *tail)
{
    struct half_supply p;
    p.carry = h_set1(0);
    p.x = (uint16_t *)(void *)j->work->ahead + HALVES;
    p.band = band_words(j);
    p.turn = row <= p.band ? 4 * p.band : CHUNK_WORDS;
    p.have = 0;
    unpacker_begin(&p.u, j->p, j->work, tail);
    p.x[-1] = 0;
    return p;
}

/* Up to number end-1 of the chunk. What lies at the beginning of the buffer lies behind its end,
 * too: bands go on there. */
VECTOR void half_supply_until(struct half_supply *p, size_t end, const struct shape *s, bool sums)
{
    for (end = end < s->count ? end : s->count; p->have < end; p->have += p->band) {
        const size_t at = p->have & (p->turn - 1);
        half_piece(&p->u, &p->carry, s, sums, p->band, p->x + at);
        if (at == 0 && p->have)
            for (size_t i = 0; i < p->band; i += HALVES)
                h_store(p->x + p->turn + i, h_load(p->x + i));
    }
}

/* Element `at`; the one before it lies there, too. */
VECTOR const uint16_t *half_supplied(const struct half_supply *p, size_t at)
{
    return at ? p->x + 1 + ((at - 1) & (p->turn - 1)) : p->x;
}

/* Integers on their way to an outlet, in a buffer that begins again and again. */
struct half_room {
    uint16_t *begin, *to; /* to: of the next ones */
    size_t limit;
    size_t back; /* from what is before begin to what it was copied from; or 0 */
};

/* The next ones may go to the beginning. */
VECTOR void room_turn(struct half_room *r)
{
    if ((size_t)(r->to - r->begin) < r->limit)
        return;
    h_store(r->begin - HALVES, h_load(r->to - HALVES));
    r->back = (size_t)(r->to - r->begin);
    r->to = r->begin;
}

/* So many were put there. Those before them go out, but for some of the last ones. */
VECTOR void room_put(struct half_room *r, size_t words, struct outlet *o, size_t before)
{
    outlet_until(o, before);
    o->q -= r->back;
    r->back = 0;
    r->to += words;
}

struct band {
    const uint16_t *x, *before;
    size_t rows, row, step; /* step: from row to row of `before` */
    H begin;                /* above the first row */
    uint16_t *kept, *q;
    bool first;
};

/* Some rows, a column of vectors after the other, last one first: what is stored behind a row is
 * overwritten by the next one. */
VECTOR void sum_band(const struct band *b, unsigned axes)
{
    for (size_t k = (b->row + HALVES - 1) / HALVES; k-- > 0;) {
        const size_t i = k * HALVES;
        H above = axes & ZMPI_AXIS_Y ? b->first ? b->begin : h_load(b->kept + i) : b->begin;
        const uint16_t *x = b->x + i, *end = b->x - 1, *before = b->before + i;
        uint16_t *q = b->q + i;
        for (size_t n = b->rows; n > 0; n--) {
            H v = h_load(x);
            if (axes & ZMPI_AXIS_X)
                v = h_sub(v, h_all(end));
            if (axes & ZMPI_AXIS_Y)
                v = above = h_add(v, above);
            if (axes & ZMPI_AXIS_Z)
                v = h_add(v, h_load(before));
            h_store(q, v);
            x += b->row;
            end += b->row;
            q += b->row;
            before += b->step;
        }
        if (axes & ZMPI_AXIS_Y)
            h_store(b->kept + i, above);
    }
}

VECTOR struct half_room room_of(const struct job *j, size_t most)
{
    uint16_t *const q = (uint16_t *)(void *)(j->work->integers + ZMPI_CHUNK_BEFORE) + HALVES;
    const size_t band = band_words(j);
    return (struct half_room){q, q, 2 * (most < band ? band : most) + 4 * HALVES, 0};
}

/* The whole chunk, where no sum begins or ends with a row. width: k. false: it was not so, and what
 * was stored is to be overwritten. */
VECTOR bool halved_flat(const struct job *j, unsigned axes, unsigned width)
{
    const U bias = UINT32_C(1) << width;
    const size_t band = band_words(j);
    struct half_room r = room_of(j, band);
    unsigned char tail[TAIL];
    struct unpacker u;
    struct outlet o = outlet_of(j, r.to, bias);
    H carry = h_set1(bias);
    unpacker_begin(&u, j->p, j->work, tail);
    for (size_t at = 0; at < j->s->count; at += band) {
        room_turn(&r);
        half_piece(&u, &carry, j->s, axes & ZMPI_AXIS_X, band, r.to);
        room_put(&r, band, &o, at);
    }
    outlet_until(&o, j->s->count);
    return !outlet_beyond(&o, 2 * bias);
}

/* The same where they do. */
VECTOR bool halved_rows(const struct job *j, const struct shape *s, unsigned axes, unsigned width)
{
    const U bias = UINT32_C(1) << width;
    const size_t band = band_words(j);
    const size_t row = s->row, most = row < band ? band / row : 1;
    uint16_t *const bases = (uint16_t *)(void *)j->work->bases;
    struct half_room r = room_of(j, axes & ZMPI_AXIS_Z ? s->plane : most * row);
    unsigned char tail[TAIL];
    struct half_supply p = half_supply_of(j, row, tail);
    struct outlet o = outlet_of(j, r.to, bias);
    if (axes & ZMPI_AXIS_Z)
        for (size_t i = 0; i < row; i += HALVES)
            h_store(bases + i, h_set1(bias));
    struct band b = {.row = row,
                     .kept = (uint16_t *)(void *)j->work->sums,
                     .begin = h_set1(axes & ZMPI_AXIS_Z ? 0 : bias),
                     .before = bases};
    for (size_t z = 0, at = 0; z < s->z; z++) {
        const uint16_t *before = r.to - s->plane;
        for (size_t y = 0, words; y < s->y; y += b.rows, at += words) {
            b.rows = s->y - y < most ? s->y - y : most;
            words = b.rows * row;
            half_supply_until(&p, at + words + band, s, axes & ZMPI_AXIS_X);
            if (y == 0 || !(axes & ZMPI_AXIS_Z))
                room_turn(&r);
            b.x = half_supplied(&p, at);
            b.q = r.to;
            b.step = z ? row : 0;
            b.before = z ? before + y * row : bases;
            b.first = y == 0;
            sum_band(&b, axes);
            room_put(&r, words, &o, at);
        }
    }
    outlet_until(&o, s->count);
    return !outlet_beyond(&o, 2 * bias);
}

VECTOR bool halved(const struct job *j, unsigned axes, unsigned width)
{
    if (axes <= ZMPI_AXIS_X)
        return halved_flat(j, axes, width);
    if (axes != ZMPI_AXIS_Z)
        return halved_rows(j, j->s, axes, width);
    const struct shape planar = shape_of((const size_t[]){1, j->s->z, j->s->plane});
    return halved_rows(j, &planar, ZMPI_AXIS_Y, width);
}

#define CASE(a)                                                                                    \
    KERNEL bool halved_##a(const struct job *j, unsigned width)                                    \
    {                                                                                              \
        return halved(j, a, width);                                                                \
    }
EACH_AXES(CASE)
#undef CASE

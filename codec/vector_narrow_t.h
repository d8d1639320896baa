/*
 * vector_narrow_t.h - template: sums where rows are shorter than a vector, over all vectors of a
 * chunk as they come from its blocks: several rows lie in one, and planes end anywhere. After
 * vector_seam_t.h.
 */

/* Sums of every `apart`th word, which is less than a vector. */
struct stride {
    V step[4]; /* v_pick: apart, 2 apart, ... up, behind zeros */
    unsigned steps;
    V last; /* v_pick: those of the last `apart` in a vector, over and over, in the next */
    V sum;  /* of the vector before */
};

/* last: as in struct stride. */
VECTOR void stride_begin(struct stride *t, size_t apart, V begin, const U *last)
{
    t->last = v_load(last);
    t->sum = begin;
    t->steps = 0;
    for (size_t d = apart; d < LANES; d *= 2)
        t->step[t->steps++] = v_lanes(LANES - d);
}

VECTOR V stride_sum(const struct stride *t, V v)
{
    for (unsigned k = 0; k < t->steps; k++)
        v = v_add(v, v_pick(v_set1(0), v, t->step[k]));
    return v_add(v, v_pick(t->sum, t->sum, t->last));
}

/* The same of two vectors, in turns. */
VECTOR void stride_sum_two(struct stride *t, V v[2])
{
    for (unsigned k = 0; k < t->steps; k++) {
        const V a = v_pick(v_set1(0), v[0], t->step[k]), b = v_pick(v_set1(0), v[1], t->step[k]);
        v[0] = v_add(v[0], a);
        v[1] = v_add(v[1], b);
    }
    v[0] = v_add(v[0], v_pick(t->sum, t->sum, t->last));
    v[1] = t->sum = v_add(v[1], v_pick(v[0], v[0], t->last));
}

/* The same for at least a vector, from what was kept: vectors from `slot` to `end`, the oldest at
 * `at`. */
struct ring {
    U *slot, *end, *at;
    V before, from; /* the vector before the oldest; v_pick: words that far down in the two */
};

VECTOR struct ring ring_of(size_t apart, V begin, U *slot)
{
    const struct ring t = {slot, slot + apart / LANES * LANES, slot, begin,
                           v_lanes(LANES - apart % LANES)};
    for (U *at = t.slot; at < t.end; at += LANES)
        v_store(at, begin);
    return t;
}

VECTOR V ring_sum(struct ring *t, V v)
{
    const V now = v_load(t->at);
    v = v_add(v, v_pick(t->before, now, t->from));
    v_store(t->at, v);
    t->before = now;
    t->at += LANES;
    t->at = t->at == t->end ? t->slot : t->at;
    return v;
}

/* Not in one struct with sums: these are to be in registers. */
struct places {
    /* v_pick, for a vector after another until rows begin as in the first one: what is before the
     * row, in the vector before and this one. */
    U before[LANES * LANES];
    /* From a vector before the first word of a plane on: how far the last row of the plane before
     * is; and whether there is one. */
    U back[2 * LANES], begun[2 * LANES];
    U last_y[LANES], last_z[LANES]; /* of strides */
};

struct narrow {
    const struct places *places;
    const U *before, *before_end;       /* before: of the next vector, in places->before */
    size_t plane, to_plane, plane_turn; /* to_plane: words from there to where a plane begins */
    V lanes, base;                      /* base: what sums along y begin with */
    V x;                                /* sums along the chunk, of the vector before */
    struct stride y, z;
    struct ring far_z;
};

KERNEL void places_of(const struct shape *s, struct places *p)
{
    U in_row[2 * LANES];
    for (size_t i = 0, at = 0; i < 2 * LANES; i++, at = at + 1 < s->row ? at + 1 : 0)
        in_row[i] = (U)at;
    for (size_t i = 0; i < s->row && s->row < LANES; i++)
        v_store(p->before + i * LANES,
                v_sub(v_lanes(LANES - 1), v_load(in_row + i * LANES % s->row)));
    for (size_t i = 0, at = 0; i < LANES; i++, at = at + 1 < s->plane ? at + 1 : 0) {
        p->back[i] = p->begun[i] = 0;
        p->back[LANES + i] = (U)(s->row + at - in_row[at]);
        p->begun[LANES + i] = (U)-1;
        p->last_y[i] = (U)(LANES - s->row + in_row[i]);
        p->last_z[i] = (U)(LANES - s->plane + at);
    }
}

/* Integers begin with `base`. */
VECTOR void narrow_begin(struct narrow *n, const struct shape *s, unsigned axes, V base,
                         const struct places *places, U *kept)
{
    n->places = places;
    n->before = places->before;
    n->before_end = places->before + (s->row < LANES ? s->row : 1) * LANES;
    n->plane = n->to_plane = s->plane;
    n->plane_turn = s->plane - 1 - (LANES - 1) % s->plane;
    n->lanes = v_lanes(LANES);
    n->base = axes & ZMPI_AXIS_Z ? v_set1(0) : base;
    n->x = v_set1(0);
    if (axes & ZMPI_AXIS_Y)
        stride_begin(&n->y, s->row, n->base, places->last_y);
    if (axes & ZMPI_AXIS_Z) {
        stride_begin(&n->z, s->plane < LANES ? s->plane : LANES, base, places->last_z);
        n->far_z = ring_of(s->plane, base, kept);
    }
}

/* A plane begins with a vector. before: sums along x before it. */
VECTOR void narrow_again(struct narrow *n, V before)
{
    n->before = n->places->before;
    n->x = before;
    n->y.sum = v_set1(0);
}

/* Sums along y, from what they are if planes are one: less what there was before the plane.
 * before: those of the vector before. */
VECTOR V from_plane(struct narrow *n, unsigned axes, V before, V v)
{
    if (__builtin_expect(n->to_plane >= LANES, 1)) {
        n->to_plane -= LANES;
        return v;
    }
    const bool based = !(axes & ZMPI_AXIS_Z);
    const U *begun = n->places->begun;
    const size_t at = LANES - n->to_plane;
    V last = v_pick(before, v, v_sub(n->lanes, v_load(n->places->back + at)));
    if (based)
        last = v_sub(last, n->base);
    v = v_sub(v, v_and(last, v_load(begun + at)));
    n->to_plane += n->plane_turn;
    n->to_plane -= n->to_plane < n->plane ? 0 : n->plane;
    /* The plane's first row may go on in the next vector, not with the last one before. */
    const V inside = v_load(begun + (n->plane - n->to_plane));
    n->y.sum = based ? v_add(v_and(v_sub(v, n->base), inside), n->base) : v_and(v, inside);
    return v;
}

/* From sums along x of the whole chunk to those of rows, if there is another axis. */
VECTOR V narrow_rows(struct narrow *n, unsigned axes, V v)
{
    if (!(axes & ZMPI_AXIS_X) || axes == ZMPI_AXIS_X)
        return v;
    const V off = v_pick(n->x, v, v_load(n->before));
    n->x = v;
    n->before += LANES;
    n->before = n->before == n->before_end ? n->places->before : n->before;
    return v_sub(v, off);
}

/* The next vector of a plane, from sums along x of the whole chunk, or along no axis. */
VECTOR V narrow_sum(struct narrow *n, unsigned axes, V v)
{
    v = narrow_rows(n, axes, v);
    if (axes & ZMPI_AXIS_Y)
        v = n->y.sum = stride_sum(&n->y, v);
    return axes ? v : v_add(v, n->base);
}

/* The same of all planes. */
VECTOR V narrow_sum_planes(struct narrow *n, unsigned axes, V v)
{
    const V before = axes & ZMPI_AXIS_Y ? n->y.sum : v;
    v = narrow_sum(n, axes, v);
    if (axes & ZMPI_AXIS_Y)
        v = from_plane(n, axes, before, v);
    if (axes & ZMPI_AXIS_Z && n->plane < LANES)
        v = n->z.sum = stride_sum(&n->z, v);
    else if (axes & ZMPI_AXIS_Z)
        v = ring_sum(&n->far_z, v);
    return v;
}

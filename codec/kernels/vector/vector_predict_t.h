/*
 * vector_predict_t.h - template: the words of a tile to integers less the base, and these, as they
 * lie one behind the other, to residuals and planes, part by part: blocks run across the ends of
 * rows, of any length. The neighbours of an element are loads at a distance; masks tell which
 * elements have none in their row, or no row above; before the first plane lie zeros. Once for
 * integers of a word and once for those of 16 bits. Parameters:
 *
 *   A(name)       names of this one
 *   W, X, X_(op)  the type of its integers, its vectors and their operations
 *   X_LANES       integers in a vector
 *   X_PART        words that are taken, and become planes, together
 *   X_MASKS       are masks cheaper than to look whether they are needed?
 *   X_TOGETHER    blocks that become planes in registers, if any do, by A(pack_together)
 *
 * and struct A(taking), what words are taken by, with bits for masks, A(taking_of), A(take): so
 * many words to integers, A(outcome) and A(pack).
 */

/* ---- integers to residuals ---- */

struct A(residuals) {
    const W *q;
    size_t row, plane;
    const uint32_t *left, *above; /* as in struct zmpi_chunk_edges */
    X last; /* differences along y and z of the vector before; the first lane needs its last one */
};

/* The residuals of vector k of block b, which follows the block before. masked: some elements lack
 * neighbours. */
VECTOR X A(residual)(struct A(residuals) * n, size_t b, unsigned k, unsigned axes, bool masked)
{
    const W *q = n->q + b * ZMPI_BLOCK + k * X_LANES;
    X d = X_(load)(q);
    if (axes & ZMPI_AXIS_Z)
        d = X_(sub)(d, X_(load)(q - n->plane));
    if (axes & ZMPI_AXIS_Y) {
        X above = X_(load)(q - n->row);
        if (axes & ZMPI_AXIS_Z)
            above = X_(sub)(above, X_(load)(q - n->row - n->plane));
        d = masked ? X_(sub_at)(d, above, n->above[b], k) : X_(sub)(d, above);
    }
    if (!(axes & ZMPI_AXIS_X))
        return d;
    const X left = X_(shift_in)(n->last, d);
    n->last = d;
    return masked && axes != ZMPI_AXIS_X ? X_(sub_at)(d, left, n->left[b], k) : X_(sub)(d, left);
}

/* Do all elements of a block have neighbours? */
VECTOR bool A(inside)(const struct A(residuals) * n, size_t b, unsigned axes)
{
    uint32_t all = UINT32_MAX;
    if (axes & ZMPI_AXIS_Y)
        all &= n->above[b];
    if (axes & ZMPI_AXIS_X && axes != ZMPI_AXIS_X)
        all &= n->left[b];
    return all == UINT32_MAX;
}

VECTOR void A(predict)(struct A(residuals) * n, size_t b, unsigned axes, W *to)
{
    const bool inside = !X_MASKS && A(inside)(n, b, axes);
    for (unsigned k = 0; k < ZMPI_BLOCK / X_LANES; k++)
        X_(store)
    (to + k * X_LANES,
     inside ? A(residual)(n, b, k, axes, false) : A(residual)(n, b, k, axes, true));
}

/* Blocks from..end-1 to planes. */
VECTOR void A(make_planes)(const struct shape *s, struct A(residuals) * residuals, unsigned axes,
                           size_t from, size_t end, struct packer *p)
{
    enum { SOME = X_PART / ZMPI_BLOCK };
    _Alignas(64) W r[X_PART];
    struct A(residuals) n = *residuals;
#ifdef X_TOGETHER
    struct packer own = *p; /* in registers: stores of bytes may alias anything */
    for (; end - from >= X_TOGETHER && (from + X_TOGETHER) * ZMPI_BLOCK <= s->count;
         from += X_TOGETHER) {
        X d[X_TOGETHER];
        for (unsigned i = 0; i < X_TOGETHER; i++)
            d[i] = A(residual)(&n, from + i, 0, axes, true);
        A(pack_together)(&own, d);
    }
    *p = own;
#endif
    for (size_t next; from < end; from = next) {
        next = end - from < SOME ? end : from + SOME;
        for (size_t b = from; b < next; b++)
            A(predict)(&n, b, axes, r + (b - from) * ZMPI_BLOCK);
        const size_t count = s->count - from * ZMPI_BLOCK, all = (next - from) * ZMPI_BLOCK;
        if (count < all)
            memset(r + count, 0, (all - count) * sizeof *r);
        A(pack)(p, r, next - from);
    }
    *residuals = n;
}

#define CASE(axes)                                                                                 \
    KERNEL void A(make_planes_##axes)(const struct shape *s, struct A(residuals) * n, size_t from, \
                                      size_t end, struct packer * p)                               \
    {                                                                                              \
        A(make_planes)(s, n, axes, from, end, p);                                                  \
    }
/* clang-format off */
        CASE(0) CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7)
/* clang-format on */
#undef CASE

    TARGET static void A(encode_blocks)(const struct shape *s, struct A(residuals) * n,
                                        unsigned axes, size_t from, size_t end, struct packer *p)
{
    typedef void planes_fn(const struct shape *s, struct A(residuals) * n, size_t from, size_t end,
                           struct packer * p);
    static planes_fn *const along[] = {A(make_planes_0), A(make_planes_1), A(make_planes_2),
                                       A(make_planes_3), A(make_planes_4), A(make_planes_5),
                                       A(make_planes_6), A(make_planes_7)};
    along[axes](s, n, from, end, p);
}

/* ---- words to integers ---- */

/* Words i..end-1 of a line at x to q, one behind the other. The next line overwrites what is stored
 * behind them; the last one stores into memory that no tile uses. */
VECTOR void A(take_words)(struct A(taking) * t, const unsigned char *x, size_t i, size_t end,
                          struct ahead ahead, enum source source, W *q)
{
    uint32_t mask;
    for (; i + X_LANES <= end; i += X_LANES, q += X_LANES) {
        V word[X_LANES / LANES];
        for (unsigned k = 0; k < X_LANES / LANES; k++) {
            const size_t j = i + k * LANES;
            if (k * LANES * WIDTH % 64 == 0)
                fetch(x + j * WIDTH, ahead);
            word[k] = load_words(x, j);
        }
        X_(store)(q, A(take)(t, word, X_LANES, source, &mask));
        if (source >= FILLED)
            put_bits(&t->bits, mask, X_LANES);
    }
    if (i < end) {
        V word[X_LANES / LANES];
        for (unsigned k = 0; k < X_LANES / LANES; k++) {
            const size_t j = i + k * LANES;
            if (j < end && k * LANES * WIDTH % 64 == 0)
                fetch(x + j * WIDTH, ahead);
            word[k] = load_before(x, j, end);
        }
        X_(store)(q, A(take)(t, word, end - i, source, &mask));
        if (source >= FILLED)
            put_bits(&t->bits, mask, end - i);
    }
}

VECTOR enum outcome A(encode)(const struct tile *f, unsigned axes, enum source source,
                              struct packer *p)
{
    const struct shape *s = f->s;
    const struct lines l = *f->lines;
    struct zmpi_chunk_edges *e = &f->work->edges;
    W *const q = (W *)(void *)(f->work->integers + ZMPI_CHUNK_BEFORE);
    enum { PART = X_PART };
    struct coming coming = coming_of(f, &l);
    struct A(taking) t = A(taking_of)(f);
    struct A(residuals) n = {q, s->row, s->plane, e->left, e->above, X_(set1)(0)};
    size_t taken = 0, made = 0; /* words, blocks */
    if (axes > ZMPI_AXIS_X)
        find_edges(s, axes, e);
    for (size_t z = 0; z < l.z; z++)
        for (size_t y = 0; y < l.y; y++) {
            const unsigned char *x = l.at + z * l.plane + y * l.row;
            const struct ahead ahead = coming_ahead(&coming, x);
            for (size_t i = 0, end; i < l.words; i = end) {
                const size_t have = taken - made * ZMPI_BLOCK;
                end = i + (PART - have + X_LANES - 1) / X_LANES * X_LANES;
                end = end < l.words ? end : l.words;
                A(take_words)(&t, x, i, end, ahead, source, q + taken);
                taken += end - i;
                const bool all = taken == s->count;
                if (have + (end - i) < PART && !all)
                    continue;
                /* Checked after the first part and at the end: most chunks that fail do so at
                 * once. */
                const enum outcome o = made && !all ? DONE : A(outcome)(&t, f);
                if (o)
                    return o;
                const size_t blocks = all ? s->blocks : taken / ZMPI_BLOCK;
                A(encode_blocks)(s, &n, axes, made, blocks, p);
                made = blocks;
            }
        }
    if (source >= FILLED)
        put_bits(&t.bits, 0, 0); /* stores the bits that are left */
    return DONE;
}

#undef A
#undef X
#undef X_
#undef X_LANES
#undef X_PART
#undef X_MASKS
#undef X_TOGETHER
#undef W

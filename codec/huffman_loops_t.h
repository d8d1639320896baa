/*
 * huffman_loops_t.h - template: residuals to bits and back.
 *
 * Parameters: U the unsigned word, S its signed form, NAME(x), and TARGET, what it is compiled for.
 */

#define INLINE TARGET __attribute__((always_inline)) static inline

/* ---- encoding ---- */

/* What tokens cannot tell: zeros, then a residual. By value, so that the bits stay in registers. */
INLINE struct zmpi_bits NAME(put_slowly)(const struct zmpi_huffman_encoder *e, struct zmpi_bits b,
                                         size_t zeros, U r)
{
    if (zeros) {
        struct zmpi_bits run = b; /* b is in registers */
        zmpi_put_run(e, &run, zeros);
        b = run;
    }
    zmpi_put_residual(e, &b, (S)r, sizeof(U));
    return b;
}

/* Two tokens, if they fit. */
INLINE bool NAME(put_two)(struct zmpi_bits *b, uint64_t first, uint64_t second)
{
    const unsigned n = first & 63, both = n + (second & 63);
    if (__builtin_expect(both > 56, 0))
        return false;
    zmpi_put(b, first >> 6 | second >> 6 << n, both);
    return true;
}

/* n residuals, two at a time: none is zero, or zeros are coded one by one. */
INLINE void NAME(put_each)(const struct zmpi_huffman_encoder *e, struct zmpi_bits *b, const U *r,
                           size_t n)
{
    for (size_t i = 0; i < n; i += 2) {
        const bool both = i + 1 < n;
        const U u = r[i] + ZMPI_HUFFMAN_DIRECT / 2;
        const U v = both ? r[i + 1] + ZMPI_HUFFMAN_DIRECT / 2 : 0;
        if (__builtin_expect((u | v) < ZMPI_HUFFMAN_DIRECT, 1) &&
            NAME(put_two)(b, e->direct[u], both ? e->direct[v] : 0))
            continue;
        *b = NAME(put_slowly)(e, *b, 0, r[i]);
        if (both)
            *b = NAME(put_slowly)(e, *b, 0, r[i + 1]);
    }
}

/* A block by a book without short runs; false, and nothing done, if it needs a longer one. */
INLINE bool NAME(put_singly)(const struct zmpi_huffman_encoder *e, struct zmpi_bits *b, const U *r,
                             uint32_t nonzero, size_t *run)
{
    if (!nonzero)
        return false;
    const unsigned first = (unsigned)__builtin_ctz(nonzero);
    const unsigned last = 31U - (unsigned)__builtin_clz(nonzero);
    uint32_t zeros = ~nonzero & (UINT32_MAX >> (31 - last)); /* those behind may go on */
    zeros &= zeros >> 1;
    zeros &= zeros >> 2;
    zeros &= zeros >> 4;
    zeros &= zeros >> 8;
    if (zeros || *run + first >= 16 || !NAME(put_two)(b, e->run[*run + first], 0))
        return false;
    NAME(put_each)(e, b, r + first, last + 1 - first);
    *run = 31 - last;
    return true;
}

/* Those of a block that are not zero. *run: zeros before the block, then at its end. */
INLINE void NAME(put_some)(const struct zmpi_huffman_encoder *e, struct zmpi_bits *b, const U *r,
                           uint32_t nonzero, size_t *run)
{
    size_t next = 0 - *run;
    for (; nonzero; nonzero &= nonzero - 1) {
        const size_t i = (size_t)__builtin_ctz(nonzero), zeros = i - next;
        const U u = r[i] + ZMPI_HUFFMAN_DIRECT / 2;
        next = i + 1;
        if (__builtin_expect(u < ZMPI_HUFFMAN_DIRECT && zeros < 32, 1) &&
            NAME(put_two)(b, e->run[zeros], e->direct[u]))
            continue;
        *b = NAME(put_slowly)(e, *b, zeros, r[i]);
    }
    *run = ZMPI_BLOCK - next;
}

TARGET static unsigned char *NAME(put_segment)(const struct zmpi_huffman_encoder *e,
                                               const void *src, const uint32_t *nonzero,
                                               struct zmpi_segment g, unsigned char *dst)
{
    const U *r = src;
    struct zmpi_bits b = {0, 0, dst};
    size_t run = 0;
    for (size_t k = g.begin; k < g.end; k++) {
        const uint32_t some = zmpi_nonzero_of(nonzero, &g, k);
        if (!run && some == UINT32_MAX)
            NAME(put_each)(e, &b, r + k * ZMPI_BLOCK, ZMPI_BLOCK);
        else if (!e->short_runs && NAME(put_singly)(e, &b, r + k * ZMPI_BLOCK, some, &run))
            continue;
        else
            NAME(put_some)(e, &b, r + k * ZMPI_BLOCK, some, &run);
    }
    const size_t behind = g.end * ZMPI_BLOCK; /* zeros that the chunk does not have */
    struct zmpi_bits last = b;
    zmpi_put_run(e, &last, run - (g.end > g.begin && behind > g.words ? behind - g.words : 0));
    return last.dst + (last.n > 0);
}

TARGET static void NAME(count_segment)(const void *src, const uint32_t *nonzero,
                                       struct zmpi_segment g, uint32_t *count)
{
    const U *r = src;
    uint32_t direct[ZMPI_HUFFMAN_DIRECT] = {0}, runs[64] = {0};
    unsigned extra;
    size_t next = g.begin * ZMPI_BLOCK;
    for (size_t k = g.begin; k < g.end; k++) {
        uint32_t some = zmpi_nonzero_of(nonzero, &g, k);
        for (; some; some &= some - 1) {
            const size_t i = k * ZMPI_BLOCK + (size_t)__builtin_ctz(some), zeros = i - next;
            next = i + 1;
            if (zeros < 64)
                runs[zeros]++;
            else
                zmpi_count_run(zeros, 1, count);
            if ((U)(r[i] + ZMPI_HUFFMAN_DIRECT / 2) < ZMPI_HUFFMAN_DIRECT)
                direct[r[i] + ZMPI_HUFFMAN_DIRECT / 2]++;
            else
                count[zmpi_residual_symbol((S)r[i], &extra)]++;
        }
    }
    zmpi_count_run(g.begin * ZMPI_BLOCK + zmpi_segment_words(&g) - next, 1, count);
    for (unsigned i = 1; i < 64; i++)
        if (runs[i])
            zmpi_count_run(i, runs[i], count);
    for (unsigned i = 0; i < ZMPI_HUFFMAN_DIRECT; i++)
        if (direct[i])
            count[zmpi_residual_symbol((int64_t)i - ZMPI_HUFFMAN_DIRECT / 2, &extra)] += direct[i];
}

/* ---- decoding ---- */

/* The extra bits of a wide class or an escape. */
TARGET static __attribute__((noinline)) uint64_t NAME(wide)(const unsigned char *src, size_t limit,
                                                            struct zmpi_lane *l, unsigned extra)
{
    const size_t at = l->at;
    l->at += extra;
    if (l->at > limit) {
        l->end = 0;
        return 0;
    }
    const unsigned char *p = src + (at >> 3);
    uint64_t low = zmpi_load64(p) >> (at & 7), high = (uint64_t)p[8] << 1 << (63 - (at & 7));
    return extra < 64 ? (low | high) & (((uint64_t)1 << extra) - 1) : low | high;
}

/* The next symbol, of any kind. */
TARGET static __attribute__((noinline)) void NAME(step_slowly)(const struct zmpi_huffman_decoder *d,
                                                               const unsigned char *src,
                                                               size_t limit, struct zmpi_lane *l,
                                                               void *out)
{
    const uint64_t w = zmpi_load64(src + (l->at >> 3)) >> (l->at & 7);
    const unsigned symbol = d->symbol[w & ZMPI_ENTRY_MASK];
    l->at += d->length[symbol];
    if (symbol >= ZMPI_HUFFMAN_RUNS && symbol != ZMPI_HUFFMAN_ESCAPE) {
        l->element += zmpi_symbol_run(symbol);
        return;
    }
    const unsigned extra = zmpi_symbol_extra(symbol, sizeof(U));
    const U first = symbol == ZMPI_HUFFMAN_ESCAPE ? 0 : (U)zmpi_symbol_first(symbol);
    const U rest = extra ? (U)NAME(wide)(src, limit, l, extra) : 0;
    ((U *)out)[l->element++] = (extra < 8 * sizeof(U) ? (U)(first << extra) : 0) + rest;
}

/* The elements of entry t from bits w; writes at least two. */
INLINE void NAME(take)(struct zmpi_lane *l, U *out, uint64_t w, uint64_t t)
{
    const unsigned all = t & 0xFF;
    out[l->element] = (U)((int64_t)t >> 32) + (U)(LOW_BITS(w, t) >> (t >> 8 & 63));
    out[l->element + 1] = (U)(int8_t)(t >> 16);
    l->at += all;
    l->element += t >> 24 & 0xFF;
}

/* Take a slow symbol with *l in memory, so that it may stay in registers elsewhere. */
INLINE void NAME(take_slowly)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                              size_t limit, struct zmpi_lane *l, U *out)
{
    struct zmpi_lane slow = *l;
    NAME(step_slowly)(d, src, limit, &slow, out);
    *l = slow;
}

/* One look into the table, or two from the same load. */
INLINE void NAME(step)(const struct zmpi_huffman_decoder *d, const unsigned char *src, size_t limit,
                       struct zmpi_lane *l, U *out, bool two)
{
    const uint64_t w = zmpi_load64(src + (l->at >> 3)) >> (l->at & 7);
    const uint64_t t = d->entry[w & ZMPI_ENTRY_MASK], next = w >> (t & 63);
    const uint64_t u = two ? d->entry[next & ZMPI_ENTRY_MASK] : 0;
    if (__builtin_expect((t | u) & ZMPI_ENTRY_SLOW, 0)) {
        NAME(take_slowly)(d, src, limit, l, out);
        return;
    }
    NAME(take)(l, out, w, t);
    if (two)
        NAME(take)(l, out, next, u);
}

TARGET static void NAME(one)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                             size_t limit, struct zmpi_lane *lane, void *out)
{
    struct zmpi_lane l = *lane;
    while (l.element + 1 < l.end)
        NAME(step)(d, src, limit, &l, out, false);
    while (l.element < l.end)
        NAME(step_slowly)(d, src, limit, &l, out);
    *lane = l;
}

/* Four streams, as long as all have more than `room` elements left: the waits of one are the work
 * of another. */
INLINE void NAME(together)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                           size_t limit, struct zmpi_lane *lane, U *out, size_t room, bool two)
{
    struct zmpi_lane a = lane[0], b = lane[1], c = lane[2], e = lane[3];
    while (a.element + room < a.end && b.element + room < b.end && c.element + room < c.end &&
           e.element + room < e.end) {
        NAME(step)(d, src, limit, &a, out, two);
        NAME(step)(d, src, limit, &b, out, two);
        NAME(step)(d, src, limit, &c, out, two);
        NAME(step)(d, src, limit, &e, out, two);
    }
    lane[0] = a;
    lane[1] = b;
    lane[2] = c;
    lane[3] = e;
}

TARGET static void NAME(four)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                              size_t limit, struct zmpi_lane *lane, void *out)
{
    NAME(together)(d, src, limit, lane, out, 2 * ZMPI_FAST_RUN + 1, true);
    NAME(together)(d, src, limit, lane, out, 1, false);
}

#undef INLINE

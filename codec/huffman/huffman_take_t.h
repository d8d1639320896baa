/*
 * huffman_take_t.h - template: bits to residuals.
 *
 * Parameters: U the unsigned word, S its signed form, NAME(x), TARGET, the instruction set, and
 * LOW_BITS(w, n), the lowest n of w; n counts modulo 64.
 *
 * A round loads at least 56 bits with a mark above them, and looks into the table several times
 * before it checks the mark. The place of the mark tells how many bits the looks took. If a look
 * needs care it takes all bits; then the round is repeated symbol by symbol.
 */

#define INLINE TARGET __attribute__((always_inline)) static inline
#define UNROLL _Pragma("GCC unroll 8")

/* ---- one symbol, of any kind ---- */

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

TARGET static __attribute__((noinline)) void NAME(step)(const struct zmpi_huffman_decoder *d,
                                                        const unsigned char *src, size_t limit,
                                                        struct zmpi_lane *l, U *out)
{
    const uint64_t w = zmpi_load64(src + (l->at >> 3)) >> (l->at & 7);
    const unsigned symbol = d->symbol[w % ZMPI_HUFFMAN_TABLE];
    l->at += d->length[symbol];
    if (symbol >= ZMPI_HUFFMAN_RUNS && symbol != ZMPI_HUFFMAN_ESCAPE) {
        l->element += zmpi_symbol_run(symbol);
        return;
    }
    const unsigned extra = zmpi_symbol_extra(symbol, sizeof(U));
    const U first = symbol == ZMPI_HUFFMAN_ESCAPE ? 0 : (U)zmpi_symbol_first(symbol);
    const U rest = extra ? (U)NAME(wide)(src, limit, l, extra) : 0;
    out[l->element++] = (extra < 8 * sizeof(U) ? (U)(first << extra) : 0) + rest;
}

/* ---- a stream of bits in a register ---- */

struct NAME(cursor) {
    const unsigned char *from; /* where the bits of the next round begin, but for */
    unsigned skip;             /* bits, at most 7 */
    U *to;
};

INLINE struct NAME(cursor)
    NAME(cursor_at)(const unsigned char *src, const struct zmpi_lane *l, U *out)
{
    return (struct NAME(cursor)){src + (l->at >> 3), l->at & 7, out + l->element};
}

INLINE void NAME(cursor_save)(const struct NAME(cursor) * c, struct zmpi_lane *l,
                              const unsigned char *src, const U *out)
{
    l->at = 8 * (size_t)(c->from - src) + c->skip;
    l->element = (size_t)(c->to - out);
}

/* 56 to 63 bits, the first lowest, and a mark above them. */
INLINE uint64_t NAME(marked)(const struct NAME(cursor) * c)
{
    return (zmpi_load64(c->from) | (uint64_t)1 << 63) >> c->skip;
}

/* Moves to the first bit that is left. */
INLINE void NAME(advance)(struct NAME(cursor) * c, uint64_t bits)
{
    const unsigned taken = (unsigned)__builtin_clzll(bits); /* those that were skipped, too */
    c->from += taken >> 3;
    c->skip = taken & 7;
}

/* The value of an entry, whose bits are taken. */
INLINE U NAME(take)(uint64_t *bits, uint32_t t, int32_t first)
{
    /* A rotation needs no copy of t. */
    const unsigned code = (t / ZMPI_ENTRY_CODE | t << 22) & 63;
    const U value = (U)first + (U)(LOW_BITS(*bits, t) >> code);
    *bits >>= t & 63;
    return value;
}

/* The elements of the next entry to `to`, or k elements on if there is but one in each. Returns
 * where those of the next go. */
INLINE U *NAME(look)(const struct zmpi_huffman_decoder *d, uint64_t *bits, U *to,
                     enum zmpi_entry_kind kind, unsigned k)
{
    const size_t index = *bits % ZMPI_HUFFMAN_TABLE;
    if (kind == ZMPI_ENTRY_SINGLE) {
        to[k] = NAME(take)(bits, zmpi_load32(&d->single[index]), d->single[index].first);
    } else if (kind == ZMPI_ENTRY_WIDE) {
        to[k] = NAME(take)(bits, zmpi_load32(&d->wide[index]), d->wide[index].first);
    } else if (kind == ZMPI_ENTRY_WIDEST) {
        const uint32_t t = zmpi_load32(&d->wide[index]);
        const unsigned extra = (t & 63) - (t / ZMPI_ENTRY_CODE & 63);
        const uint64_t first = (uint64_t)(int64_t)d->wide[index].first << (extra & 63);
        to[k] = (U)first + NAME(take)(bits, t, 0);
    } else {
        const struct zmpi_long_entry *e = &d->several[index];
        const U value = NAME(take)(bits, zmpi_load32(e), e->of.first);
        SPREAD(to, e->rest);
        *to = value;
        return to + (uint8_t)e->rest[0];
    }
    return to;
}

/* ---- streams ---- */

/* The last place where a round may begin. */
INLINE uintptr_t NAME(stop)(const struct zmpi_lane *l, U *out, enum zmpi_entry_kind kind,
                            unsigned looks)
{
    const size_t most = kind == ZMPI_ENTRY_LONG ? (looks - 1) * ZMPI_FAST_RUN + 4 : looks;
    return l->end < most ? 0 : (uintptr_t)(out + (l->end - most));
}

/* A round again that wrote to what lies before `behind`, from its beginning: until what needed care
 * is done, or some symbols more. */
TARGET static __attribute__((noinline)) struct NAME(cursor)
    NAME(again)(const struct zmpi_huffman_decoder *d, const unsigned char *src, size_t limit,
                struct NAME(cursor) c, U *out, const U *behind, unsigned looks, uintptr_t *stop)
{
    struct zmpi_lane l = {.end = 1};
    memset(c.to, 0, (size_t)((const unsigned char *)behind - (const unsigned char *)c.to));
    NAME(cursor_save)(&c, &l, src, out);
    for (bool care = false; looks > 0 && !care && l.end; looks--) {
        const uint64_t w = zmpi_load64(src + (l.at >> 3)) >> (l.at & 7);
        care = zmpi_needs_care(d, w % ZMPI_HUFFMAN_TABLE);
        NAME(step)(d, src, limit, &l, out);
    }
    if (!l.end)
        *stop = 0;
    return NAME(cursor_at)(src, &l, out);
}

/* Some look-ups for each of n streams, in turn: one stream's waits are another's work. */
INLINE void NAME(round)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                        size_t limit, struct NAME(cursor) * c, U *out, uintptr_t *stop,
                        enum zmpi_entry_kind kind, unsigned looks, unsigned n)
{
    uint64_t bits[ZMPI_HUFFMAN_STREAMS];
    U *to[ZMPI_HUFFMAN_STREAMS];
    UNROLL
    for (unsigned i = 0; i < n; i++) {
        bits[i] = NAME(marked)(&c[i]);
        to[i] = c[i].to;
    }
    UNROLL
    for (unsigned k = 0; k < looks; k++) {
        UNROLL
        for (unsigned i = 0; i < n; i++)
            to[i] = NAME(look)(d, &bits[i], to[i], kind, k);
    }
    UNROLL
    for (unsigned i = 0; i < n; i++) {
        if (kind != ZMPI_ENTRY_LONG)
            to[i] += looks;
        /* The mark is gone, or no bit is left: what needs care takes as many. */
        if (__builtin_expect(bits[i] <= 1, 0)) {
            c[i] = NAME(again)(d, src, limit, c[i], out, to[i] + (kind == ZMPI_ENTRY_LONG), looks,
                               &stop[i]);
        } else {
            c[i].to = to[i];
            NAME(advance)(&c[i], bits[i]);
        }
    }
}

/* Rounds of n streams: of all together as long as all have that much left, or of each that has. */
INLINE void NAME(rounds)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                         size_t limit, struct zmpi_lane *lane, U *out, unsigned n, bool together,
                         enum zmpi_entry_kind kind, unsigned looks)
{
    struct NAME(cursor) c[ZMPI_HUFFMAN_STREAMS];
    uintptr_t stop[ZMPI_HUFFMAN_STREAMS];
    UNROLL
    for (unsigned i = 0; i < n; i++) {
        stop[i] = NAME(stop)(&lane[i], out, kind, looks);
        c[i] = NAME(cursor_at)(src, &lane[i], out);
    }
    for (unsigned going = n; together ? going == n : going > 0;) {
        going = 0;
        UNROLL
        for (unsigned i = 0; i < n; i++) {
            const bool goes = (uintptr_t)c[i].to <= stop[i];
            going += goes;
            if (!together && goes)
                NAME(round)(d, src, limit, &c[i], out, &stop[i], kind, looks, 1);
        }
        if (together && going == n)
            NAME(round)(d, src, limit, c, out, stop, kind, looks, n);
    }
    UNROLL
    for (unsigned i = 0; i < n; i++)
        NAME(cursor_save)(&c[i], &lane[i], src, out);
}

INLINE void NAME(rounds_of_kind)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                                 size_t limit, struct zmpi_lane *lane, U *out, unsigned n)
{
    if (d->kind == ZMPI_ENTRY_LONG) {
        if (n > 1)
            NAME(rounds)(d, src, limit, lane, out, n, true, ZMPI_ENTRY_LONG, ZMPI_LONG_LOOKS);
        NAME(rounds)(d, src, limit, lane, out, n, false, ZMPI_ENTRY_LONG, ZMPI_LONG_LOOKS);
        NAME(rounds)(d, src, limit, lane, out, n, false, ZMPI_ENTRY_LONG, 1);
    } else if (d->kind == ZMPI_ENTRY_WIDE) {
        NAME(rounds)(d, src, limit, lane, out, n, true, ZMPI_ENTRY_WIDE, ZMPI_WIDE_LOOKS);
    } else if (d->kind == ZMPI_ENTRY_WIDEST) {
        NAME(rounds)(d, src, limit, lane, out, n, true, ZMPI_ENTRY_WIDEST, 1);
    } else if (d->looks == ZMPI_MANY_LOOKS) {
        NAME(rounds)(d, src, limit, lane, out, n, true, ZMPI_ENTRY_SINGLE, ZMPI_MANY_LOOKS);
    } else {
        NAME(rounds)(d, src, limit, lane, out, n, true, ZMPI_ENTRY_SINGLE, ZMPI_SOME_LOOKS);
    }
}

/* Four streams symbol by symbol, as long as all have some left. */
TARGET static void NAME(step_together)(const struct zmpi_huffman_decoder *d,
                                       const unsigned char *src, size_t limit,
                                       struct zmpi_lane *lane, U *out)
{
    while (lane[0].element < lane[0].end && lane[1].element < lane[1].end &&
           lane[2].element < lane[2].end && lane[3].element < lane[3].end)
        for (unsigned k = 0; k < 4; k++)
            NAME(step)(d, src, limit, &lane[k], out);
}

TARGET static void NAME(four)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                              size_t limit, struct zmpi_lane *lane, void *out)
{
    if (d->kind == ZMPI_ENTRY_NONE)
        NAME(step_together)(d, src, limit, lane, out);
    else
        NAME(rounds_of_kind)(d, src, limit, lane, out, ZMPI_HUFFMAN_STREAMS);
}

TARGET static void NAME(one)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                             size_t limit, struct zmpi_lane *lane, void *out)
{
    if (d->kind != ZMPI_ENTRY_NONE)
        NAME(rounds_of_kind)(d, src, limit, lane, out, 1);
    while (lane->element < lane->end)
        NAME(step)(d, src, limit, lane, out);
}

#undef UNROLL
#undef INLINE

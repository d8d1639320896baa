/*
 * huffman_take_t.h - template: bits to residuals.
 *
 * Parameters: U the unsigned word, S its signed form, NAME(x), TARGET, what it is compiled for, and
 * LOW_BITS(w, n), the lowest n of w; n counts modulo 64.
 *
 * Bits are loaded 56 or more at once, and several looks into the table are taken before it is
 * seen whether they were as many, or one of them met what needs more care: such an entry takes 64.
 * Then the round is done again, symbol by symbol.
 */

#define INLINE TARGET __attribute__((always_inline)) static inline

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

/* ---- a stream of bits in registers ---- */

struct NAME(cursor) {
    uint64_t bits;  /* the lowest ones are those to come */
    uint64_t place; /* how many are sure to be right; above bit 6: the byte behind these */
    U *to;
};

INLINE struct NAME(cursor)
    NAME(cursor_at)(const unsigned char *src, const struct zmpi_lane *l, U *out)
{
    const size_t byte = l->at >> 3, bit = l->at & 7;
    return (struct NAME(cursor)){zmpi_load64(src + byte) >> bit, (byte + 7) << 6 | (56 - bit),
                                 out + l->element};
}

INLINE void NAME(cursor_save)(const struct NAME(cursor) * c, struct zmpi_lane *l, const U *out)
{
    l->at = (c->place >> 6) * 8 - (c->place & 63);
    l->element = (size_t)(c->to - out);
}

/* At least 56 bits, at most 63: as many bytes as fit above those that are there. */
INLINE void NAME(refill)(struct NAME(cursor) * c, const unsigned char *src)
{
    const uint64_t room = ~c->place & 56;
    c->bits |= zmpi_load64(src + (c->place >> 6)) << (c->place & 63);
    c->place += room + 8 * room; /* room / 8 bytes */
}

/* The value of an entry, whose bits are taken. */
INLINE U NAME(take)(struct NAME(cursor) * c, uint32_t t, int32_t first)
{
    /* A rotation needs no copy of t. */
    const unsigned code = (t / ZMPI_ENTRY_CODE | t << 22) & 63;
    const U value = (U)first + (U)(LOW_BITS(c->bits, t) >> code);
    c->bits >>= t & 63;
    return value;
}

/* The elements of the next entry, to c->to, or k elements on if there is but one in each. Returns
 * how many bits it took, below something else. */
INLINE uint32_t NAME(look)(const struct zmpi_huffman_decoder *d, struct NAME(cursor) * c,
                           enum zmpi_entry_kind kind, unsigned k)
{
    const size_t index = c->bits % ZMPI_HUFFMAN_TABLE;
    if (kind == ZMPI_ENTRY_SINGLE) {
        const uint32_t t = zmpi_load32(&d->single[index]);
        c->to[k] = NAME(take)(c, t, d->single[index].first);
        return t;
    }
    if (kind == ZMPI_ENTRY_WIDE) {
        const uint32_t t = zmpi_load32(&d->wide[index]);
        c->to[k] = NAME(take)(c, t, d->wide[index].first);
        return t;
    }
    if (kind == ZMPI_ENTRY_WIDEST) {
        const uint32_t t = zmpi_load32(&d->wide[index]);
        const unsigned extra = (t & 63) - (t / ZMPI_ENTRY_CODE & 63);
        const uint64_t first = (uint64_t)(int64_t)d->wide[index].first << (extra & 63);
        c->to[k] = (U)first + NAME(take)(c, t, 0);
        return t;
    }
    const uint32_t t = zmpi_load32(&d->several[index]);
    const U value = NAME(take)(c, t, d->several[index].of.first);
    SPREAD(c->to, d->several[index].rest);
    *c->to = value;
    c->to += (uint8_t)d->several[index].rest[0];
    return t;
}

/* ---- streams ---- */

/* Where the last round may begin. */
INLINE uintptr_t NAME(stop)(const struct zmpi_lane *l, U *out, enum zmpi_entry_kind kind,
                            unsigned looks)
{
    const size_t room = kind == ZMPI_ENTRY_LONG ? (looks - 1) * ZMPI_FAST_RUN + 4 : looks;
    return l->end < room ? 0 : (uintptr_t)(out + (l->end - room));
}

/* A round again, from its beginning: until what needed care is done, or some symbols more. */
TARGET static __attribute__((noinline)) struct NAME(cursor)
    NAME(again)(const struct zmpi_huffman_decoder *d, const unsigned char *src, size_t limit,
                struct NAME(cursor) c, U *out, const U *behind, unsigned looks, uintptr_t *stop)
{
    struct zmpi_lane l = {.end = 1};
    memset(c.to, 0, (size_t)((const unsigned char *)behind - (const unsigned char *)c.to));
    NAME(cursor_save)(&c, &l, out);
    for (bool care = false; looks > 0 && !care && l.end; looks--) {
        const uint64_t w = zmpi_load64(src + (l.at >> 3)) >> (l.at & 7);
        care = zmpi_needs_care(d, w % ZMPI_HUFFMAN_TABLE);
        NAME(step)(d, src, limit, &l, out);
    }
    if (!l.end)
        *stop = 0;
    return NAME(cursor_at)(src, &l, out);
}

/* Some looks. */
INLINE void NAME(round)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                        size_t limit, struct NAME(cursor) * c, U *out, uintptr_t *stop,
                        enum zmpi_entry_kind kind, unsigned looks)
{
    U *const to = c->to;
    uint32_t bits = 0;
    NAME(refill)(c, src);
    for (unsigned k = 0; k < looks; k++)
        bits += NAME(look)(d, c, kind, k);
    if (kind != ZMPI_ENTRY_LONG)
        c->to += looks;
    bits %= ZMPI_ENTRY_CODE;
    if (__builtin_expect(bits > 56, 0)) {
        /* Not behind the stream: not all of so many bits are runs. */
        U *const behind = c->to + (kind == ZMPI_ENTRY_LONG ? 3 : 0);
        c->to = to;
        *c = NAME(again)(d, src, limit, *c, out, behind, looks, stop);
        return;
    }
    c->place -= bits;
}

/* Four streams, the waits of one being the work of another: a round of each as long as all have
 * that much left, or of those that have, as long as one has. */
INLINE void NAME(together)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                           size_t limit, struct zmpi_lane *lane, U *out, enum zmpi_entry_kind kind,
                           unsigned looks, bool all)
{
    uintptr_t stop[4];
    for (unsigned k = 0; k < 4; k++)
        stop[k] = NAME(stop)(&lane[k], out, kind, looks);
    struct NAME(cursor) a = NAME(cursor_at)(src, &lane[0], out);
    struct NAME(cursor) b = NAME(cursor_at)(src, &lane[1], out);
    struct NAME(cursor) c = NAME(cursor_at)(src, &lane[2], out);
    struct NAME(cursor) e = NAME(cursor_at)(src, &lane[3], out);
#define GOES(x, k) ((uintptr_t)x.to <= stop[k])
    while (all ? GOES(a, 0) && GOES(b, 1) && GOES(c, 2) && GOES(e, 3)
               : GOES(a, 0) || GOES(b, 1) || GOES(c, 2) || GOES(e, 3)) {
        if (all || GOES(a, 0))
            NAME(round)(d, src, limit, &a, out, &stop[0], kind, looks);
        if (all || GOES(b, 1))
            NAME(round)(d, src, limit, &b, out, &stop[1], kind, looks);
        if (all || GOES(c, 2))
            NAME(round)(d, src, limit, &c, out, &stop[2], kind, looks);
        if (all || GOES(e, 3))
            NAME(round)(d, src, limit, &e, out, &stop[3], kind, looks);
    }
#undef GOES
    NAME(cursor_save)(&a, &lane[0], out);
    NAME(cursor_save)(&b, &lane[1], out);
    NAME(cursor_save)(&c, &lane[2], out);
    NAME(cursor_save)(&e, &lane[3], out);
}

INLINE void NAME(alone)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                        size_t limit, struct zmpi_lane *lane, U *out, enum zmpi_entry_kind kind,
                        unsigned looks, bool all)
{
    (void)all;
    uintptr_t stop = NAME(stop)(lane, out, kind, looks);
    struct NAME(cursor) c = NAME(cursor_at)(src, lane, out);
    while ((uintptr_t)c.to <= stop)
        NAME(round)(d, src, limit, &c, out, &stop, kind, looks);
    NAME(cursor_save)(&c, lane, out);
}

#define FOR_KIND(take, ...)                                                                        \
    do {                                                                                           \
        if (d->kind == ZMPI_ENTRY_LONG) {                                                          \
            take(__VA_ARGS__, ZMPI_ENTRY_LONG, ZMPI_LONG_LOOKS, true);                             \
            take(__VA_ARGS__, ZMPI_ENTRY_LONG, 1, false);                                          \
        } else if (d->kind == ZMPI_ENTRY_WIDE) {                                                   \
            take(__VA_ARGS__, ZMPI_ENTRY_WIDE, ZMPI_WIDE_LOOKS, true);                             \
        } else if (d->kind == ZMPI_ENTRY_WIDEST) {                                                 \
            take(__VA_ARGS__, ZMPI_ENTRY_WIDEST, 1, true);                                         \
        } else if (d->looks == ZMPI_MANY_LOOKS) {                                                  \
            take(__VA_ARGS__, ZMPI_ENTRY_SINGLE, ZMPI_MANY_LOOKS, true);                           \
        } else {                                                                                   \
            take(__VA_ARGS__, ZMPI_ENTRY_SINGLE, ZMPI_SOME_LOOKS, true);                           \
        }                                                                                          \
    } while (0)

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
        FOR_KIND(NAME(together), d, src, limit, lane, out);
}

TARGET static void NAME(one)(const struct zmpi_huffman_decoder *d, const unsigned char *src,
                             size_t limit, struct zmpi_lane *lane, void *out)
{
    if (d->kind != ZMPI_ENTRY_NONE)
        FOR_KIND(NAME(alone), d, src, limit, lane, out);
    while (lane->element < lane->end)
        NAME(step)(d, src, limit, lane, out);
}

#undef FOR_KIND
#undef INLINE

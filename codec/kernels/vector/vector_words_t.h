/*
 * vector_words_t.h - template: takes the words of a tile, line by line. After vector_quant_t.h.
 */

/* How integers are made: from words as they are; quantized, all words; quantized except one fill
 * value; or quantized except any words that cannot be, whose masks stay in the work. */
enum source { WORDS, QUANTIZE, FILLED, MASKED };

/* WIDE: integers may be too far from each other; EXCEPTION: there is an exception. */
enum outcome { DONE, EXCEPTION, WIDE };

struct tile {
    const struct shape *s;
    const struct zmpi_rows *rows;
    const struct lines *lines; /* the same rows as lines */
    struct zmpi_chunk_work *work;
    struct quantizer quantizer; /* except for WORDS */
    bool sampled;               /* samples of the tile are read before it is coded */
    U flip;                     /* WORDS: see v_ordered */
    U fill;                     /* FILLED */
    U base;                     /* the integer of the first word that has one */
};

/* Words from i on of a row at x. Many such loads cross a cache line and cost two, so the compiler
 * must not repeat them for each instruction that uses them. */
VECTOR V load_words(const unsigned char *x, size_t i)
{
    return v_loaded(v_load((const U *)(const void *)(x + i * WIDTH)));
}

/* How many words of a vector from i on lie before `end`. */
static inline unsigned lanes_before(size_t i, size_t end)
{
    return i + LANES <= end ? LANES : i < end ? (unsigned)(end - i) : 0;
}

/* A vector of words at x. Lanes behind `end` get other words from before `end`, where there are at
 * least as many as lanes. A masked load would stall on Zen 4. */
VECTOR V load_before(const unsigned char *x, size_t i, size_t end)
{
    const unsigned words = lanes_before(i, end);
    if (words == LANES)
        return load_words(x, i);
    return v_take(load_words(x, end - LANES), v_rotate(words ? LANES - words : 0));
}

/* Clears the bits of elements from..end-1 in a chunk's masks. */
static inline void clear_bits(uint32_t *mask, size_t from, size_t end)
{
    while (from < end) {
        const size_t bit = from % ZMPI_BLOCK, left = ZMPI_BLOCK - bit;
        const size_t n = end - from < left ? end - from : left;
        mask[from / ZMPI_BLOCK] &= ~(UINT32_MAX >> (ZMPI_BLOCK - n) << bit);
        from += n;
    }
}

/* Finds which elements have a neighbour in their row and a row above. The masks stay in the work,
 * because most chunks of an array have the same. */
static inline void find_edges(const struct shape *s, unsigned axes, struct zmpi_chunk_edges *e)
{
    if (e->extent[0] != s->z || e->extent[1] != s->y || e->extent[2] != s->x) {
        e->extent[0] = s->z;
        e->extent[1] = s->y;
        e->extent[2] = s->x;
        e->axes = 0;
    }
    const unsigned missing = axes & ~e->axes;
    e->axes |= axes;
    if (missing & ZMPI_AXIS_X) {
        memset(e->left, 0xFF, s->blocks * sizeof *e->left);
        for (size_t i = 0; i < s->count; i += s->row)
            e->left[i / ZMPI_BLOCK] &= ~(UINT32_C(1) << i % ZMPI_BLOCK);
    }
    if (missing & ZMPI_AXIS_Y) {
        memset(e->above, 0xFF, s->blocks * sizeof *e->above);
        for (size_t i = 0; i < s->count; i += s->plane)
            clear_bits(e->above, i, i + s->row);
    }
}

/* Writes masks of vectors, or of fewer words, one behind the other. */
struct bits {
    unsigned char *to;
    uint64_t open; /* bits of *to; the next call stores those beyond 32 */
    unsigned have; /* their number, below 8 */
};

VECTOR void put_bits(struct bits *b, uint32_t mask, size_t n)
{
    b->open |= (uint64_t)mask << b->have;
    zmpi_store32(b->to, (uint32_t)b->open);
    b->have += (unsigned)n;
    b->to += b->have / 8;
    b->open >>= b->have & ~7U;
    b->have %= 8;
}

/*
 * The hardware's prefetchers stop at the end of a tile's line, and do not even bring short lines
 * from the second-level cache to the first. So the kernels prefetch lines themselves, in the tile's
 * order and at its end those of the next tile: at least AHEAD_FAR bytes early into the second-level
 * cache, and AHEAD_NEAR bytes early into the first. (Prefetching the next tile's lines 32 KiB early
 * was 5 % slower. But they are already there where a tile is sampled first.)
 */
enum { AHEAD_FAR = 16384, AHEAD_NEAR = 4096 };

/* The next line to prefetch. */
struct cursor {
    struct lines l;
    const unsigned char *next; /* the next tile's first line; or this tile's again */
    size_t y, z;
};

VECTOR struct cursor cursor_at(const struct tile *f, const struct lines *l, size_t bytes)
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

VECTOR struct coming coming_of(const struct tile *f, const struct lines *l)
{
    struct coming c = {cursor_at(f, l, AHEAD_FAR), cursor_at(f, l, AHEAD_NEAR), f->work->cached};
    if (f->sampled) {
        const unsigned char *next = f->rows->next ? f->rows->next : l->at;
        c.far = (struct cursor){{next, l->words, l->y, l->z, l->row, l->plane}, next, 0, 0};
    }
    return c;
}

/* How far ahead lines are prefetched while the line at x is coded. far: 0 for an array in the
 * second-level cache. */
struct ahead {
    size_t far, near;
};

VECTOR void fetch(const unsigned char *x, struct ahead ahead)
{
    v_prefetch(x, ahead.far);
    __builtin_prefetch((const void *)((uintptr_t)x + ahead.near));
}

/* A row's last byte may lie in a cache line that no step of 64 bytes reaches. */
VECTOR struct ahead coming_ahead(struct coming *c, const unsigned char *x)
{
    const struct ahead ahead = {c->cached ? 0 : cursor_ahead(&c->far, x),
                                cursor_ahead(&c->near, x)};
    fetch(x + c->near.l.words * WIDTH - 1, ahead);
    return ahead;
}

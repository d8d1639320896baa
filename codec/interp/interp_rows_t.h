/* interp_rows_t.h - template: contexts of rows, and their codes (format.md 1.5). Several rows of a
 * class form one strip of cells, so that loops are long; results in the pads between them are never
 * used. */

static int32_t add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t times(int32_t a, uint32_t b)
{
    return (int32_t)((uint32_t)a * b);
}

static int32_t minus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b);
}

/* The difference has no value where one of both has none. */
static void subtract(int32_t *value, const int32_t *from, const int32_t *before, size_t n)
{
    for (size_t i = 0; i < n; i++)
        value[i] =
            from[i] == NO_VALUE || before[i] == NO_VALUE ? NO_VALUE : minus(from[i], before[i]);
}

static int32_t *row_of(const struct cells *c, int z, int y)
{
    return c->value + (size_t)z * c->plane + (size_t)y * c->row;
}

static int32_t *whole_of(const struct cells *c, int z, int y)
{
    return c->whole + (size_t)z * c->plane + (size_t)y * c->row;
}

static unsigned char *sizes_of(const struct cells *c, int z, int y)
{
    return c->size + (size_t)z * c->plane + (size_t)y * c->row;
}

/* Rows y to y + rows - 1 of plane z; n: cells, with the pads between rows. */
struct strip {
    int z, y, rows;
    size_t n;
};

static struct strip strip_of(const struct cells *c, int z, int y, int rows)
{
    return (struct strip){z, y, rows, (size_t)(rows - 1) * c->row + (size_t)c->n[2]};
}

/* Returns the rows from y on that fit into scratch. */
static struct strip next_strip(const struct cells *c, int z, int y)
{
    const int fit = (int)(ZMPI_INTERP_STRIP / c->row), left = c->n[1] - y;
    return strip_of(c, z, y, fit < 1 ? 1 : fit < left ? fit : left);
}

/* Repeats the sizes at the ends of rows into the pads. */
static void pad_sizes(const struct cells *c, const struct strip *s)
{
    unsigned char *size = sizes_of(c, s->z, s->y);
    for (int k = 0; k < s->rows; k++, size += c->row) {
        size[-1] = size[0];
        size[c->n[2]] = size[c->n[2] - 1];
    }
}

/* ---- contexts ---- */

/* Puts the sums that make a context into 8 classes. */
static void classify(unsigned char *restrict context, const unsigned char *above,
                     const unsigned char *before, size_t n, unsigned shift)
{
    const unsigned char *left = above - 1, *right = above + 1;
    const size_t m = whole(n, 32);
    for (size_t i = 0; i < m; i++) {
        const uint16_t all = (uint16_t)(2 * (above[i] + before[i]) + left[i] + right[i]);
        const uint16_t sum = (uint16_t)(all >> shift);
        context[i] = (unsigned char)(sum > 255 ? 255 : sum);
    }
    for (size_t i = 0; i < m; i++) {
        const unsigned char sum = context[i];
        context[i] = (unsigned char)((sum >= 1) + (sum >= 2) + (sum >= 3) + (sum >= 5) +
                                     (sum >= 8) + (sum >= 13) + (sum >= 23));
    }
}

/* The limits between three classes of sums at reference points. */
static void limits(unsigned shift, int axes, uint16_t *low, uint16_t *high)
{
    static const unsigned char at_0[] = {0, 1, 2, 4};
    *low = (uint16_t)(shift ? axes * (5 << shift) / 2 : 0);
    *high = (uint16_t)(shift ? axes * (11 << shift) / 2 : at_0[axes]);
}

/* Makes the contexts of a strip from the rows above and before, and from sums of sizes at `axes`
 * pairs of reference points (NULL: there are none). */
static void make_contexts(struct zmpi_interp_work *w, const struct cells *c, const struct strip *s,
                          const uint16_t *sums, int axes)
{
    unsigned char *restrict context = w->contexts;
    const unsigned char *row = sizes_of(c, s->z, s->y);
    size_t first = 0; /* cells of a plane's first row */
    if (s->y == 0) {
        first = s->rows > 1 ? c->row : s->n;
        if (s->z)
            classify(context, row - c->plane, row - c->plane, first, w->shift);
        else
            memset(context, 0, first);
    }
    if (first < s->n) {
        const unsigned char *above = row + first - c->row;
        classify(context + first, above, s->z ? row + first - c->plane : above, s->n - first,
                 w->shift);
    }
    if (!sums)
        return;
    uint16_t low, high;
    limits(w->shift, axes, &low, &high);
    const size_t m = whole(s->n, 32);
    for (size_t i = 0; i < m; i++)
        context[i] =
            (unsigned char)(context[i] + (sums[i] > low ? 8 : 0) + (sums[i] > high ? 8 : 0));
}

/* ---- symbols in lanes ---- */

enum { SLOTS = 1 << ZMPI_INTERP_PRECISION };

/* 1 or 0, without a branch, which a processor could not predict. */
static inline uint32_t is_below(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a - b) >> 63);
}

/* Puts one pair's symbol into a lane's state x. With its frequency f and first slot, x becomes x /
 * f * 4096 + x % f + first. If that would not fit 32 bits, the lower 16 bits of x are written
 * first. */
static inline unsigned char *put_symbol(const uint64_t *slots, unsigned pair, unsigned char *at,
                                        uint32_t *state)
{
    const uint32_t inverse = (uint32_t)slots[pair], s = (uint32_t)(slots[pair] >> 32);
    const uint32_t rest = s & (SLOTS - 1), most = ~(s << 20);       /* 2^20 f - 1 */
    const int64_t gives = (int64_t)((uint64_t)most - *state) >> 63; /* -1 or 0, without a branch */
    zmpi_store16(at - 2, (uint16_t)*state);
    const uint32_t x = *state >> (gives & 16);
    const uint64_t q = (uint64_t)(x + (s >> 28)) * inverse >> (31 + (s >> 24 & 15));
    *state = x + (s >> ZMPI_INTERP_PRECISION & (SLOTS - 1)) + (uint32_t)q * rest;
    return at + 2 * gives;
}

/* Writes the words of all codes, backwards from `end`; returns where they begin. */
static inline __attribute__((always_inline)) unsigned char *
put_in(const struct codes *c, const uint64_t *slots, unsigned lanes, unsigned char *end,
       uint32_t states[16])
{
    unsigned char *at = end;
    const uint16_t *pair = c->pair + c->count;
    uint32_t state[16];
    memcpy(state, states, sizeof state);
    for (size_t r = c->row_count; r-- > 0;) {
        const size_t rest = c->rows[r] % lanes;
        pair -= rest;
#pragma GCC unroll 16
        for (unsigned k = lanes; k-- > 0;) /* constant places: states stay in registers */
            if (k < rest)
                at = put_symbol(slots, pair[k], at, &state[k]);
        for (size_t g = c->rows[r] / lanes; g-- > 0;) {
            pair -= lanes;
#pragma GCC unroll 16
            for (unsigned k = lanes; k-- > 0;)
                at = put_symbol(slots, pair[k], at, &state[k]);
        }
    }
    memcpy(states, state, sizeof state);
    return at;
}

static unsigned char *put_words(const struct codes *c, const uint64_t *slots, unsigned lanes,
                                unsigned char *end, uint32_t states[16])
{
    unsigned char *(*const put_16)(const struct codes *, const uint64_t *, unsigned char *,
                                   uint32_t *) = PUT_WORDS;
    return lanes == 16 && put_16 ? put_16(c, slots, end, states)
           : lanes == 16         ? put_in(c, slots, 16, end, states)
           : lanes == 4          ? put_in(c, slots, 4, end, states)
                                 : put_in(c, slots, 1, end, states);
}

/* Takes the code that a lane's state stands for. */
static inline __attribute__((always_inline)) int8_t
take_code(struct unrans *in, unsigned context, const unsigned char **at, uint32_t *state)
{
    const uint32_t word = zmpi_load16(*at), x = *state;
    const uint32_t slot = in->slots[in->table[context] + (x & (SLOTS - 1))];
    const uint32_t next = ((slot >> 20) + 1) * (x >> ZMPI_INTERP_PRECISION) + (slot & (SLOTS - 1));
    const uint32_t low = is_below(next, ZMPI_INTERP_LOWEST);
    *state = next << 16 * low | (word & (0 - low));
    *at += 2 * low;
    return (int8_t)(slot >> ZMPI_INTERP_PRECISION);
}

/* Takes the codes of a row; returns at least the largest of them. */
static inline __attribute__((always_inline)) int
take_codes(struct zmpi_interp_work *w, int8_t *restrict code, size_t n, unsigned lanes)
{
    struct unrans *in = &w->in;
    const unsigned char *at = in->at, *context = w->contexts;
    uint32_t state[16];
    int most = 0;
    memcpy(state, in->state, sizeof state);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes)
#pragma GCC unroll 16
        for (unsigned k = 0; k < lanes; k++) {
            code[i + k] = take_code(in, context[i + k], &at, &state[k]);
            most = code[i + k] > most ? code[i + k] : most;
        }
    for (unsigned k = 0; i < n; k++, i++) {
        code[i] = take_code(in, context[i], &at, &state[k]);
        most = code[i] > most ? code[i] : most;
    }
    memcpy(in->state, state, sizeof state);
    zmpi_interp_taken(in, at);
    return most;
}

/* ---- codes ---- */

/* Appends a row's symbols and contexts to those of the tile. */
static void put_row(struct zmpi_interp_work *w, const int32_t *code,
                    const unsigned char *restrict symbol, const unsigned char *restrict context,
                    size_t n)
{
    struct codes *c = &w->codes;
    uint16_t *restrict pair = c->pair + c->count;
    const size_t m = whole(n, 32);
    for (size_t i = 0; i < m; i++)
        pair[i] = (uint16_t)(context[i] << 7 | symbol[i]);
    c->count += n;
    c->rows[c->row_count++] = (uint32_t)n;
    for (size_t g = 0; g < n; g += 8)
        for (uint64_t raw = zmpi_interp_raw(symbol + g); raw; raw &= raw - 1) {
            const size_t i = g + (size_t)__builtin_ctzll(raw) / 8;
            if (i < n)
                zmpi_interp_escape(c, code[i], c->count - n + i);
        }
}

/* Takes a row's codes from w->given. */
static void take_given(struct zmpi_interp_work *w, int32_t *restrict code, size_t n)
{
    struct given *g = &w->given;
    for (size_t i = 0; i < n; i++) {
        const unsigned k = g->of[w->contexts[i]];
        const int32_t *next = g->next[k];
        const bool any = next < g->end[k];
        code[i] = any ? *next : 0;
        g->next[k] = next + any;
        g->over |= !any;
    }
}

/* Takes a row's codes and sizes; its contexts are in w->contexts. */
static void take_row(struct zmpi_interp_work *w, int32_t *restrict code,
                     unsigned char *restrict size, size_t n)
{
    int8_t *restrict taken = (int8_t *)w->symbols;
    int most = 0;
    if (w->books)
        take_given(w, code, n);
    else
        most =
            w->in.mask == 3 ? take_codes(w, taken, n, 4) : take_codes(w, taken, n, w->in.mask + 1);
    for (size_t i = 0; i < n && !w->books; i++)
        code[i] = taken[i];
    for (size_t i = 0; i < n && most >= ZMPI_INTERP_RAW; i++)
        if (code[i] >= ZMPI_INTERP_RAW)
            code[i] = zmpi_interp_take_escape(&w->in, code[i]);
    for (size_t i = 0; i < n; i++)
        size[i] = size_of(code[i]);
}

/* Makes codes of values less predictions, in steps of 2^bits; the values become the decoded ones.
 */
static void quantize(int32_t *restrict value, unsigned char *restrict size,
                     const int32_t *restrict predicted, int32_t *restrict code,
                     unsigned char *restrict symbol, size_t n, int bits)
{
    const int32_t half = (1 << bits) >> 1;
    for (size_t i = 0; i < n; i++) {
        const int32_t d = value[i] == NO_VALUE ? 0 : minus(value[i], predicted[i]);
        const int32_t c = add(d, half) >> bits;
        code[i] = c;
        value[i] = add(predicted[i], times(c, 1u << bits));
        size[i] = size_of(c);
        symbol[i] = symbol_of(c);
    }
}

static void reconstruct(int32_t *restrict value, const int32_t *restrict predicted,
                        const int32_t *restrict code, size_t n, int bits)
{
    for (size_t i = 0; i < n; i++)
        value[i] = add(predicted ? predicted[i] : 0, times(code[i], 1u << bits));
}

/* A strip to code: its predictions, and what its contexts come from. */
struct coded {
    const int32_t *predicted; /* NULL: zeros */
    int bits;                 /* of a step */
    const uint16_t *sums; /* of sizes at `axes` pairs of reference points; NULL: there are none */
    int axes;
    bool anchors; /* their contexts are in w->contexts */
};

/* Sets all of r but `ahead`, in place: a copy would wait for what was just stored. */
static void set_run(struct row_run *r, const struct zmpi_interp_work *w, const struct cells *c,
                    const struct strip *s, const struct coded *by, int32_t *value)
{
    unsigned char *size = sizes_of(c, s->z, s->y), *before = s->z ? size - c->plane : NULL;
    r->n = c->n[2];
    r->rows = s->rows;
    r->anchors = by->anchors;
    r->row = c->row;
    r->plane = c->plane;
    r->before = by->anchors ? NULL : before;
    r->above = by->anchors ? NULL : s->y ? size - c->row : before;
    r->sums = by->sums;
    r->shift = w->shift;
    r->predicted = by->predicted;
    r->bits = by->bits;
    r->value = value;
    r->size = size;
    if (by->sums)
        limits(w->shift, by->axes, &r->low, &r->high);
}

/* Encodes a strip; its values become the decoded ones. */
static void put_strip(struct zmpi_interp_work *w, const struct cells *c, const struct strip *s,
                      const struct coded *by)
{
    int32_t *value = row_of(c, s->z, s->y), *code = w->scratch[0];
    if (w->loops->put_rows) {
        struct row_run r = {0};
        set_run(&r, w, c, s, by, value);
        w->loops->put_rows(&w->codes, &r);
        return;
    }
    quantize(value, sizes_of(c, s->z, s->y), by->predicted, code, w->symbols, s->n, by->bits);
    pad_sizes(c, s);
    if (!by->anchors)
        make_contexts(w, c, s, by->sums, by->axes);
    for (int k = 0; k < s->rows; k++) {
        const size_t at = (size_t)k * c->row;
        put_row(w, code + at, w->symbols + at, w->contexts + at, (size_t)c->n[2]);
    }
}

/* Decodes the rows of w->run, and those of the chunk beside it. */
static void take_runs(struct zmpi_interp_work *w)
{
    if (w->run.rows || (w->with && w->with->run.rows))
        w->loops->take_rows(w);
    for (; w; w = w->with)
        w->run.rows = 0;
}

/* Decodes the values of a strip; or makes w->run of it, for take_runs. */
static void begin_take(struct zmpi_interp_work *w, const struct cells *c, const struct strip *s,
                       const struct coded *by, int32_t *value)
{
    set_run(&w->run, w, c, s, by, value);
    if (w->loops->take_rows && !w->books && w->in.mask >= 3)
        return;
    for (int k = 0; k < s->rows; k++) {
        const struct strip row = strip_of(c, s->z, s->y + k, 1);
        const size_t at = (size_t)k * c->row;
        int32_t *code = w->scratch[0];
        fetch_ahead(&w->run.ahead, k);
        if (!by->anchors)
            make_contexts(w, c, &row, by->sums ? by->sums + at : NULL, by->axes);
        take_row(w, code, w->run.size + at, row.n);
        pad_sizes(c, &row);
        reconstruct(value + at, by->predicted ? by->predicted + at : NULL, code, row.n, by->bits);
    }
    w->run.rows = 0;
}

static void take_strip(struct zmpi_interp_work *w, const struct cells *c, const struct strip *s,
                       const struct coded *by, int32_t *value)
{
    begin_take(w, c, s, by, value);
    take_runs(w);
}

/* interp_rans.c - codes as symbols, and these by rANS in lanes (format.md 1.5). */
#include <string.h>

#include "base/bytes.h"
#include "interp/interp_bits.h"

enum {
    PRECISION = ZMPI_INTERP_PRECISION,
    WHOLE = 1 << PRECISION,
    DIRECT = 24, /* largest magnitude with a symbol of its own */
    ESCAPES = ZMPI_INTERP_ESCAPES,
    SYMBOLS = ZMPI_INTERP_SYMBOLS,
    CONTEXTS = ZMPI_INTERP_CONTEXTS
};
#define LOWEST ((uint32_t)1 << 16) /* states are at least this between symbols */

/* The symbol of a large code, and the raw bits behind it. */
static unsigned escape(int32_t code, unsigned *extra_bits, uint32_t *extra)
{
    const uint32_t size = code < 0 ? 0 - (uint32_t)code : (uint32_t)code, over = size - DIRECT - 1;
    const unsigned e = 31 - (unsigned)__builtin_clz(over / 4 + 1);
    *extra_bits = e + 3;
    *extra = (over - 4 * ((1u << e) - 1)) << 1 | (code < 0);
    return ESCAPES + e;
}

/* ---- packing ---- */

/* 1 or 0, without a branch: nobody can tell which of them the next will be. */
static inline uint32_t is_below(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a - b) >> 63);
}

/* How a symbol changes a state x: x += first + x / f * (4096 - f). The quotient is exact as the
 * high half of a product: x is below 2^32, and `inverse` off by less than 1 from 2^52 / f. */
struct step {
    uint64_t inverse;
    uint32_t most; /* larger states give a word away before */
    uint16_t first, rest;
};

static void fill_steps(const struct table *t, struct step *steps)
{
    for (unsigned s = 0; s < t->symbols; s++) {
        const uint32_t f = t->frequency[s];
        if (f)
            steps[s] = (struct step){.inverse = (((uint64_t)1 << 52) + f - 1) / f,
                                     .most = (uint32_t)(((uint64_t)f << (32 - PRECISION)) - 1),
                                     .first = t->first[s],
                                     .rest = (uint16_t)(WHOLE - f)};
    }
}

/* The words of all codes, from the end of w->out backwards; where they begin. */
static unsigned char *put_words(struct zmpi_interp_work *w,
                                const struct step *const steps[CONTEXTS], unsigned lanes,
                                uint32_t state[16])
{
    unsigned char *at = w->out + w->out_size;
    size_t i = w->codes.count;
    for (unsigned k = 0; k < 16; k++)
        state[k] = LOWEST;
    for (size_t r = w->codes.row_count; r-- > 0;)
        for (size_t j = w->codes.rows[r]; j-- > 0;) {
            i--;
            const struct step *step = &steps[w->codes.context[i]][w->codes.symbol[i]];
            uint32_t x = state[j & (lanes - 1)];
            const uint32_t gives = is_below(step->most, x);
            zmpi_store16(at - 2, (uint16_t)x);
            at -= 2 * gives;
            x >>= 16 * gives;
            const uint32_t q =
                (uint32_t)((unsigned __int128)((uint64_t)x << PRECISION) * step->inverse >> 64);
            state[j & (lanes - 1)] = x + step->first + q * step->rest;
        }
    return at;
}

static void put_extra(struct zmpi_interp_work *w, struct put *p)
{
    for (size_t i = 0; i < w->codes.count && w->codes.extra; i++)
        if (w->codes.symbol[i] >= ESCAPES) {
            unsigned bits;
            uint32_t value;
            escape(w->codes.code[i], &bits, &value);
            put_bits(p, value, bits);
        }
    put_end(p);
}

size_t zmpi_interp_pack(struct zmpi_interp_work *w, unsigned char *dst, size_t most)
{
    struct zmpi_interp_groups g;
    struct step steps[CONTEXTS][SYMBOLS];
    const struct step *steps_of[CONTEXTS];
    uint64_t cost = 0;
    zmpi_interp_group(w, &g);
    for (unsigned k = 0; k < g.count; k++)
        cost += g.cost[k];
    const uint64_t about = (cost >> 18) + w->codes.extra / 8;
    if (about + 2048 + about / 16 > most)
        return 0;
    const unsigned log_lanes = about >= 8192 ? 4 : about >= 1024 ? 2 : 0, lanes = 1u << log_lanes;
    struct put p = {.at = dst};
    put_bits(&p, log_lanes, 3);
    put_bits(&p, g.count, 5);
    for (unsigned k = 0; k < CONTEXTS && g.count > 1; k++)
        put_bits(&p, g.of[k], 5);
    for (unsigned k = 0; k < g.count; k++) {
        unsigned char weights[SYMBOLS];
        struct table t = {.symbols = zmpi_interp_weigh(g.counts[k], weights)};
        zmpi_interp_put_table(&p, weights, t.symbols);
        zmpi_interp_make_table(&t, weights);
        fill_steps(&t, steps[k]);
    }
    for (unsigned k = 0; k < CONTEXTS; k++)
        steps_of[k] = steps[g.of[k]];
    put_end(&p);
    unsigned char *size_at = p.at;
    p.at += 4;
    put_extra(w, &p);
    zmpi_store32(size_at, (uint32_t)(p.at - size_at - 4));
    uint32_t state[16];
    const unsigned char *words = put_words(w, steps_of, lanes, state);
    const size_t size = (size_t)(w->out + w->out_size - words);
    for (unsigned k = 0; k < lanes; k++, p.at += 4)
        zmpi_store32(p.at, state[k]);
    if ((size_t)(p.at - dst) + size > most)
        return 0;
    memcpy(p.at, words, size);
    return (size_t)(p.at - dst) + size;
}

static void fill_slots(const struct table *t, uint32_t *slots)
{
    for (unsigned s = 0; s < t->symbols; s++)
        for (uint32_t k = 0; k < t->frequency[s]; k++)
            slots[t->first[s] + k] = s | k << 7 | (uint32_t)(t->frequency[s] - 1) << 20;
}

bool zmpi_interp_unpack(struct zmpi_interp_work *w, const unsigned char *src, size_t size)
{
    struct bits b = {.at = src, .end = src + size};
    unsigned char of[CONTEXTS] = {0};
    const unsigned log_lanes = take_bits(&b, 3), count = take_bits(&b, 5);
    if (log_lanes > 4 || count < 1 || count > CONTEXTS)
        return false;
    for (unsigned k = 0; k < CONTEXTS && count > 1; k++) {
        of[k] = (unsigned char)take_bits(&b, 5);
        if (of[k] >= count)
            return false;
    }
    for (unsigned k = 0; k < count; k++) {
        struct table t;
        if (!zmpi_interp_take_table(&b, &t))
            return false;
        fill_slots(&t, w->slots + ((size_t)k << PRECISION));
    }
    w->in.slots = w->slots;
    for (unsigned k = 0; k < CONTEXTS; k++)
        w->in.table[k] = (uint32_t)of[k] << PRECISION;
    const unsigned char *at = b.at, *end = src + size; /* all bytes begun are taken whole */
    const size_t states = (size_t)4 << log_lanes;
    if (b.have || (size_t)(end - at) < 4 + states)
        return false;
    const size_t extra = zmpi_load32(at);
    if (extra > (size_t)(end - at) - 4 - states)
        return false;
    w->in.extra = (struct bits){.at = at + 4, .end = at + 4 + extra};
    at += 4 + extra;
    w->in.mask = (1u << log_lanes) - 1;
    for (unsigned k = 0; k <= w->in.mask; k++, at += 4) {
        w->in.state[k] = zmpi_load32(at);
        if (w->in.state[k] < LOWEST)
            return false;
    }
    w->in.at = at;
    w->in.end = end;
    w->in.over = false;
    return true;
}

bool zmpi_interp_unpacked(const struct zmpi_interp_work *w)
{
    const struct unrans *in = &w->in;
    for (unsigned k = 0; k <= in->mask; k++)
        if (in->state[k] != LOWEST)
            return false;
    if (in->over || in->extra.over || in->extra.at != in->extra.end || in->extra.have)
        return false;
    for (const unsigned char *p = in->at; p < in->end; p++)
        if (*p)
            return false;
    return in->end - in->at < 4;
}

static int32_t escaped(struct bits *b, unsigned e)
{
    const uint32_t value = take_bits(b, e + 3);
    const uint32_t size = (value >> 1) + 4 * ((1u << e) - 1) + DIRECT + 1;
    return (int32_t)(value & 1 ? 0 - size : size);
}

/* Symbols of a row from number `first` on; the largest of them. all: there is a word for each. */
static inline unsigned take_symbols(struct zmpi_interp_work *w, unsigned char *restrict symbol,
                                    size_t first, size_t n, bool all)
{
    struct unrans *in = &w->in;
    const unsigned char *at = in->at, *end = in->end, *context = w->contexts;
    const unsigned mask = in->mask;
    uint32_t state[16];
    unsigned largest = 0;
    bool over = false;
    memcpy(state, in->state, sizeof state);
    for (size_t i = first; i < n; i++) {
        const bool more = all || end - at >= 2;
        const uint32_t word = more ? zmpi_load16(at) : 0;
        const uint32_t x = state[i & mask];
        const uint32_t slot = in->slots[in->table[context[i]] + (x & (WHOLE - 1))];
        const uint32_t next = ((slot >> 20) + 1) * (x >> PRECISION) + (slot >> 7 & (WHOLE - 1));
        const uint32_t low = is_below(next, LOWEST);
        state[i & mask] = next << 16 * low | (word & (0 - low));
        at += more ? 2 * low : 0;
        over |= low && !more;
        symbol[i] = (unsigned char)(slot & 127);
        largest = symbol[i] > largest ? symbol[i] : largest;
    }
    memcpy(in->state, state, sizeof state);
    in->at = at;
    in->over |= over;
    return largest;
}

void zmpi_interp_decode_row(struct zmpi_interp_work *w, int32_t *restrict code, size_t n)
{
    unsigned char *symbol = w->symbols;
    bool escapes = false;
    const size_t first =
        w->take_symbols ? w->take_symbols(&w->in, w->contexts, symbol, n, &escapes) : 0;
    if (first < n) {
        const bool all = (size_t)(w->in.end - w->in.at) >= 2 * (n - first);
        escapes |= (all ? take_symbols(w, symbol, first, n, true)
                        : take_symbols(w, symbol, first, n, false)) >= ESCAPES;
    }
    for (size_t i = 0; i < n; i++) {
        const int32_t half = (symbol[i] + 1) / 2;
        code[i] = symbol[i] & 1 ? half : -half;
    }
    for (size_t i = 0; i < n && escapes; i++)
        if (symbol[i] >= ESCAPES)
            code[i] = escaped(&w->in.extra, symbol[i] - ESCAPES);
}

void zmpi_interp_code_begin(struct zmpi_interp_work *w)
{
    w->codes.count = w->codes.row_count = 0;
    w->codes.extra = 0;
    memset(w->histogram, 0, sizeof w->histogram);
}

void zmpi_interp_code_row(struct zmpi_interp_work *w, const int32_t *code, size_t n)
{
    struct codes *c = &w->codes;
    unsigned char *restrict symbol = c->symbol + c->count;
    unsigned char largest = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t size = code[i] < 0 ? 0 - (uint32_t)code[i] : (uint32_t)code[i];
        const uint32_t s = size <= DIRECT ? 2 * size - (code[i] > 0) : ESCAPES;
        symbol[i] = (unsigned char)s;
        largest = symbol[i] > largest ? symbol[i] : largest;
    }
    for (size_t i = 0; i < n && largest == ESCAPES; i++)
        if (symbol[i] == ESCAPES) {
            unsigned bits;
            uint32_t value;
            const unsigned s = escape(code[i], &bits, &value);
            symbol[i] = (unsigned char)(s < SYMBOLS ? s : SYMBOLS - 1); /* such a tile is stored */
            c->extra += bits;
        }
    for (size_t i = 0; i < n; i++)
        w->histogram[w->contexts[i]][symbol[i]]++;
    memcpy(c->code + c->count, code, n * sizeof *code);
    memcpy(c->context + c->count, w->contexts, n);
    c->count += n;
    c->rows[c->row_count++] = (uint32_t)n;
}

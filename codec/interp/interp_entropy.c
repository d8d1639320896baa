/* interp_entropy.c - codes as symbols, tables of frequencies, rANS in lanes (format.md 1.5). */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "interp/interp_work.h"

enum {
    PRECISION = 12,
    WHOLE = 1 << PRECISION,
    DIRECT = 24, /* largest magnitude with a symbol of its own */
    ESCAPES = 2 * DIRECT + 1,
    SYMBOLS = ZMPI_INTERP_SYMBOLS,
    CONTEXTS = ZMPI_INTERP_CONTEXTS,
    HEAVIEST = 104 /* weights are 1 to this */
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

/* ---- logarithms ---- */

void zmpi_interp_logs(uint16_t logs[1025])
{
    for (uint32_t i = 0; i <= 1024; i++) {
        uint64_t x = ((uint64_t)1024 + i) << 20; /* 1 to 2, 30 bits behind the point */
        uint32_t log = 0;
        for (int bit = 14; bit >= 0; bit--) {
            x = x * x >> 30;
            if (x >> 31) {
                x >>= 1;
                log |= 1u << bit;
            }
        }
        logs[i] = (uint16_t)(i == 1024 ? 32768 : log);
    }
}

static uint32_t log2_of(const uint16_t *logs, uint32_t n)
{
    const unsigned e = 31 - (unsigned)__builtin_clz(n);
    const uint32_t top = e > 10 ? n >> (e - 10) : n << (10 - e);
    return (uint32_t)e << 15 | 0 | (uint32_t)(logs[top - 1024] & 32767);
}

uint64_t zmpi_interp_entropy(const uint16_t *logs, const uint32_t *counts, size_t n)
{
    uint64_t total = 0, bits = 0;
    for (size_t s = 0; s < n; s++)
        if (counts[s]) {
            total += counts[s];
            bits += (uint64_t)counts[s] * log2_of(logs, counts[s]);
        }
    return total ? total * log2_of(logs, (uint32_t)total) - bits : 0;
}

/* ---- bits ---- */

static void put_bits(struct put *p, uint32_t value, unsigned count)
{
    p->have |= (uint64_t)value << p->count;
    p->count += count;
    while (p->count >= 8) {
        *p->at++ = (unsigned char)p->have;
        p->have >>= 8;
        p->count -= 8;
    }
}

static void put_end(struct put *p)
{
    if (p->count)
        *p->at++ = (unsigned char)p->have;
    p->have = p->count = 0;
}

static uint32_t take_bits(struct bits *b, unsigned count)
{
    while (b->count < count) {
        if (b->at < b->end)
            b->have |= (uint64_t)*b->at++ << b->count;
        else
            b->over = true;
        b->count += 8;
    }
    const uint32_t value = (uint32_t)(b->have & (((uint64_t)1 << count) - 1));
    b->have >>= count;
    b->count -= count;
    return value;
}

/* ---- tables ---- */

/* Weight g >= 1 stands for (8 + (g-1) % 8) << (g-1) / 8. */
static uint32_t weight_of(unsigned g)
{
    return (8 + (g - 1) % 8) << (g - 1) / 8;
}

/* Frequencies from weights; 0: does not occur. All is decided by the weights, so that there are no
 * wrong tables. */
static bool make_table(struct table *t, const unsigned char *g)
{
    uint32_t sum = 0, all = 0;
    unsigned heaviest = 0;
    for (unsigned s = 0; s < t->symbols; s++) {
        sum += g[s] ? weight_of(g[s]) : 0;
        heaviest = g[s] > g[heaviest] ? s : heaviest;
    }
    if (!sum)
        return false;
    for (unsigned s = 0; s < t->symbols; s++) {
        const uint32_t f = g[s] ? (uint32_t)(((uint64_t)weight_of(g[s]) << PRECISION) / sum) : 0;
        t->frequency[s] = (uint16_t)(g[s] && f == 0 ? 1 : f);
        all += t->frequency[s];
    }
    t->frequency[heaviest] = (uint16_t)(t->frequency[heaviest] + WHOLE - all);
    for (unsigned s = 0, at = 0; s < t->symbols; at += t->frequency[s++])
        t->first[s] = (uint16_t)at;
    return true;
}

static unsigned expected(unsigned last, unsigned s)
{
    const unsigned less = s % 2 ? 4 : 0;
    return last > less ? last - less : 1;
}

/* Numbers from 0 in 3 bits (0 to 3), 5 (4 to 11), 7, ... */
static void put_number(struct put *p, uint32_t n)
{
    const unsigned e = 31 - (unsigned)__builtin_clz(n / 4 + 1);
    put_bits(p, (1u << e) - 1, e + 1);
    put_bits(p, n - 4 * ((1u << e) - 1), e + 2);
}

static uint32_t take_number(struct bits *b)
{
    unsigned e = 0;
    while (e < 8 && take_bits(b, 1))
        e++;
    return 4 * ((1u << e) - 1) + take_bits(b, e + 2);
}

static void put_table(struct put *p, const unsigned char *g, unsigned symbols)
{
    unsigned last = HEAVIEST + 4;
    put_bits(p, symbols, 7);
    for (unsigned s = 0; s < symbols; s++) {
        if (s + 1 < symbols) /* the last one does occur */
            put_bits(p, g[s] != 0, 1);
        if (!g[s])
            continue;
        const int32_t d = (int32_t)g[s] - (int32_t)expected(last, s);
        put_number(p, d < 0 ? (uint32_t)(-2 * d - 1) : (uint32_t)(2 * d));
        last = g[s];
    }
}

static bool take_table(struct bits *b, struct table *t)
{
    unsigned char g[SYMBOLS];
    unsigned last = HEAVIEST + 4;
    t->symbols = take_bits(b, 7);
    if (t->symbols < 1 || t->symbols > SYMBOLS)
        return false;
    for (unsigned s = 0; s < t->symbols; s++) {
        g[s] = 0;
        if (s + 1 < t->symbols && !take_bits(b, 1))
            continue;
        const uint32_t n = take_number(b);
        const int32_t v =
            (int32_t)expected(last, s) + (n & 1 ? -(int32_t)(n / 2) - 1 : (int32_t)(n / 2));
        if (v < 1 || v > HEAVIEST)
            return false;
        last = g[s] = (unsigned char)v;
    }
    return !b->over && make_table(t, g);
}

/* Weights near the counts. */
static unsigned weigh(const uint32_t *counts, unsigned char *g)
{
    uint32_t most = 0;
    unsigned symbols = 0;
    for (unsigned s = 0; s < SYMBOLS; s++)
        most = counts[s] > most ? counts[s] : most;
    for (unsigned s = 0; s < SYMBOLS; s++) {
        g[s] = 0;
        if (!counts[s])
            continue;
        symbols = s + 1;
        uint32_t v = (uint32_t)((uint64_t)counts[s] * 61440 / most); /* 15 << 12 */
        v = v < 8 ? 8 : v;
        unsigned e = 28 - (unsigned)__builtin_clz(v);
        unsigned m = (v + ((1u << e) >> 1)) >> e;
        if (m == 16) {
            m = 8;
            e++;
        }
        g[s] = (unsigned char)(8 * e + m - 8 + 1);
        g[s] = g[s] > HEAVIEST ? HEAVIEST : g[s];
    }
    return symbols;
}

/* ---- which contexts share a table ---- */

struct groups {
    unsigned count;
    unsigned char of[CONTEXTS]; /* group of each context */
    uint32_t counts[CONTEXTS][SYMBOLS];
    uint64_t cost[CONTEXTS];
};

/* In 1/32768 bits, with the table. */
static uint64_t cost_of(const uint16_t *logs, const uint32_t *counts)
{
    unsigned used = 0;
    for (unsigned s = 0; s < SYMBOLS; s++)
        used += counts[s] != 0;
    return zmpi_interp_entropy(logs, counts, SYMBOLS) + ((uint64_t)(12 + 5 * used) << 15);
}

static uint64_t merged_cost(const uint16_t *logs, const struct groups *g, unsigned a, unsigned b)
{
    uint32_t sum[SYMBOLS];
    for (unsigned s = 0; s < SYMBOLS; s++)
        sum[s] = g->counts[a][s] + g->counts[b][s];
    return cost_of(logs, sum);
}

/* Merge, as long as it saves, the pair that saves most. */
static void group_contexts(struct zmpi_interp_work *w, struct groups *g)
{
    int64_t gain[CONTEXTS][CONTEXTS];
    bool alive[CONTEXTS] = {false};
    for (unsigned k = 0; k < CONTEXTS; k++) {
        uint32_t any = 0;
        for (unsigned s = 0; s < SYMBOLS; s++)
            any |= g->counts[k][s] = w->histogram[k][s];
        alive[k] = any != 0;
        g->of[k] = (unsigned char)k;
        g->cost[k] = any ? cost_of(w->logs, g->counts[k]) : 0;
    }
    for (unsigned a = 0; a < CONTEXTS; a++)
        for (unsigned b = a + 1; b < CONTEXTS && alive[a]; b++)
            if (alive[b])
                gain[a][b] =
                    (int64_t)(g->cost[a] + g->cost[b]) - (int64_t)merged_cost(w->logs, g, a, b);
    for (;;) {
        unsigned from = 0, to = 0;
        int64_t best = 0;
        for (unsigned a = 0; a < CONTEXTS; a++)
            for (unsigned b = a + 1; b < CONTEXTS && alive[a]; b++)
                if (alive[b] && gain[a][b] > best) {
                    best = gain[a][b];
                    to = a;
                    from = b;
                }
        if (!best)
            break;
        for (unsigned s = 0; s < SYMBOLS; s++)
            g->counts[to][s] += g->counts[from][s];
        alive[from] = false;
        g->cost[to] = cost_of(w->logs, g->counts[to]);
        for (unsigned k = 0; k < CONTEXTS; k++) {
            if (g->of[k] == from)
                g->of[k] = (unsigned char)to;
            const unsigned a = k < to ? k : to, b = k < to ? to : k;
            if (k != to && alive[k])
                gain[a][b] =
                    (int64_t)(g->cost[a] + g->cost[b]) - (int64_t)merged_cost(w->logs, g, a, b);
        }
    }
    unsigned char number[CONTEXTS];
    g->count = 0;
    for (unsigned k = 0; k < CONTEXTS; k++)
        if (alive[k]) {
            if (g->count != k)
                memcpy(g->counts[g->count], g->counts[k], sizeof g->counts[k]);
            g->cost[g->count] = g->cost[k];
            number[k] = (unsigned char)g->count++;
        } else {
            number[k] = 0;
        }
    for (unsigned k = 0; k < CONTEXTS; k++)
        g->of[k] = alive[g->of[k]] ? number[g->of[k]] : 0;
}

uint64_t zmpi_interp_cost(struct zmpi_interp_work *w)
{
    uint64_t bits = w->codes.extra << 15;
    for (unsigned k = 0; k < CONTEXTS; k++)
        bits += zmpi_interp_entropy(w->logs, w->histogram[k], SYMBOLS) + ((uint64_t)40 << 15);
    return bits >> 7;
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
    struct groups g;
    struct step steps[CONTEXTS][SYMBOLS];
    const struct step *steps_of[CONTEXTS];
    uint64_t cost = 0;
    group_contexts(w, &g);
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
        struct table t = {.symbols = weigh(g.counts[k], weights)};
        put_table(&p, weights, t.symbols);
        make_table(&t, weights);
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
        if (!take_table(&b, &t))
            return false;
        fill_slots(&t, w->slots + ((size_t)k << PRECISION));
    }
    for (unsigned k = 0; k < CONTEXTS; k++)
        w->in.slots[k] = w->slots + ((size_t)of[k] << PRECISION);
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

/* Symbols of a row; the largest of them. all: there is a word for each. */
static inline unsigned take_symbols(struct zmpi_interp_work *w, unsigned char *restrict symbol,
                                    size_t n, bool all)
{
    struct unrans *in = &w->in;
    const unsigned char *at = in->at, *end = in->end, *context = w->contexts;
    const unsigned mask = in->mask;
    uint32_t state[16];
    unsigned largest = 0;
    bool over = false;
    memcpy(state, in->state, sizeof state);
    for (size_t i = 0; i < n; i++) {
        const bool more = all || end - at >= 2;
        const uint32_t word = more ? zmpi_load16(at) : 0;
        const uint32_t x = state[i & mask], slot = in->slots[context[i]][x & (WHOLE - 1)];
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
    const bool all = (size_t)(w->in.end - w->in.at) >= 2 * n;
    const unsigned largest =
        all ? take_symbols(w, symbol, n, true) : take_symbols(w, symbol, n, false);
    for (size_t i = 0; i < n; i++) {
        const int32_t half = (symbol[i] + 1) / 2;
        code[i] = symbol[i] & 1 ? half : -half;
    }
    for (size_t i = 0; i < n && largest >= ESCAPES; i++)
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

/* interp_tables.c - makes tables of frequencies, and decides which contexts share one (format.md
 * 1.5). */
#include <pthread.h>
#include <string.h>

#include "interp/interp_work.h"

enum {
    WHOLE = 1 << ZMPI_INTERP_PRECISION,
    SYMBOLS = ZMPI_INTERP_SYMBOLS,
    CONTEXTS = ZMPI_INTERP_CONTEXTS,
    HEAVIEST = 104 /* weights are 1 to this */
};

/* ---- logarithms ---- */

static uint32_t logs[1024];

static void make_logs(void)
{
    for (uint32_t i = 0; i < 1024; i++) {
        uint64_t x = ((uint64_t)1024 + i) << 20; /* from 1 to 2, with 30 bits behind the point */
        logs[i] = 0;
        for (int bit = 14; bit >= 0; bit--) {
            x = x * x >> 30;
            if (x >> 31) {
                x >>= 1;
                logs[i] |= 1u << bit;
            }
        }
    }
}

const uint32_t *zmpi_interp_logs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_logs);
    return logs;
}

/* ---- tables ---- */

/* Weight g >= 1 stands for (8 + (g-1) % 8) << (g-1) / 8. */
static uint32_t weight_of(unsigned g)
{
    return (8 + (g - 1) % 8) << (g - 1) / 8;
}

bool zmpi_interp_make_table(struct table *t, const unsigned char *g)
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
        const uint32_t f =
            g[s] ? (uint32_t)(((uint64_t)weight_of(g[s]) << ZMPI_INTERP_PRECISION) / sum) : 0;
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

/* Writes a number: 0 to 3 in 3 bits, 4 to 11 in 5, larger ones in 7, ... */
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

void zmpi_interp_put_table(struct put *p, const unsigned char *g, unsigned symbols)
{
    unsigned last = HEAVIEST + 4;
    put_bits(p, symbols, 7);
    for (unsigned s = 0; s < symbols; s++) {
        if (s + 1 < symbols) /* the last one always occurs */
            put_bits(p, g[s] != 0, 1);
        if (!g[s])
            continue;
        const int32_t d = (int32_t)g[s] - (int32_t)expected(last, s);
        put_number(p, d < 0 ? (uint32_t)(-2 * d - 1) : (uint32_t)(2 * d));
        last = g[s];
    }
}

bool zmpi_interp_take_table(struct bits *b, struct table *t)
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
    return !b->over && zmpi_interp_make_table(t, g);
}

/* The weight for so many slots; `unit`: 2^16 times what one of them is in weight_of. Few slots are
 * rounded up: one less would cost much. */
static int weight_for(uint32_t slots, uint64_t unit)
{
    const uint32_t v = (uint32_t)(slots * unit >> 16);
    const unsigned e = 28 - (unsigned)__builtin_clz(v);
    const uint32_t up = slots < 16 ? (1u << e) - 1 : (1u << e) / 2;
    const int g = (int)(8 * e + ((v + up) >> e)) - 7;
    return g > HEAVIEST ? HEAVIEST : g;
}

/* Chooses among the ideal weight and those nearest to it that fewer bits tell. One that is k/8 of
 * an octave off costs k^2 / 150 of a bit or less for each time that the symbol occurs. */
static unsigned choose(int ideal, int e, uint32_t slots, uint64_t total)
{
    unsigned chosen = 0;
    uint64_t least = UINT64_MAX, bits = 0;
    for (int reach = 4, g = 0; g != ideal; reach *= 2, bits += 300 * WHOLE) { /* two more */
        const int low = e - reach + 2, high = e + reach - 3;
        g = ideal < low ? low : ideal > high ? high : ideal;
        const int off = g < ideal && slots == 1 ? 0 : g - ideal; /* it has one slot even so */
        const uint64_t cost = bits + slots * total * (uint64_t)(off * off);
        if (g <= HEAVIEST && cost < least) {
            least = cost;
            chosen = (unsigned)g;
        }
    }
    return chosen;
}

unsigned zmpi_interp_weigh(const uint32_t *counts, unsigned char *g)
{
    uint32_t most = 0;
    uint64_t total = 0;
    unsigned symbols = 0, last = HEAVIEST + 4;
    for (unsigned s = 0; s < SYMBOLS; s++) {
        most = counts[s] > most ? counts[s] : most;
        total += counts[s];
        symbols = counts[s] ? s + 1 : symbols;
    }
    const uint64_t part = ((uint64_t)WHOLE << 20) / total;
    const uint64_t unit = (15 * total << 16) / most; /* the heaviest one has 15 << 12 */
    for (unsigned s = 0; s < symbols; s++) {
        g[s] = 0;
        if (!counts[s])
            continue;
        const uint32_t f = (uint32_t)((counts[s] * part + (1 << 19)) >> 20), slots = f ? f : 1;
        last = choose(weight_for(slots, unit), (int)expected(last, s), slots, total);
        g[s] = (unsigned char)last;
    }
    return symbols;
}

/* ---- which contexts share a table ---- */

/* What `entropy` leaves out of n log2(n), in 1/32768 bits, as it takes 11 bits of n: that is much
 * where nearly all codes are zeros. */
static uint64_t rest_of(uint32_t n)
{
    const unsigned e = 31 - (unsigned)__builtin_clz(n | 1024);
    return (n & ((1u << (e - 10)) - 1)) * UINT64_C(47274); /* 32768 / ln 2 */
}

/* The cost of these counts in 1/32768 bits, with about what their table takes. */
static uint64_t cost_of(const struct zmpi_interp_work *w, const uint32_t *counts)
{
    unsigned used = 0, symbols = w->used;
    uint32_t total = 0;
    while (symbols && !counts[symbols - 1])
        symbols--;
    for (unsigned s = 0; s < symbols; s++) {
        used += counts[s] != 0;
        total += counts[s];
    }
    return w->loops->entropy(w->logs, counts, symbols) + rest_of(total) - rest_of(counts[0]) +
           ((uint64_t)(9 + 4 * used + symbols) << 15);
}

/* What one table for both groups saves. */
static int64_t gain_of(const struct zmpi_interp_work *w, const struct zmpi_interp_groups *g,
                       unsigned a, unsigned b)
{
    uint32_t sum[SYMBOLS];
    for (unsigned s = 0; s < w->used; s++)
        sum[s] = g->counts[a][s] + g->counts[b][s];
    return (int64_t)(g->cost[a] + g->cost[b]) - (int64_t)cost_of(w, sum);
}

void zmpi_interp_group(struct zmpi_interp_work *w, struct zmpi_interp_groups *g)
{
    int64_t gain[CONTEXTS][CONTEXTS];
    bool alive[CONTEXTS] = {false};
    for (unsigned k = 0; k < CONTEXTS; k++) {
        uint32_t any = 0;
        for (unsigned s = 0; s < SYMBOLS; s++)
            any |= g->counts[k][s] = w->histogram[k][s];
        alive[k] = any != 0;
        g->of[k] = (unsigned char)k;
        g->cost[k] = any ? cost_of(w, g->counts[k]) : 0;
    }
    for (unsigned a = 0; a < CONTEXTS; a++)
        for (unsigned b = a + 1; b < CONTEXTS && alive[a]; b++)
            if (alive[b])
                gain[a][b] = gain[b][a] = gain_of(w, g, a, b);
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
        g->cost[to] = cost_of(w, g->counts[to]);
        for (unsigned k = 0; k < CONTEXTS; k++) {
            if (g->of[k] == from)
                g->of[k] = (unsigned char)to;
            /* What is unlike both is unlike their sum; not to try it saves time. */
            if (k != to && alive[k] && (gain[to][k] > 0 || gain[from][k] > 0))
                gain[to][k] = gain[k][to] = gain_of(w, g, to, k);
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
    const struct put *extra = &w->codes.extra;
    uint64_t bits = (8 * (uint64_t)(extra->at - w->codes.raw) + extra->count) << 15;
    for (unsigned k = 0; k < CONTEXTS; k++)
        bits += w->loops->entropy(w->logs, w->histogram[k], w->used) + ((uint64_t)40 << 15);
    return bits >> 7;
}

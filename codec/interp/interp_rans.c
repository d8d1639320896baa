/* interp_rans.c - turns codes into symbols, and codes these by rANS in lanes (format.md 1.5). */
#include <string.h>

#include "base/bytes.h"
#include "interp/interp_work.h"

enum {
    PRECISION = ZMPI_INTERP_PRECISION,
    WHOLE = 1 << PRECISION,
    DIRECT = ZMPI_INTERP_DIRECT,
    ESCAPES = ZMPI_INTERP_ESCAPES,
    SYMBOLS = ZMPI_INTERP_SYMBOLS,
    CONTEXTS = ZMPI_INTERP_CONTEXTS
};

/* Returns the symbol of a large code, and its raw bits. */
static unsigned escape(int32_t code, unsigned *extra_bits, uint32_t *extra)
{
    const uint32_t size = code < 0 ? 0 - (uint32_t)code : (uint32_t)code, over = size - DIRECT - 1;
    const unsigned e = 31 - (unsigned)__builtin_clz(over / 4 + 1);
    *extra_bits = e + 3;
    *extra = (over - 4 * ((1u << e) - 1)) << 1 | (code < 0);
    return ESCAPES + e;
}

/* ---- packing ---- */

/*
 * What put_symbol (interp_rows_t.h) needs of a frequency f and its first slot, from the lowest bit
 * on: m in 32 bits, 4096 - f in 12, the first slot in 12, t in 4, and whether m is rounded down.
 * f <= 2^t, with the least t, and m is 2^(31 + t) / f. Rounded up, m f is too large by some e < f.
 * States x are below 2^20 f here: so x m >> (31 + t) is x / f if e f <= 2^(11 + t). Else m is
 * rounded down, and (x + 1) m takes the place of x m: that needs (f - e) f <= 2^(11 + t).
 */
static uint64_t slot_of(uint32_t f, uint32_t first)
{
    const unsigned t = f > 1 ? 32 - (unsigned)__builtin_clz(f - 1) : 0;
    const uint64_t one = (uint64_t)1 << (31 + t), m = (one + f - 1) / f;
    const uint64_t down = (m * f - one) * f >> (11 + t) != 0;
    return (m - down) | (uint64_t)(WHOLE - f) << 32 | (uint64_t)first << 44 | (uint64_t)t << 56 |
           down << 60;
}

/* Fills in the slots of each pair, from the table of its context. */
static void fill_pairs(const struct zmpi_interp_groups *g, const struct table *tables,
                       uint64_t pairs[ZMPI_INTERP_PAIRS])
{
    for (unsigned k = 0; k < CONTEXTS; k++) {
        const struct table *t = &tables[g->of[k]];
        for (unsigned s = 0; s < t->symbols; s++)
            if (t->frequency[s])
                pairs[k << 7 | s] = slot_of(t->frequency[s], t->first[s]);
    }
}

void zmpi_interp_put_rest(struct zmpi_interp_work *w)
{
    put_end(&w->codes.extra);
}

size_t zmpi_interp_pack(struct zmpi_interp_work *w, unsigned char *dst, size_t most)
{
    struct zmpi_interp_groups g;
    struct table tables[CONTEXTS];
    uint64_t cost = 0;
    zmpi_interp_group(w, &g);
    for (unsigned k = 0; k < g.count; k++)
        cost += g.cost[k];
    const size_t raw = (size_t)(w->codes.extra.at - w->codes.raw) + (w->codes.extra.count > 0);
    const uint64_t about = (cost >> 18) + raw;
    if (about + 2048 + about / 16 > most)
        return 0;
    const bool many =
        w->codes.count >= ZMPI_INTERP_ELEMENTS / 2; /* 16 lanes save time, not bytes */
    const unsigned log_lanes = about >= (many ? 4096 : 8192) ? 4 : about >= 1024 ? 2 : 0;
    const unsigned lanes = 1u << log_lanes;
    struct put p = {.at = dst};
    put_bits(&p, log_lanes, 3);
    put_bits(&p, g.count, 5);
    for (unsigned k = 0; k < CONTEXTS && g.count > 1; k++)
        put_bits(&p, g.of[k], 5);
    for (unsigned k = 0; k < g.count; k++) {
        unsigned char weights[SYMBOLS];
        tables[k].symbols = zmpi_interp_weigh(g.counts[k], weights);
        zmpi_interp_put_table(&p, weights, tables[k].symbols);
        zmpi_interp_make_table(&tables[k], weights);
    }
    put_end(&p);
    zmpi_store32(p.at, (uint32_t)raw);
    put_end(&w->codes.extra);
    memcpy(p.at + 4, w->codes.raw, raw);
    p.at += 4 + raw;
    uint32_t state[16];
    unsigned char *words, *end = w->out + w->out_size;
    for (unsigned k = 0; k < 16; k++)
        state[k] = ZMPI_INTERP_LOWEST;
    fill_pairs(&g, tables, w->pairs);
    words = w->loops->put_words(&w->codes, w->pairs, lanes, end, state);
    const size_t size = (size_t)(end - words);
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
            slots[t->first[s] + k] = k | ((uint32_t)zmpi_interp_direct(s) & 255) << PRECISION |
                                     (uint32_t)(t->frequency[s] - 1) << 20;
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
    for (unsigned k = 0; k < CONTEXTS; k++) {
        const uint32_t table = (uint32_t)of[k] << PRECISION, first = w->slots[table];
        w->in.table[k] = table;
        w->in.zero[k] = (uint16_t)(first >> PRECISION & 255 ? 0 : (first >> 20) + 1);
    }
    const unsigned char *at = b.at, *end = src + size; /* the next part begins at a whole byte */
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
        if (w->in.state[k] < ZMPI_INTERP_LOWEST)
            return false;
    }
    const size_t words = (size_t)(end - at);
    if (words > w->out_size)
        return false;
    memcpy(w->out, at, words);
    memset(w->out + words, 0, zmpi_interp_behind(w));
    w->in.at = w->out;
    w->in.end = w->out + words;
    w->in.over = false;
    return true;
}

bool zmpi_interp_unpacked(const struct zmpi_interp_work *w)
{
    const struct unrans *in = &w->in;
    for (unsigned k = 0; k <= in->mask; k++)
        if (in->state[k] != ZMPI_INTERP_LOWEST)
            return false;
    if (in->over || in->extra.over || in->extra.at != in->extra.end || in->extra.have)
        return false;
    for (const unsigned char *p = in->at; p < in->end; p++)
        if (*p)
            return false;
    return in->end - in->at < 4;
}

int32_t zmpi_interp_take_escape(struct unrans *in, int32_t raw)
{
    const unsigned e = (unsigned)raw - ZMPI_INTERP_RAW;
    const uint32_t value = take_bits(&in->extra, e + 3);
    const uint32_t size = (value >> 1) + 4 * ((1u << e) - 1) + DIRECT + 1;
    return (int32_t)(value & 1 ? 0 - size : size);
}

/* ---- symbols of a tile ---- */

void zmpi_interp_code_begin(struct zmpi_interp_work *w)
{
    w->codes.count = w->codes.row_count = 0;
    w->codes.extra = (struct put){.at = w->codes.raw};
    w->codes.any = 0;
}

void zmpi_interp_escape(struct codes *c, int32_t code, size_t i)
{
    unsigned bits;
    uint32_t value;
    const unsigned s = escape(code, &bits, &value);
    put_bits(&c->extra, value, bits);
    c->any |= (uint32_t)(code ^ code >> 31);
    c->pair[i] =
        (uint16_t)((c->pair[i] & ~127u) | (s < SYMBOLS ? s : SYMBOLS - 1)); /* else: stored */
}

/* Four sets of counts take turns: neighbours are often alike, and two additions to the same count
 * would wait for each other. */
void zmpi_interp_code_end(struct zmpi_interp_work *w)
{
    const struct codes *c = &w->codes;
    uint32_t(*counts)[ZMPI_INTERP_PAIRS] = w->counts;
    size_t i = 0;
    memset(w->counts, 0, sizeof w->counts);
    for (; i + 16 <= c->count; i += 16) {
        uint64_t four[4];
        memcpy(four, c->pair + i, sizeof four);
        if (!(four[0] | four[1] | four[2] | four[3])) { /* often, and the branch is predicted */
            counts[0][0] += 16;
            continue;
        }
        for (unsigned k = 0; k < 16; k++)
            counts[k % 4][c->pair[i + k]]++;
    }
    for (; i < c->count; i++)
        counts[0][c->pair[i]]++;
    w->used = 0;
    for (unsigned k = 0; k < CONTEXTS; k++)
        for (unsigned s = 0; s < SYMBOLS; s++) {
            const unsigned p = k << 7 | s;
            w->histogram[k][s] = counts[0][p] + counts[1][p] + counts[2][p] + counts[3][p];
            w->used = w->histogram[k][s] && s >= w->used ? s + 1 : w->used;
        }
}

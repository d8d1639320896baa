/* enhance_chunk.c - adds the network's outputs to decoded values, except where a flag keeps a
 * value. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "enhance/enhance.h"

/* ---- flags: an adaptive binary arithmetic coder; a context is the size of the output ---- */

enum { CONTEXTS = ZMPI_NET_ONE / 8 + 1, FIRST = 1024, RATE = 6 };

struct coder {
    uint32_t low, high, code;
    uint32_t chance[CONTEXTS]; /* chance that a value is kept, of 65536 */
    const unsigned char *at, *end;
    unsigned char *out;
};

static struct coder begin(void)
{
    struct coder c = {.high = UINT32_MAX};
    for (int i = 0; i < CONTEXTS; i++)
        c.chance[i] = FIRST;
    return c;
}

static void learn(uint32_t *chance, bool kept)
{
    *chance = kept ? *chance + ((65535 - *chance) >> RATE) : *chance - (*chance >> RATE);
}

static uint32_t middle(const struct coder *c, uint32_t chance)
{
    return c->low + ((c->high - c->low) >> 16) * chance;
}

static uint32_t next_byte(struct coder *c)
{
    return c->at < c->end ? *c->at++ : 0;
}

static bool take(struct coder *c, uint32_t *chance)
{
    const uint32_t m = middle(c, *chance);
    const bool kept = c->code <= m;
    *(kept ? &c->high : &c->low) = kept ? m : m + 1;
    for (; !((c->low ^ c->high) >> 24); c->low <<= 8, c->high = c->high << 8 | 255)
        c->code = c->code << 8 | next_byte(c);
    learn(chance, kept);
    return kept;
}

static void put(struct coder *c, uint32_t *chance, bool kept)
{
    const uint32_t m = middle(c, *chance);
    *(kept ? &c->high : &c->low) = kept ? m : m + 1;
    for (; !((c->low ^ c->high) >> 24); c->low <<= 8, c->high = c->high << 8 | 255)
        *c->out++ = (unsigned char)(c->high >> 24);
    learn(chance, kept);
}

/* ---- values ---- */

static double load(enum zmpi_type type, const unsigned char *words, size_t i)
{
    float narrow;
    double wide;
    if (type == ZMPI_F32) {
        memcpy(&narrow, words + 4 * i, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, words + 8 * i, sizeof wide);
    return wide;
}

/* The corrected value as the element type stores it. */
static double enhanced(enum zmpi_type type, double x, int out, double unit)
{
    const double sum = x + out * unit;
    return type == ZMPI_F32 ? (double)(float)sum : sum;
}

static void store(enum zmpi_type type, unsigned char *words, size_t i, double x)
{
    const float narrow = (float)x;
    if (type == ZMPI_F32)
        memcpy(words + 4 * i, &narrow, sizeof narrow);
    else
        memcpy(words + 8 * i, &x, sizeof x);
}

bool zmpi_enhanced_has(const struct zmpi_enhanced *e, size_t k)
{
    return zmpi_load32(e->size + 4 * k) > 0;
}

void zmpi_enhance_chunk(const struct zmpi_enhanced *e, size_t k, const struct zmpi_stream *s,
                        struct zmpi_net_work *w, int8_t *out, unsigned char *words)
{
    size_t first[3], extent[3], skip = 0;
    const enum zmpi_type type = s->info.array.type;
    const double unit = s->info.abs_bound / ZMPI_NET_ONE;
    const size_t size = zmpi_load32(e->size + 4 * k) - 1;
    for (size_t i = 0; i < k; i++)
        skip += zmpi_enhanced_has(e, i) ? zmpi_load32(e->size + 4 * i) - 1 : 0;
    struct coder c = begin();
    c.at = e->flags + skip;
    c.end = c.at + size;
    for (int i = 0; i < 4; i++)
        c.code = c.code << 8 | next_byte(&c);
    zmpi_stream_tile(s, k, first, extent);
    zmpi_net_run(w, type, s->info.abs_bound, extent, words, out);
    const size_t n = extent[0] * extent[1] * extent[2];
    for (size_t i = 0; i < n; i++) {
        const int o = out[i], magnitude = abs(o);
        if (magnitude < e->of->least)
            continue;
        const double x = load(type, words, i);
        if (isfinite(x) && !take(&c, &c.chance[magnitude / 8]))
            store(type, words, i, enhanced(type, x, o, unit));
    }
}

struct zmpi_gain zmpi_enhance_try(const struct zmpi_enhancer *e, enum zmpi_type type,
                                  double abs_bound, size_t n, const unsigned char *words,
                                  const unsigned char *decoded, const int8_t *out,
                                  unsigned char *flags)
{
    struct zmpi_gain gain = {0};
    struct coder c = begin();
    const double unit = abs_bound / ZMPI_NET_ONE, most = e->times * abs_bound;
    c.out = flags;
    for (size_t i = 0; i < n; i++) {
        const int o = out[i], magnitude = abs(o);
        const double x = load(type, words, i);
        double was = load(type, decoded, i), is = was;
        if (isfinite(was) && magnitude >= e->least) {
            is = enhanced(type, was, o, unit);
            /* An exact value stays exact. NaN fails these comparisons. */
            const bool keep = !(fabs(x - is) < most) || !(fabs(x - was) > 0);
            put(&c, &c.chance[magnitude / 8], keep);
            is = keep ? was : is;
        }
        if (isfinite(x) && isfinite(was)) {
            gain.before += (x - was) / abs_bound * ((x - was) / abs_bound);
            gain.after += (x - is) / abs_bound * ((x - is) / abs_bound);
        }
    }
    *c.out++ = (unsigned char)((c.low >> 24) + 1); /* lies between both if zeros follow */
    gain.flags = (size_t)(c.out - flags);
    return gain;
}

/*
 * coll_auto.c - is it faster to compress? Measured per communicator, operation and size class; all
 * numbers here are the same on all ranks, and so are the answers.
 *
 * A compressed call that spent nearly all of its time waiting for the network tells what a raw one
 * would take at least: that waiting, times the ratio. If it did not, or that is not clearly more,
 * two calls go raw to be measured, and then the faster way is taken. The slower one is tried again
 * now and then, as often as costs 2 %.
 */
#include "coll_auto.h"

#include <math.h>

enum { RAW, COMPRESSED };
enum { TRIES = 2, LEAST_CALLS = 16, MOST_CALLS = 4096 };

int zauto_class(uint64_t bytes)
{
    int k = 0;
    while (bytes > 3 && k < ZCLASSES - 1) {
        bytes /= 4;
        k++;
    }
    return k;
}

/* The better of the first ones, of which one makes connections and starts threads; then a moving
 * mean. */
static void take(struct zmeasured *m, int way, double per_byte)
{
    double *known = &m->per_byte[way];
    if (m->count[way] >= TRIES)
        *known = (3 * *known + per_byte) / 4;
    else if (m->count[way] == 0 || per_byte < *known)
        *known = per_byte;
    m->count[way]++;
    m->since[way] = 0;
}

void zauto_learn(struct zcomm *s, const struct zpending *p)
{
    if (!p->any || p->bytes <= 0 || p->elapsed <= 0)
        return;
    struct zmeasured *m = &s->measured[p->op][p->size_class];
    take(m, p->compressed ? COMPRESSED : RAW, p->elapsed / p->bytes);
    if (!p->compressed)
        return;
    /* Sender's and receiver's codec may have taken turns. */
    double waiting = p->elapsed - 2 * p->codec;
    bool network = waiting > 0.6 * p->elapsed && p->sent > 0;
    m->raw_estimate = network ? waiting * p->raw / p->sent / p->bytes : 0;
}

double zauto_raw(const struct zmeasured *m)
{
    return m->per_byte[RAW] > 0 ? m->per_byte[RAW] : m->raw_estimate;
}

double zauto_compressed(const struct zmeasured *m)
{
    return m->per_byte[COMPRESSED];
}

/* Calls of the faster way after which one of the slower costs 2 %. */
static unsigned calls_between(double fast, double slow)
{
    double n = ceil((slow - fast) / fast / 0.02);
    return n < LEAST_CALLS ? LEAST_CALLS : n > MOST_CALLS ? MOST_CALLS : (unsigned)n;
}

bool zauto_choose(struct zmeasured *m, bool all_know)
{
    m->since[RAW]++;
    m->since[COMPRESSED]++;
    if (m->count[COMPRESSED] < TRIES)
        return true;
    double raw = zauto_raw(m), compressed = zauto_compressed(m);
    if (m->count[RAW] == 0 && raw > 1.5 * compressed)
        return true;
    if (m->count[RAW] < TRIES)
        return false;
    /* For a few percent it is not worth the processor's time. */
    int best = compressed < 0.95 * raw ? COMPRESSED : RAW, other = !best;
    unsigned often = calls_between(fmin(raw, compressed), fmax(raw, compressed));
    if (m->since[other] >= often)
        return other == COMPRESSED;
    if (best == RAW && all_know) { /* nobody needs to be asked until then */
        m->skip = often - m->since[COMPRESSED];
        m->since[COMPRESSED] = often;
    }
    return best == COMPRESSED;
}

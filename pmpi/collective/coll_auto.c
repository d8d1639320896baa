/*
 * coll_auto.c - which way is fastest: raw, or compressed by which encoder? It is measured for each
 * communicator, operation and size class. All numbers here are the same on all ranks, and so are
 * the answers.
 *
 * Only the time of a whole call counts, since all ranks share in it: some encode, some decode, and
 * pieces are coded while others are sent. A way that is not measured yet, or was measured before
 * things changed, is estimated from two things: how long the encoders took for how many bytes, in
 * measured calls or of a sample (codec_choice.h), and how long the network took. The network's time
 * is the part of a call that was not the codec's, or that of its first messages.
 *
 * A way that may be faster is tried once, and twice if it is not far behind. Slower ones are tried
 * again now and then, so rarely that it costs 2 %.
 */
#include "collective/coll_auto.h"

#include <math.h>
#include <stdlib.h>

enum {
    TRIES = 2,
    MEMORY = 15,
    ACCIDENTS = 4,
    ALIKE = 2,    /* size classes */
    LARGE = 4096, /* bytes; latency is only a small part of such a message's time */
    LEAST_CALLS = 16,
    MOST_CALLS = 65536,
    MOST_RAW = 1024
};
#define RETRIES 0.02
/* A way estimated to take more than this many times the best is not tried like the others. */
#define HOPELESS 1.5
/* A way estimated to take less than this part of the best is tried first. */
#define PROMISING 0.8
/* Of codec and network, the one that took this many times longer was not hidden by the other. */
#define LONGER 1.25
/* A way takes this many times its earlier time, or the inverse: something has changed. */
#define CHANGED 2.0
/* Compression is reported when it has cost this many seconds, and this part of the time of its
 * calls. */
#define WORTH_A_LINE 1.0
#define COSTLY       0.2

int zauto_class(uint64_t bytes)
{
    int k = 0;
    while (bytes > 3 && k < ZCLASSES - 1) {
        bytes /= 4;
        k++;
    }
    return k;
}

/* ---- what is known ---- */

/* Has something changed since this way was measured? */
static bool outdated(const struct zmeasured *m, int way)
{
    return m->seen[way] != m->world;
}

/* Is the time far from the earlier one, to the same side, so often in a row that it is no
 * accident? */
static bool has_changed(struct zmeasured *m, int way, double per_byte)
{
    const double known = m->per_byte[way];
    const int side = (per_byte > CHANGED * known) - (CHANGED * per_byte < known);
    if (m->count[way] < TRIES || side == 0 || side * m->strange[way] < 0)
        m->strange[way] = 0;
    m->strange[way] += m->count[way] < TRIES ? 0 : side;
    return abs(m->strange[way]) >= ACCIDENTS;
}

/* Takes a measurement. Of the first ones the better counts, since one of them makes connections and
 * starts threads. Then a moving mean counts, which forgets slowly unless things have changed. */
static void take(struct zmeasured *m, int way, double per_byte)
{
    double *known = &m->per_byte[way];
    const unsigned memory = m->count[way] < MEMORY ? m->count[way] : MEMORY;
    if (has_changed(m, way, per_byte))
        m->world++;
    if (m->count[way] == 0 || (m->count[way] >= TRIES && outdated(m, way))) {
        *known = per_byte;
        m->count[way] = m->count[way] ? TRIES - 1 : 0;
        m->strange[way] = 0;
    } else if (m->count[way] < TRIES) {
        *known = fmin(*known, per_byte);
    } else {
        *known +=
            (fmax(fmin(per_byte, CHANGED * *known), *known / CHANGED) - *known) / (memory + 1);
    }
    m->count[way]++;
    m->since[way] = 0;
    m->seen[way] = m->world;
}

/* Coding and sending follow each other at most; with several pieces they do so only at the
 * beginning and the end. 0: the codec may have taken all of the time. */
double zauto_link(const struct zpending *p)
{
    const double rest = p->elapsed - p->scan - ZLATENCY, codec = p->compress + p->decode;
    const double overlapped = rest - codec / p->pieces;
    return overlapped > LONGER * p->codec ? overlapped : fmax(rest - codec, 0);
}

/* Estimates the encoders' times, for a byte of the largest block, as the measured times are. */
static void estimate_encoders(struct zmeasured *m, struct zmpi_codec_choice *c,
                              const struct zpending *p)
{
    const double stored = p->way ? p->bytes * p->sent / p->raw : p->bytes;
    const bool overlap = p->pieces > 1;
    if (p->sample.smaller > 0) {
        c->slower = p->sample.seconds[1] / p->sample.seconds[0];
        c->smaller = p->sample.smaller;
    }
    if (p->way)
        zmpi_codec_coded(c, p->way, ZMPI_CODEC_HERE, p->bytes, stored,
                         overlap ? p->codec : p->compress + p->decode);
    c->written[ZMPI_CODEC_HERE] = c->writing[ZMPI_CODEC_HERE] = 0; /* speeds differ between sizes */
    zmpi_codec_written(c, ZMPI_CODEC_HERE, stored, zauto_link(p), overlap);
    for (int way = 1; way < ZWAYS; way++)
        if (way != p->way)
            m->estimate[way] = zmpi_codec_estimate(c, way);
}

/* Do messages of one size tell how long those of the other take? */
static bool is_like(double raw, double stored)
{
    return abs(zauto_class((uint64_t)raw) - zauto_class((uint64_t)stored)) <= ALIKE &&
           stored >= LARGE;
}

/* If the codec may have hidden the network's time, the first messages tell it, provided that they
 * took longer than the latency. Otherwise only its limits are known. */
static void estimate_raw(struct zmeasured *m, const struct zpending *p)
{
    const double scale = p->raw / p->sent / p->bytes, known = m->estimate[ZRAW];
    double least = zauto_link(p), most = p->elapsed;
    if (p->transfer > 0) {
        least = fmax(least, p->transfer);
        most = p->transfer + ZLATENCY * p->pieces;
    }
    m->estimate[ZRAW] = fmax(fmin(m->estimated == m->world ? known : 0, most * scale),
                             fmin(least, p->elapsed) * scale);
    m->estimated = m->world;
    m->like = is_like(p->bytes, p->bytes * p->sent / p->raw);
}

void zauto_learn(struct zcomm *s, const struct zpending *p)
{
    if (!p->any || p->bytes <= 0 || p->elapsed <= 0)
        return;
    struct zmeasured *m = &s->measured[p->op][p->size_class];
    take(m, p->way, p->elapsed / p->bytes);
    m->untimed += p->by_rule ? p->elapsed : 0;
    if (p->way && !(p->raw > 0 && p->sent > 0))
        return;
    estimate_encoders(m, &s->codec[p->op], p);
    if (p->way)
        estimate_raw(m, p);
}

double zauto_expected(const struct zmeasured *m, int way)
{
    const bool is_valid = m->count[way] && !outdated(m, way);
    return is_valid || !(m->estimate[way] > 0) ? m->per_byte[way] : m->estimate[way];
}

/* The time of the faster of the measured encoders. */
static double expected_compressed(const struct zmeasured *m)
{
    double least = 0;
    for (int way = 1; way < ZWAYS; way++)
        if (m->count[way] && (!(least > 0) || m->per_byte[way] < least))
            least = m->per_byte[way];
    return least;
}

bool zauto_wants_raw(const struct zmeasured *m)
{
    return m->count[ZRAW] == 0 || outdated(m, ZRAW) ? m->untimed > WORTH_A_LINE
                                                    : m->count[ZRAW] < TRIES;
}

void zauto_timed_raw(struct zmeasured *m, double per_byte)
{
    m->untimed = 0;
    if (isfinite(per_byte))
        take(m, ZRAW, per_byte);
}

/* If raw is never tried, nothing corrects an estimate of it. */
double zauto_saved(const struct zcomm *s, const struct zpending *p)
{
    const struct zmeasured *m = &s->measured[p->op][p->size_class];
    const bool estimated =
        m->like && !p->by_rule && s->options.collective_mode != ZMPI_COLLECTIVE_ALWAYS;
    double other = estimated ? zauto_expected(m, ZRAW) : m->per_byte[ZRAW];
    if (p->way == ZRAW)
        other = expected_compressed(m);
    else if (p->by_rule && outdated(m, ZRAW))
        other = 0;
    return other > 0 ? other * p->bytes - p->elapsed : 0;
}

bool zauto_costs(struct zlosses *l, double elapsed, double saved)
{
    if (!(saved < 0 || saved > 0))
        return false;
    l->elapsed += elapsed;
    l->saved += saved;
    const bool now = !l->said && -l->saved > WORTH_A_LINE && -l->saved > COSTLY * l->elapsed;
    l->said |= now;
    return now;
}

static bool was_measured(const struct zmeasured *m)
{
    unsigned n = 0;
    for (int way = 0; way < ZWAYS; way++)
        n += m->count[way];
    return n > 0;
}

void zauto_begin(struct zmeasured of_class[ZCLASSES], int size_class)
{
    struct zmeasured *m = &of_class[size_class];
    const struct zmeasured *like = NULL;
    if (was_measured(m))
        return;
    for (int k = 0; k < ZCLASSES; k++)
        if (was_measured(&of_class[k]) && abs(k - size_class) <= ALIKE &&
            (!like || abs(k - size_class) <= abs((int)(like - of_class) - size_class)))
            like = &of_class[k];
    for (int way = 0; like && way < ZWAYS; way++)
        m->estimate[way] = zauto_expected(like, way);
}

/* ---- the choice ---- */

/* Calls of the faster way after which one of the slower costs this part of their time. */
static unsigned calls_between(double fast, double slow, double part)
{
    double n = ceil((slow - fast) / fast / part);
    return n < LEAST_CALLS ? LEAST_CALLS : n > MOST_CALLS ? MOST_CALLS : (unsigned)n;
}

/* Returns the fastest way. A gain of a few percent over raw is not worth the processor's time. */
static int find_best(const struct zmeasured *m, const struct zauto_ways *ways)
{
    int best = -1;
    for (int way = 0; way < ZWAYS; way++)
        if (ways->may[way] && m->count[way] &&
            (best < 0 || m->per_byte[way] < 0.95 * m->per_byte[best]))
            best = way;
    return best;
}

/* Returns a way that was not measured often enough yet and may be faster; -1: none. */
static int find_new(const struct zmeasured *m, const struct zauto_ways *ways)
{
    const double best = m->per_byte[m->best];
    for (int way = 0; way < ZWAYS; way++)
        if (ways->may[way] && m->count[way] == 0 && zauto_expected(m, way) < PROMISING * best)
            return way;
    if (m->count[m->best] < TRIES)
        return m->best;
    for (int way = 0; way < ZWAYS; way++)
        if (ways->may[way] && m->count[way] < TRIES && zauto_expected(m, way) <= HOPELESS * best)
            return way;
    return -1;
}

/* The expected time of a way. If its time is outdated and there is no estimate, only a trial tells.
 */
static double hoped(const struct zmeasured *m, int way)
{
    if (outdated(m, way) && !(m->estimate[way] > 0))
        return HOPELESS * m->per_byte[m->best];
    return zauto_expected(m, way);
}

/* Returns a slower way that is due for a trial; -1: none for the next *wait calls. */
static int find_due(const struct zmeasured *m, const struct zauto_ways *ways, unsigned *wait)
{
    const double others = ways->may[ZRAW] + ways->may[ZMPI_FLE] + ways->may[ZMPI_HUFFMAN] - 1;
    const double part = RETRIES / fmax(others, 1);
    *wait = MOST_CALLS;
    for (int way = 0; way < ZWAYS; way++) {
        if (!ways->may[way] || way == m->best)
            continue;
        const unsigned often = calls_between(m->per_byte[m->best], hoped(m, way), part);
        if (m->since[way] >= often)
            return way;
        if (often - m->since[way] < *wait)
            *wait = often - m->since[way];
    }
    return -1;
}

/* Returns the way of a size class's first call: the first of `ways`, unless other classes have
 * shown a better one. */
static int foreseen(const struct zmeasured *m, const struct zauto_ways *ways)
{
    int best = ways->first;
    for (int way = 0; way < ZWAYS; way++)
        if (ways->may[way] && m->estimate[way] > 0 &&
            m->estimate[way] < PROMISING * m->estimate[best])
            best = way;
    return best;
}

int zauto_choose(struct zmeasured *m, const struct zauto_ways *ways, bool all_know)
{
    unsigned wait;
    for (int way = 0; way < ZWAYS; way++)
        m->since[way]++;
    m->best = find_best(m, ways);
    if (m->best < 0)
        return m->best = foreseen(m, ways);
    int way = find_new(m, ways);
    if (way < 0)
        way = find_due(m, ways, &wait);
    if (way >= 0)
        return way;
    /* Until the next trial the calls need no agreement, as long as raw calls take as long as
     * before. */
    if (m->best == ZRAW && all_know && m->since[ZRAW] == 1 && !m->strange[ZRAW]) {
        m->skip = wait < MOST_RAW ? wait : MOST_RAW;
        for (int k = 0; k < ZWAYS; k++)
            m->since[k] += m->skip;
    }
    return m->best;
}

/*
 * flare_engine.c - our RTL in cycles (docs/flare.md 4.2): prediction, whose codes come block by
 * block, and a coder that takes them section by section and waits for books.
 */
#include "flare_model.h"
#include "flare_net.h"

#include <stdlib.h>

enum {
    SECTION = 8192,
    STREAMS = 4,
    ROW = 4,
    QUEUE = 4 * 8192, /* codes that each array keeps until earlier codes are out */
    ESCAPE = -128,
    ANCHORS = 8,     /* every so many points */
    CLEAR = 1024,    /* counts */
    BOOK = 2 * 998,  /* counts are read, codes are written */
    ASK = 20,        /* registers, beside these */
    PASS = 14,       /* a section through the coder's pipeline, and its judgement */
    SLICES = 32 + 3, /* ranges of a batch's slices become one */
    START = 4,       /* until the first anchor */
    BITS_GUESSED = 4 /* of a code: how long the last section of a batch takes to go out */
};

/* A block's codes come out from `begin` to `end`, behind those of earlier blocks. */
struct piece {
    uint64_t codes; /* up to its end */
    double begin, end;
};

struct codes {
    struct piece *piece;
    size_t n;
    uint64_t coarse, batch[FLARE_BATCHES_MOST];
    unsigned batches;
    double predicted;
    const signed char *code;
    const struct piece *last[FLARE_ARRAYS_MOST]; /* of each array */
};

static uint64_t product(const size_t n[3])
{
    return (uint64_t)n[0] * n[1] * n[2];
}

static uint64_t from_of(const struct codes *c, const struct piece *p)
{
    return p == c->piece ? 0 : p[-1].codes;
}

static uint64_t escapes(const struct codes *c, const struct piece *p)
{
    uint64_t n = 0;
    for (uint64_t i = from_of(c, p); c->code && i < p->codes; i++)
        n += c->code[i] == ESCAPE;
    return n;
}

/* How long an array waits whose queue is full with its last block and this one. */
static double queue_wait(const struct codes *c, unsigned array, double loaded, uint64_t made)
{
    const struct piece *last = c->last[array];
    if (!last || last->codes - from_of(c, last) + made <= QUEUE)
        return 0;
    const double full = loaded + (double)(QUEUE - (last->codes - from_of(c, last)));
    return last->begin > full ? last->begin - full : 0;
}

/* The blocks of a slab go to the arrays in turn. */
static void add_slab(struct codes *c, const struct flare_core *core, const size_t extent[3],
                     const struct flare_slab *slab)
{
    double busy[FLARE_ARRAYS_MOST] = {0}, first = c->predicted;
    size_t n[3], at[3] = {slab->plane}, half[3];
    const size_t stride = (size_t)1 << (slab->level - 1), side = FLARE_SIDE * stride;
    for (unsigned k = 0; k < core->arrays; k++)
        busy[k] = first + k; /* one block begins in a cycle */
    for (at[1] = 0; at[1] < extent[1]; at[1] += side)
        for (at[2] = 0; at[2] < extent[2]; at[2] += side) {
            struct piece *p = &c->piece[c->n];
            const double before = c->n ? p[-1].end : 0;
            unsigned array = 0;
            for (unsigned k = 1; k < core->arrays; k++)
                array = busy[k] < busy[array] ? k : array;
            flare_block_sides(extent, at, stride, n);
            for (int i = 0; i < 3; i++)
                half[i] = (n[i] + 1) / 2;
            const double loaded = busy[array] + (double)product(half);
            const uint64_t made = product(n) - product(half);
            busy[array] += flare_block_cycles(core, n) + queue_wait(c, array, loaded, made);
            p->codes = (c->n ? p[-1].codes : 0) + made;
            p->begin = loaded > before ? loaded : before;
            /* One row leaves per cycle, and so does one escape. */
            const double whole = before + (double)made / ROW + (double)escapes(c, p);
            p->end = busy[array] > whole ? busy[array] : whole;
            c->last[array] = p;
            c->predicted = busy[array] > c->predicted ? busy[array] : c->predicted;
            c->n++;
        }
    if (slab->level == 1)
        c->predicted += SLICES;
}

static double arrival(const struct codes *c, uint64_t code)
{
    size_t k = 0;
    while (k + 1 < c->n && c->piece[k].codes < code)
        k++;
    const struct piece *p = &c->piece[k];
    const uint64_t from = k ? p[-1].codes : 0;
    if (p->codes <= from)
        return p->end;
    return p->begin + (p->end - p->begin) * (double)(code - from) / (double)(p->codes - from);
}

/* Cycles of a section's codes through four streams at once; a row of zeros takes one. */
static double pass(const signed char *code, uint64_t n)
{
    const uint64_t blocks = (n + 31) / 32, span = (blocks + STREAMS - 1) / STREAMS * 32;
    uint64_t most = 0;
    for (uint64_t k = 0; k < STREAMS; k++) {
        uint64_t cycles = 0;
        const uint64_t end = (k + 1) * span < n ? (k + 1) * span : n;
        for (uint64_t i = k * span; i < end; i += ROW) {
            const uint64_t m = end - i < ROW ? end - i : ROW;
            bool zero = code != NULL;
            for (uint64_t j = 0; j < m && zero; j++)
                zero = code[i + j] == 0;
            cycles += zero ? 1 : m;
        }
        most = cycles > most ? cycles : most;
    }
    return (double)most + PASS;
}

struct coder {
    double filled, passed, given[2], half_free[2], clear;
    unsigned sections;
};

/* Counts, codes, or both, for the codes [from, end) of a batch. Returns when everything is out. */
static double run_batch(struct coder *k, const struct codes *c, const signed char *code,
                        uint64_t from, uint64_t end, bool counts, bool codes)
{
    for (; from < end; from += SECTION, k->sections++) {
        const uint64_t n = end - from < SECTION ? end - from : SECTION;
        double *half = &k->half_free[k->sections % 2], *given = &k->given[k->sections % 2];
        const double begin = k->filled > *half ? k->filled : *half;
        const double there = arrival(c, from + n);
        k->filled = begin + 1 + (double)((n + ROW - 1) / ROW);
        k->filled = k->filled > there ? k->filled : there;
        double start = k->filled > k->passed ? k->filled : k->passed;
        start = start > *given ? start : *given;
        start = start > k->clear ? start : k->clear;
        const double once = pass(code ? code + from : NULL, n);
        k->passed = start + (counts ? once : 0) + (codes ? once : 0);
        *half = k->passed;
        if (codes)
            *given = k->passed + (double)n * BITS_GUESSED / 64;
    }
    const double last = k->given[0] > k->given[1] ? k->given[0] : k->given[1];
    return last > k->passed ? last : k->passed;
}

struct flare_engine_times flare_engine_time(const struct flare_core *core, const size_t extent[3],
                                            const signed char *code)
{
    struct flare_engine_times t = {0, 0};
    struct flare_slab slab[7];
    const size_t n = flare_schedule(extent, 3, slab, 7);
    struct codes c = {.predicted = START, .code = code};
    struct coder k = {.clear = START + CLEAR};
    size_t blocks = 0, anchors = 1;
    if (n > 7)
        return t; /* more than a chunk */
    for (size_t i = 0; i < n; i++) {
        const size_t side = (size_t)FLARE_SIDE << (slab[i].level - 1);
        blocks += ((extent[1] + side - 1) / side) * ((extent[2] + side - 1) / side);
    }
    c.piece = calloc(blocks, sizeof *c.piece);
    if (!c.piece)
        return t;
    for (int i = 0; i < 3; i++)
        anchors *= (extent[i] + ANCHORS - 1) / ANCHORS;
    c.predicted += (double)anchors + 2;
    for (size_t i = 0; i < n; i++) {
        add_slab(&c, core, extent, &slab[i]);
        if (slab[i].level == 1)
            c.batch[c.batches++] = c.piece[c.n - 1].codes;
        else if (!c.batches)
            c.coarse = c.piece[c.n - 1].codes;
    }
    double now = run_batch(&k, &c, code, 0, c.coarse, true, false);
    for (unsigned b = 0; b < c.batches; b++) {
        now += BOOK + ASK;
        k.filled = k.passed = now;
        k.clear = now + CLEAR;
        now = run_batch(&k, &c, code, b ? c.batch[b - 1] : 0, c.batch[b], b + 1 < c.batches, true);
    }
    t.predict = c.predicted;
    t.total = now > c.predicted ? now : c.predicted;
    free(c.piece);
    return t;
}

/* A tap of a group of outputs' and inputs' channels takes a cycle: of a point to come in, and of
 * one of half as many rows and columns. */
static void net_taps(unsigned side, uint64_t *whole, uint64_t *half)
{
    const uint64_t g8 = (8 + side - 1) / side, g16 = (16 + side - 1) / side;
    const uint64_t first = 9 * g8, last = 9 * g8, both = 9 * (g8 + g16) * g8;
    *whole = 1 + first + both + last;
    *half = 4 * g8 + 9 * g8 * g16;
}

double flare_net_cycles(unsigned side)
{
    uint64_t whole, half;
    net_taps(side, &whole, &half);
    return (double)whole + (double)half / 4;
}

double flare_net_time(unsigned side, const size_t extent[3], const int32_t *least,
                      const int32_t *largest)
{
    /* Between batches; to ask for a slice's range; a piece's reciprocal, and layers that end. */
    enum { BATCH = 1, RANGE = 3, PIECE = 24 + 25 };
    const size_t down = (extent[1] - 1) / FLARE_NET_SIDE + 1;
    const size_t across = (extent[2] - 1) / FLARE_NET_SIDE + 1;
    const size_t high = (extent[1] - 1) / down + 1, wide = (extent[2] - 1) / across + 1;
    uint64_t whole, half, of_slice = 0, all = (extent[0] - 1) / FLARE_SIDE + BATCH;
    net_taps(side, &whole, &half);
    for (size_t y = 0; y < extent[1]; y += high)
        for (size_t x = 0; x < extent[2]; x += wide) {
            const size_t h = extent[1] - y < high ? extent[1] - y : high;
            const size_t w = extent[2] - x < wide ? extent[2] - x : wide;
            of_slice += PIECE + h * w * whole + (h + 1) / 2 * ((w + 1) / 2) * half;
        }
    for (size_t z = 0; z < extent[0]; z++)
        all += RANGE + (least[z] < largest[z] ? of_slice : 0);
    return (double)all;
}

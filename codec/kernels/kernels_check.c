/*
 * kernels_check.c - does a set of kernels give what the scalar reference gives?
 *
 * Tests answer this for the compilers and libraries that they run with. This check answers it where
 * the set is used, in some microseconds: a wrong set would write files that no other build can
 * read.
 */
#include <stdlib.h>
#include <string.h>

#include "base/floats.h"
#include "kernels/kernels.h"

enum { PLANES = 2, ROWS = 3, COLUMNS = 64, WORDS = PLANES * ROWS * COLUMNS };

/* One tile in words of `width` bytes, and the results of both sets. */
struct trial {
    enum zmpi_type type;
    size_t width, extent[3];
    struct zmpi_chunk_rule rule;
    _Alignas(64) unsigned char words[WORDS * 8 + ZMPI_CHUNK_BEHIND];
    unsigned char decoded[2][WORDS * 8];
    struct zmpi_chunk_work work;
    unsigned char coded[2][ZMPI_CHUNK_CAPACITY];
};

static void put(struct trial *t, size_t i, double x)
{
    const float narrow = (float)x;
    memcpy(t->words + i * t->width, t->width == 4 ? (const void *)&narrow : &x, t->width);
}

/* Makes rows of whole blocks and other rows; smooth values with two jumps and a fill value. */
static void make(struct trial *t, enum zmpi_type type, size_t columns, double bound)
{
    t->type = type;
    t->width = type == ZMPI_F32 ? 4 : 8;
    memcpy(t->extent, (const size_t[]){PLANES, ROWS, columns}, sizeof t->extent);
    zmpi_chunk_rule_make(&t->rule, type, bound, 1e19);
    t->rule.axes = bound > 0 ? ZMPI_AXIS_X | ZMPI_AXIS_Y | ZMPI_AXIS_Z : ZMPI_AXIS_Y;
    const size_t n = PLANES * ROWS * columns;
    for (size_t i = 0; i < n; i++)
        put(t, i, (double)(i % columns * 3 + i / columns) / 7 - 5);
    put(t, n / 3, 1000);
    put(t, n / 2, 1e20);
    put(t, n - 1, -1000);
}

static size_t encode(const struct zmpi_kernels *k, struct trial *t, unsigned char *coded)
{
    const size_t row = t->extent[2] * t->width, plane = ROWS * row;
    const struct zmpi_rows rows = {.at = t->words, .row = row, .plane = plane};
    zmpi_chunk_work_init(&t->work, plane, row + plane);
    return (t->width == 4 ? k->encode32 : k->encode64)(&t->rule, t->extent, &rows, coded, &t->work);
}

static enum zmpi_status decode(const struct zmpi_kernels *k, struct trial *t, size_t size,
                               unsigned char *decoded)
{
    const size_t row = t->extent[2] * t->width, plane = ROWS * row;
    const struct zmpi_rows rows = {.at = decoded, .row = row, .plane = plane};
    zmpi_chunk_work_init(&t->work, plane, row + plane);
    return (t->width == 4 ? k->decode32 : k->decode64)(true, t->extent, t->coded[0], size, &rows,
                                                       &t->work);
}

static bool costs_differ(const struct zmpi_kernels *a, const struct zmpi_kernels *b,
                         const struct trial *t)
{
    const size_t row = t->extent[2] * t->width;
    unsigned char *at = (unsigned char *)(uintptr_t)t->words; /* only read */
    const struct zmpi_rows rows = {.at = at, .row = row, .plane = ROWS * row};
    size_t cost[2][8] = {{0}, {0}};
    const bool wide = t->width == 8;
    return (wide ? a->cost64 : a->cost32)(&t->rule, t->extent, &rows, 30000, cost[0]) !=
               (wide ? b->cost64 : b->cost32)(&t->rule, t->extent, &rows, 30000, cost[1]) ||
           memcmp(cost[0], cost[1], sizeof cost[0]) != 0;
}

static bool ranges_differ(const struct zmpi_kernels *a, const struct zmpi_kernels *b,
                          const struct trial *t, size_t count)
{
    struct zmpi_range x = ZMPI_RANGE_EMPTY, y = ZMPI_RANGE_EMPTY;
    (t->width == 8 ? a->range64 : a->range32)(t->words, count, &x);
    (t->width == 8 ? b->range64 : b->range32)(t->words, count, &y);
    return x.min < y.min || x.min > y.min || x.max < y.max || x.max > y.max || x.fill < y.fill ||
           x.fill > y.fill;
}

/* a is the reference. */
static const char *difference(const struct zmpi_kernels *a, const struct zmpi_kernels *b,
                              struct trial *t)
{
    const size_t count = PLANES * ROWS * t->extent[2], bytes = count * t->width;
    for (size_t size = bytes; size > 4; size /= 3) /* long, and too short for a loop */
        if (a->hash(t->words, size) != b->hash(t->words, size))
            return "hash";
    const size_t size = encode(a, t, t->coded[0]);
    if (encode(b, t, t->coded[1]) != size || memcmp(t->coded[0], t->coded[1], size) != 0)
        return "encoder";
    if (decode(a, t, size, t->decoded[0]) != decode(b, t, size, t->decoded[1]) ||
        memcmp(t->decoded[0], t->decoded[1], bytes) != 0)
        return "decoder";
    return costs_differ(a, b, t) ? "costs" : ranges_differ(a, b, t, count) ? "range" : NULL;
}

const char *zmpi_kernels_difference(const struct zmpi_kernels *k)
{
    static const struct {
        enum zmpi_type type;
        size_t columns;
        double bound;
    } trials[] = {
        {ZMPI_F32, COLUMNS, 1e-3}, {ZMPI_F32, 35, 0}, {ZMPI_F64, COLUMNS, 0}, {ZMPI_F64, 35, 1e-3}};
    struct trial *t = aligned_alloc(64, (sizeof *t + 63) / 64 * 64);
    const char *what = NULL;
    if (!t) /* no memory to find out; the tests have tried this set */
        return NULL;
    const struct zmpi_floats program = zmpi_floats_begin();
    for (size_t i = 0; i < sizeof trials / sizeof *trials && !what; i++) {
        make(t, trials[i].type, trials[i].columns, trials[i].bound);
        what = difference(&zmpi_kernels_scalar, k, t);
    }
    zmpi_floats_end(program);
    free(t);
    return what;
}

/* components_range.c - what a bound needs to know about each of several interleaved components. */
#include "judge/components.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/floats.h"
#include "base/pool.h"
#include "kernels/kernels.h"

/* TILE_BYTES of points are scanned together, in the first-level cache; prefetches run AHEAD bytes
 * ahead. A group of LANES points is scanned as one vector. */
enum { TILE_BYTES = 16384, AHEAD = 8192, LANES = 8 };
/* Points that a thread takes at a time. */
enum { PORTION = 32768 };
/* Samples for fill values: their rows, the longest length of one, and one value in ONE_IN at most.
 */
enum { ROWS = ZMPI_TAKEN_ROWS, ROW = 256, ONE_IN = 32 };
/* Elements of a row that mostly show that there are none. */
enum { FEW = 8 };

struct scan {
    enum zmpi_type type;
    const unsigned char *data;
    size_t points;
    int n, first, end;
    double threshold;
    const struct zmpi_fills *fills;
    struct zmpi_range *range;
    pthread_mutex_t lock; /* of range */
    atomic_size_t next;   /* point */
};

/* ---- as they lie ---- */

/* The smallest and the largest value of each lane of a group, NaN left out. Lanes take turns as the
 * components do. */
struct lanes {
    union {
        float f[LANES * ZMPI_COMPONENTS_MOST];
        double d[LANES * ZMPI_COMPONENTS_MOST];
    } low, high;
};

#define SCAN_LANES(name, T)                                                                        \
    static void name(const unsigned char *src, size_t groups, size_t lanes, T *restrict low,       \
                     T *restrict high)                                                             \
    {                                                                                              \
        typedef T __attribute__((aligned(1), may_alias)) unaligned;                                \
        const unaligned *x = (const unaligned *)(const void *)src;                                 \
        for (size_t i = 0; i < lanes; i++) {                                                       \
            low[i] = (T)INFINITY;                                                                  \
            high[i] = -(T)INFINITY;                                                                \
        }                                                                                          \
        for (size_t g = 0; g < groups; g++, x += lanes) {                                          \
            for (size_t i = 0; i < lanes; i += 64 / sizeof(T))                                     \
                __builtin_prefetch((const unsigned char *)(const void *)(x + i) + AHEAD);          \
            for (size_t i = 0; i < lanes; i++) {                                                   \
                low[i] = x[i] < low[i] ? x[i] : low[i];                                            \
                high[i] = x[i] > high[i] ? x[i] : high[i];                                         \
            }                                                                                      \
        }                                                                                          \
    }
SCAN_LANES(scan_lanes32, float)
SCAN_LANES(scan_lanes64, double)

static struct zmpi_range range_of_lanes(const struct scan *s, const struct lanes *of, size_t c)
{
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    for (size_t i = c; i < LANES * (size_t)s->n; i += (size_t)s->n) {
        const bool wide = s->type == ZMPI_F64;
        const double low = wide ? of->low.d[i] : (double)of->low.f[i],
                     high = wide ? of->high.d[i] : (double)of->high.f[i];
        range.min = low < range.min ? low : range.min; /* faster than fmin */
        range.max = high > range.max ? high : range.max;
    }
    return range;
}

/* Do all values between low and high count for the range, with no fill value among them? */
static bool is_ordinary(const struct scan *s, double low, double high)
{
    const double most = s->threshold > 0 ? fmin(s->threshold, ZMPI_ORDINARY) : ZMPI_ORDINARY;
    bool ordinary = fmax(fabs(low), fabs(high)) < most;
    for (int k = 0; k < s->fills->count; k++) {
        const double x = s->fills->value[k], fill = s->type == ZMPI_F32 ? (double)(float)x : x;
        ordinary &= !(low <= fill && fill <= high);
    }
    return ordinary;
}

/* ---- one component, apart from the others ---- */

static void scan_component(const struct scan *s, const unsigned char *at, size_t points, int c,
                           struct zmpi_range *range)
{
    _Alignas(64) unsigned char tile[TILE_BYTES / 2]; /* one component of at least two */
    struct zmpi_range part;
    zmpi_component_take(s->type, at, points * (size_t)s->n, s->n, c, tile);
    zmpi_range_without(s->type, tile, points, s->threshold, s->fills, 1, &part);
    zmpi_range_merge(range, &part);
}

/* Scans whole groups. A component with ordinary values only needs no copy. */
static void scan_groups(const struct scan *s, const unsigned char *at, size_t groups,
                        struct zmpi_range range[])
{
    const size_t lanes = LANES * (size_t)s->n;
    struct lanes of;
    if (s->type == ZMPI_F64)
        scan_lanes64(at, groups, lanes, of.low.d, of.high.d);
    else
        scan_lanes32(at, groups, lanes, of.low.f, of.high.f);
    for (int c = s->first; c < s->end; c++) {
        const struct zmpi_range part = range_of_lanes(s, &of, (size_t)c);
        if (is_ordinary(s, part.min, part.max))
            zmpi_range_merge(&range[c], &part);
        else
            scan_component(s, at, LANES * groups, c, &range[c]);
    }
}

static void scan_portion(const struct scan *s, size_t begin, size_t end, struct zmpi_range range[])
{
    const size_t point = (size_t)s->n * zmpi_type_size(s->type);
    const size_t most = TILE_BYTES / (LANES * point);
    for (size_t at = begin, groups; (groups = (end - at) / LANES) > 0; at += LANES * groups) {
        groups = groups < most ? groups : most;
        scan_groups(s, s->data + at * point, groups, range);
    }
    const size_t left = (end - begin) % LANES;
    for (int c = s->first; c < s->end && left; c++)
        scan_component(s, s->data + (end - left) * point, left, c, &range[c]);
}

static void scan_portions(void *context)
{
    struct scan *s = context;
    struct zmpi_range range[ZMPI_COMPONENTS_MOST];
    const struct zmpi_floats program = zmpi_floats_begin();
    size_t begin;
    for (int c = s->first; c < s->end; c++)
        range[c] = ZMPI_RANGE_EMPTY;
    while ((begin = atomic_fetch_add(&s->next, PORTION)) < s->points)
        scan_portion(s, begin, s->points - begin < PORTION ? s->points : begin + PORTION, range);
    zmpi_floats_end(program);
    pthread_mutex_lock(&s->lock);
    for (int c = s->first; c < s->end; c++)
        zmpi_range_merge(&s->range[c], &range[c]);
    pthread_mutex_unlock(&s->lock);
}

void zmpi_components_range(enum zmpi_type type, const void *src, size_t count, int n, int first,
                           int end, double threshold, const struct zmpi_fills *fills, int threads,
                           struct zmpi_range range[])
{
    struct scan s = {.type = type,
                     .data = src,
                     .points = count / (size_t)n,
                     .n = n,
                     .first = first,
                     .end = end,
                     .threshold = threshold,
                     .fills = fills,
                     .range = range,
                     .lock = PTHREAD_MUTEX_INITIALIZER};
    const size_t portions = (s.points + PORTION - 1) / PORTION;
    if (first < end)
        zmpi_pool_run(portions < (size_t)threads ? (int)portions : threads, scan_portions, &s);
}

/* Copies rows of one component from all over the array. */
static void take_rows(const struct scan *s, size_t rows, size_t row, void *copy)
{
    const size_t width = zmpi_type_size(s->type), n = (size_t)s->n;
    for (size_t k = 0; k < rows; k++)
        zmpi_component_take(s->type, s->data + s->points / rows * k * n * width, row * n, s->n,
                            s->first, (unsigned char *)copy + k * row * width);
}

struct zmpi_fill zmpi_component_fill(enum zmpi_type type, const void *src, size_t count, int n,
                                     int c, const struct zmpi_range *range)
{
    const struct scan scan = {
        .type = type, .data = src, .points = count / (size_t)n, .n = n, .first = c};
    const size_t points = scan.points, rows = points < ROWS * ROW ? 1 : ROWS;
    const size_t most = points / rows / ONE_IN;
    const size_t row = rows == 1 ? points : most > ROW ? ROW : most;
    struct zmpi_taken taken;
    if (!(range->min < range->max))
        return ZMPI_FILL_NONE;
    if (rows > 1) {
        taken.type = type;
        taken.rows = ROWS;
        taken.row = FEW;
        take_rows(&scan, ROWS, FEW, taken.copy);
        if (!zmpi_fill_may_be(&taken, range))
            return ZMPI_FILL_NONE;
    }
    double *sample = malloc(ROWS * ROW * sizeof *sample); /* too large for small stacks */
    if (!sample)
        return ZMPI_FILL_NONE;
    take_rows(&scan, rows, row, sample);
    const struct zmpi_sample s = {type, (const unsigned char *)sample, rows, row, row};
    const struct zmpi_fill fill = zmpi_fill_look_at(&s, range);
    free(sample);
    return fill;
}

/* components_range.c - what a bound needs to know of each of several
 * interleaved components. */
#include "judge/components.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/pool.h"

/* Points whose components are taken at once: some KiB of them, and whole groups
 * of all kernels. */
enum { TILE = 1024, TILE_BYTES = 32768, GROUP = 128 };
/* Points that a thread takes at a time. */
enum { PORTION = 32 * TILE };
/* Rows of samples, and their longest length, that tell fill values. */
enum { ROWS = 64, ROW = 256, ONE_IN = 32 };

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

static void scan_tile(const struct scan *s, size_t at, size_t points, struct zmpi_range range[])
{
    const size_t n = (size_t)s->n, width = zmpi_type_size(s->type);
    double tile[TILE];
    for (int c = s->first; c < s->end; c++) {
        struct zmpi_range part;
        zmpi_component_take(s->type, s->data + at * n * width, points * n, s->n, c, tile);
        zmpi_range_without(s->type, tile, points, s->threshold, s->fills, 1, &part);
        zmpi_range_merge(&range[c], &part);
    }
}

static void scan_portions(void *context)
{
    struct scan *s = context;
    struct zmpi_range range[ZMPI_COMPONENTS_MOST];
    const size_t fit = TILE_BYTES / ((size_t)s->n * zmpi_type_size(s->type)) / GROUP * GROUP;
    const size_t most = fit > TILE ? TILE : fit > 0 ? fit : GROUP;
    size_t begin;
    for (int c = s->first; c < s->end; c++)
        range[c] = ZMPI_RANGE_EMPTY;
    while ((begin = atomic_fetch_add(&s->next, PORTION)) < s->points) {
        const size_t end = s->points - begin < PORTION ? s->points : begin + PORTION;
        for (size_t at = begin; at < end; at += most)
            scan_tile(s, at, end - at < most ? end - at : most, range);
    }
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

struct zmpi_fill zmpi_component_fill(enum zmpi_type type, const void *src, size_t count, int n,
                                     int c, const struct zmpi_range *range)
{
    const unsigned char *data = src;
    const size_t width = zmpi_type_size(type), points = count / (size_t)n;
    const size_t rows = points < ROWS * ROW ? 1 : ROWS, most = points / rows / ONE_IN;
    const size_t row = rows == 1 ? points : most > ROW ? ROW : most;
    double *sample = malloc(ROWS * ROW * sizeof *sample); /* too large for small stacks */
    if (!sample)
        return (struct zmpi_fill){0};
    for (size_t k = 0; k < rows; k++)
        zmpi_component_take(type, data + points / rows * k * (size_t)n * width, row * (size_t)n, n,
                            c, (unsigned char *)sample + k * row * width);
    const struct zmpi_sample s = {type, (const unsigned char *)sample, rows, row, row};
    const struct zmpi_fill fill = zmpi_fill_look_at(&s, range);
    free(sample);
    return fill;
}

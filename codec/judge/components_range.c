/* components_range.c - what a bound needs to know of each of several interleaved components. */
#include "judge/components.h"

/* Points whose components are taken while they are in the first-level cache. */
enum { TILE = 2048 };
/* Rows of samples, and their longest length, that tell fill values. */
enum { ROWS = 64, ROW = 256, ONE_IN = 32 };

void zmpi_components_range(enum zmpi_type type, const void *src, size_t count, int n, int first,
                           int end, double threshold, const struct zmpi_fills *fills,
                           struct zmpi_range range[])
{
    const unsigned char *data = src;
    const size_t width = zmpi_type_size(type), points = count / (size_t)n;
    double tile[TILE];
    for (size_t at = 0; at < points; at += TILE) {
        const size_t many = points - at < TILE ? points - at : TILE;
        for (int c = first; c < end; c++) {
            struct zmpi_range part;
            zmpi_component_take(type, data + at * (size_t)n * width, many * (size_t)n, n, c, tile);
            zmpi_range_without(type, tile, many, threshold, fills, 1, &part);
            zmpi_range_merge(&range[c], &part);
        }
    }
}

struct zmpi_fill zmpi_component_fill(enum zmpi_type type, const void *src, size_t count, int n,
                                     int c, const struct zmpi_range *range)
{
    const unsigned char *data = src;
    const size_t width = zmpi_type_size(type), points = count / (size_t)n;
    const size_t rows = points < ROWS * ROW ? 1 : ROWS, most = points / rows / ONE_IN;
    const size_t row = rows == 1 ? points : most > ROW ? ROW : most;
    double sample[ROWS * ROW];
    for (size_t k = 0; k < rows; k++)
        zmpi_component_take(type, data + points / rows * k * (size_t)n * width, row * (size_t)n, n,
                            c, (unsigned char *)sample + k * row * width);
    const struct zmpi_sample s = {type, (const unsigned char *)sample, rows, row, row};
    return zmpi_fill_look_at(&s, range);
}

/* measured.c - errors of a chunk. */
#include "stream/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Errors of numbers; exact values, such as infinities, have none. */
static void add(struct zmpi_measured *m, double x, double y)
{
    const double error = fabs(x - y);
    if (!isfinite(error))
        return;
    m->largest = error > m->largest ? error : m->largest;
    m->squares += error * error;
    m->count++;
}

static void add_row(enum zmpi_type type, const unsigned char *x, const unsigned char *y, size_t n,
                    struct zmpi_measured *m)
{
    for (size_t i = 0; i < n && type == ZMPI_F64; i++) {
        double a, b;
        memcpy(&a, x + i * sizeof a, sizeof a);
        memcpy(&b, y + i * sizeof b, sizeof b);
        add(m, a, b);
    }
    for (size_t i = 0; i < n && type == ZMPI_F32; i++) {
        float a, b;
        memcpy(&a, x + i * sizeof a, sizeof a);
        memcpy(&b, y + i * sizeof b, sizeof b);
        add(m, (double)a, (double)b);
    }
}

void zmpi_measure(const struct zmpi_stream *s, const void *src, struct zmpi_measured *m)
{
    const enum zmpi_type type = s->info.array.type;
    size_t first[3], extent[3];
    if ((type != ZMPI_F32 && type != ZMPI_F64) || s->info.big_endian || s->info.chunks == 0)
        return;
    const size_t k = s->info.chunks / 2;
    zmpi_stream_tile(s, k, first, extent);
    const size_t rows = extent[0] * extent[1], row = extent[2] * s->width;
    struct zmpi_copy *copy = malloc(rows * sizeof *copy);
    unsigned char *need = calloc(s->info.chunks, 1), *decoded = malloc(rows * row);
    if (copy != NULL && need != NULL && decoded != NULL) {
        need[k] = 1;
        for (size_t i = 0; i < rows; i++) {
            const size_t z = first[0] + i / extent[1], y = first[1] + i % extent[1];
            const size_t at = ((z * s->extent[1] + y) * s->extent[2] + first[2]) * s->width;
            copy[i] = (struct zmpi_copy){at, i * row, row};
        }
        const bool done = zmpi_stream_copy(s, need, 1, copy, rows, decoded) == ZMPI_OK;
        for (size_t i = 0; i < rows && done; i++)
            add_row(type, (const unsigned char *)src + copy[i].from, decoded + i * row, extent[2],
                    m);
    }
    free(copy);
    free(need);
    free(decoded);
}

/* measured.c - errors of a chunk. */
#include "stream/measured.h"

#include <math.h>
#include <string.h>

#include "stream/chunk_decoder.h"

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

/* Where coded chunk k lies in the stream. */
static size_t place_of(const struct zmpi_stream *s, size_t k)
{
    size_t at = s->head;
    for (size_t i = 0; i < k; i++)
        at += zmpi_stream_chunk_size(s, i);
    return at;
}

void zmpi_measure(const struct zmpi_stream *s, const void *src, struct zmpi_measured *m)
{
    const enum zmpi_type type = s->info.array.type;
    struct zmpi_chunk_decoder v;
    size_t first[3], extent[3];
    if ((type != ZMPI_F32 && type != ZMPI_F64) || s->info.big_endian || s->info.chunks == 0)
        return;
    const size_t k = s->info.chunks / 2, size = zmpi_stream_chunk_size(s, k);
    zmpi_stream_tile(s, k, first, extent);
    if (!zmpi_chunk_decoder_make(s, 0, NULL, false, &v))
        return;
    if (zmpi_chunk_decoder_run(s, k, s->src + place_of(s, k), size, NULL, &v) == ZMPI_OK)
        for (size_t i = 0; i < extent[0] * extent[1]; i++) {
            const size_t z = first[0] + i / extent[1], y = first[1] + i % extent[1];
            const size_t at = ((z * s->extent[1] + y) * s->extent[2] + first[2]) * s->width;
            add_row(type, (const unsigned char *)src + at, v.words + i * extent[2] * s->width,
                    extent[2], m);
        }
    zmpi_chunk_decoder_free(&v);
}

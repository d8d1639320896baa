/* interp_gain.c - see interp_gain.h. */
#include "stream/interp_gain.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "layout/chunk.h"
#include "layout/stream.h"
#include "stream/compress.h"

/* One chunk in EACH is coded, if the stream has at least LEAST chunks. */
enum { EACH = 16, LEAST = 48 };
/* Encoder 2's bytes for these chunks must be more by this factor. */
#define GAIN 1.08

/* Bytes of chunk k by encoder 2, as a stream of its own; 0: unknown. */
static size_t other_size(const struct zmpi_stream *s, const struct zmpi_job *job,
                         const unsigned char *src, size_t k, unsigned char *tile,
                         unsigned char *coded)
{
    struct zmpi_job one = *job;
    struct zmpi_plan p;
    size_t first[3], extent[3], size;
    const size_t row = s->extent[2] * s->width, plane = s->extent[1] * row;
    zmpi_stream_tile(s, k, first, extent);
    const struct zmpi_rows rows = {.at = (unsigned char *)src + first[0] * plane + first[1] * row +
                                         first[2] * s->width,
                                   .row = row,
                                   .plane = plane};
    zmpi_rows_gather(&rows, extent, extent[2] * s->width, tile);
    for (int i = 0; i < 3; i++)
        one.array.extent[i] = extent[i];
    const size_t capacity = zmpi_compress_capacity(&one.array);
    if (zmpi_plan_make(&one.array, &p) ||
        zmpi_chunks_compress(ZMPI_HUFFMAN, &p, &one, coded, capacity, tile, &size))
        return 0;
    return size;
}

bool zmpi_interp_gains(const struct zmpi_job *job, const void *src, const void *stream, size_t size)
{
    struct zmpi_stream s;
    double ours = 0, others = 0;
    if (job->finer[1] > 0 || zmpi_stream_parse(&s, stream, size) || s.info.chunks < LEAST)
        return false;
    const struct zmpi_array most = {s.info.array.type,
                                    {s.info.tile[0], s.info.tile[1], s.info.tile[2]}};
    size_t bytes = s.width;
    for (int i = 0; i < 3; i++)
        bytes *= s.info.tile[i];
    unsigned char *tile = malloc(bytes), *coded = malloc(zmpi_compress_capacity(&most));
    bool known = tile && coded;
    for (size_t k = EACH / 2; known && k < s.info.chunks; k += EACH) {
        const size_t other = other_size(&s, job, src, k, tile, coded);
        known = other > 0;
        others += (double)other;
        ours += (double)zmpi_load32(s.table + 8 * k);
    }
    free(coded);
    free(tile);
    return known && others >= GAIN * ours;
}

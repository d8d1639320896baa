/* interp_gain.c - see interp_gain.h. */
#include "stream/interp_gain.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/pool.h"
#include "layout/chunk.h"
#include "layout/stream.h"
#include "stream/compress.h"

/* Streams of LEAST chunks are judged, by at most one chunk in EACH, and at least one in FIRST. */
enum { EACH = 8, FIRST = 64, LEAST = 48, PAIR = 2 };
/* By m chunks, encoder 2's bytes must be more by GAIN + DOUBT / m. */
#define GAIN  1.03
#define DOUBT 0.1

/* Chunk number k to look at; they are far from each other, and unlike periods of the data. */
static size_t place_of(size_t k, size_t chunks)
{
    const double at = 0.5 + (double)k * 0.6180339887498949; /* the golden section */
    return (size_t)((at - floor(at)) * (double)chunks);
}

/* Bytes of chunk k by encoder 2, as a stream of its own; 0: unknown. */
static size_t other_size(const struct zmpi_stream *s, const struct zmpi_job *job,
                         const unsigned char *src, size_t k, unsigned char *tile,
                         unsigned char *coded)
{
    struct zmpi_job one = *job;
    struct zmpi_plan p;
    one.threads = 1;
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

/* Two chunks at a time, which may have a thread each. */
struct pair {
    const struct zmpi_stream *s;
    const struct zmpi_job *job;
    const unsigned char *src;
    size_t chunk[PAIR], size[PAIR]; /* by encoder 2 */
    atomic_int next;
};

static void code_pair(void *context)
{
    struct pair *p = context;
    const struct zmpi_array most = {p->s->info.array.type,
                                    {p->s->info.tile[0], p->s->info.tile[1], p->s->info.tile[2]}};
    size_t bytes;
    zmpi_array_bytes(&most, &bytes);
    unsigned char *tile = malloc(bytes), *coded = malloc(zmpi_compress_capacity(&most));
    for (int i; tile && coded && (i = atomic_fetch_add(&p->next, 1)) < PAIR;)
        p->size[i] = other_size(p->s, p->job, p->src, p->chunk[i], tile, coded);
    free(coded);
    free(tile);
}

bool zmpi_interp_gains(const struct zmpi_job *job, const void *src, const void *stream, size_t size)
{
    struct zmpi_stream s;
    double ours = 0, others = 0;
    if (job->finer[1] > 0 || zmpi_stream_parse(&s, stream, size) || s.info.chunks < LEAST)
        return false;
    for (size_t m = 0; m + PAIR <= s.info.chunks / EACH; m += PAIR) {
        struct pair p = {.s = &s, .job = job, .src = src};
        for (size_t i = 0; i < PAIR; i++)
            p.chunk[i] = place_of(m + i, s.info.chunks);
        zmpi_pool_run(job->threads < PAIR ? job->threads : PAIR, code_pair, &p);
        for (size_t i = 0; i < PAIR; i++) {
            if (!p.size[i])
                return false;
            others += (double)p.size[i];
            ours += (double)zmpi_load32(s.table + 8 * p.chunk[i]);
        }
        if (m + PAIR >= s.info.chunks / FIRST &&
            others >= (GAIN + DOUBT / (double)(m + PAIR)) * ours)
            return true;
    }
    return false;
}

/*
 * coll_sample.c - tries both encoders on a part of a call's data while nothing is known about the
 * second one. A wrong guess would cost whole calls by the slower encoder.
 */
#include <math.h>
#include <stdlib.h>

#include "collective/coll.h"
#include "stream/compress_job.h"

enum {
    SAMPLE = 128 << 10,
    LEAST = 8 * SAMPLE /* bytes of a block; for a smaller one a sample costs too much */
};

/* Codes twice and takes the better time, since the first run gets its memory from the system. */
static bool code(const struct zmpi_job *job, const unsigned char *data, double *seconds,
                 size_t *size)
{
    const size_t capacity = zmpi_compress_capacity(&job->array);
    unsigned char *dst = malloc(capacity);
    bool done = dst != NULL;
    *seconds = INFINITY;
    for (int k = 0; k < 2 && done; k++) {
        const double start = zmpi_seconds();
        done = !zmpi_job_compress(zmpi_device_cpu(), job, dst, capacity, data, size);
        *seconds = fmin(*seconds, zmpi_seconds() - start);
    }
    free(dst);
    return done;
}

static void take(struct zcall *c, const struct zblock *b, const unsigned char *data, size_t bytes)
{
    double seconds[ZCODECS];
    size_t size[ZCODECS];
    for (int k = 0; k < ZCODECS; k++) {
        struct zmpi_job job;
        if (!zpiece_job(c, b, data, bytes, k + 1, &job) || !code(&job, data, &seconds[k], &size[k]))
            return;
    }
    if (seconds[0] > 0)
        c->sample = (struct zsample){.seconds = {seconds[0], seconds[1]},
                                     .smaller = (double)size[0] / (double)size[1]};
}

void zcall_sample(struct zcall *c, const struct zblock *b, unsigned char *scratch)
{
    const double start = zmpi_seconds();
    struct zpart part;
    if (b->bytes < LEAST || b->holder || zapart_number(c) || !zcall_picks(c) ||
        zcall_wants_ratio(c) || c->state->codec[c->op].smaller > 0)
        return;
    /* Scratch memory has the size of a piece, which the user may have set smaller. */
    const uint64_t bytes = zblock_whole(b, b->piece < SAMPLE ? b->piece : SAMPLE);
    const uint64_t at = b->bytes / 2 / bytes * bytes;
    if (zblock_read(b, at, bytes, scratch, &part)) {
        take(c, b, part.data, bytes);
        zpart_free(&part);
    }
    c->scan += zmpi_seconds() - start;
}

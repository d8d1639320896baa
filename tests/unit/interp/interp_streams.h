/* interp_streams.h - what the tests of encoder 3 and of its profile FLARE share: streams, and data.
 */
#ifndef ZMPI_INTERP_STREAMS_H
#define ZMPI_INTERP_STREAMS_H

#include "field.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "device.h"

static struct kit_stream compress_by(const struct zmpi_array *a, struct zmpi_bound bound,
                                     int encoder, enum zmpi_variant variant, int threads,
                                     const void *src)
{
    struct zmpi_range range;
    struct zmpi_job job;
    size_t capacity = zmpi_compress_capacity(a);
    struct kit_guarded to = kit_guard(capacity, true); /* no write behind it */
    struct kit_stream s = {NULL, 0};
    zmpi_range_of(a->type, src, kit_elements(a), &range);
    cr_assert_eq(zmpi_job_make(a, &bound, &range, &job), ZMPI_OK);
    job.encoder = encoder;
    job.variant = variant;
    job.threads = threads;
    enum zmpi_status status = zmpi_device_cpu()->compress(&job, to.data, capacity, src, &s.size);
    cr_assert_eq(status, ZMPI_OK, "%s", zmpi_strerror(status));
    s.data = malloc(s.size);
    memcpy(s.data, to.data, s.size);
    kit_unguard(&to);
    return s;
}

/* 0: by another encoder. */
static int family_of(const struct kit_stream *s)
{
    struct zmpi_stream_info info;
    cr_assert_eq(zmpi_stream_info(s->data, s->size, &info), ZMPI_OK);
    return info.encoder == ZMPI_INTERP ? info.family : 0;
}

/* Waves in all directions, which the lattice and Lorenzo both predict; with a hole in them. */
static void *make_waves(const struct zmpi_array *a, double offset, double fill)
{
    unsigned char *src = malloc(kit_bytes(a));
    size_t i = 0;
    for (size_t z = 0; z < a->extent[0]; z++)
        for (size_t y = 0; y < a->extent[1]; y++)
            for (size_t x = 0; x < a->extent[2]; x++, i++) {
                const double v = sin(0.21 * (double)x + 0.1 * (double)z) * cos(0.13 * (double)y);
                const bool hole = fill > 0 && x > 5 && x + 3 * y < 40;
                kit_put(a->type, src, i, hole ? fill : offset + v + 1e-3 * sin((double)(i * i)));
            }
    return src;
}

/* With checksums that are right again. */
static void mend(unsigned char *s, const struct zmpi_stream *p)
{
    const size_t table = p->info.chunks * 8;
    size_t at = p->head;
    for (size_t k = 0; k < p->info.chunks; k++) {
        const size_t size = zmpi_load32(s + 80 + 8 * k);
        zmpi_store32(s + 84 + 8 * k, (uint32_t)zmpi_hash(s + at, size, 0));
        at += size;
    }
    zmpi_store64(s + 72, zmpi_hash2(s, 72, s + 80, table + p->books_size, 0));
}

#endif

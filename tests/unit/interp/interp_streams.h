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

/* Data of a kind, and words about them. */
static void *make_kind(const struct zmpi_array *a, struct zmpi_bound bound, enum kit_data kind,
                       char what[100])
{
    struct kit_random r = {11 + kit_elements(a)};
    snprintf(what, 100, "type %d, %zux%zux%zu, kind %d, mode %d", a->type, a->extent[0],
             a->extent[1], a->extent[2], kind, bound.mode);
    return kit_make(&r, a, kind);
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

/* Flips bytes with wrong checksums, then with right ones, and cuts the stream. pass: bytes behind
 * the table to be damaged less often. */
static void damage_stream(const struct zmpi_array *a, const struct kit_stream *s, size_t pass)
{
    struct kit_random r = {3};
    struct zmpi_stream p;
    cr_assert_eq(zmpi_stream_parse(&p, s->data, s->size), ZMPI_OK);
    struct kit_guarded in = kit_guard(s->size, true), out = kit_guard(kit_bytes(a), true);
    int refused = 0;
    for (int i = 0; i < (test_long() ? 3000 : 400); i++) {
        memcpy(in.data, s->data, s->size);
        const size_t from = 80 + 8 * p.info.chunks + (i % 4 ? pass : 0), left = s->size - from;
        const size_t spread = i % 2 || left < 160 ? left : 160;
        for (int k = 0; k <= i % 3; k++)
            in.data[from + kit_below(&r, spread)] ^= (unsigned char)(1 + kit_below(&r, 255));
        cr_assert_neq(zmpi_decompress(out.data, kit_bytes(a), in.data, s->size), ZMPI_OK);
        mend(in.data, &p);
        enum zmpi_status status = zmpi_decompress(out.data, kit_bytes(a), in.data, s->size);
        cr_assert(status == ZMPI_OK || status == ZMPI_ERR_CORRUPT || status == ZMPI_ERR_VERSION,
                  "%s", zmpi_strerror(status));
        refused += status != ZMPI_OK;
    }
    cr_assert_gt(refused, 100, "%d", refused); /* what a chunk ends with tells */
    for (size_t size = 0; size < s->size; size += 1 + s->size / 97)
        cr_assert_eq(zmpi_decompress(out.data, kit_bytes(a), s->data, size), ZMPI_ERR_TRUNCATED);
    kit_unguard(&in);
    kit_unguard(&out);
}

#endif

/* check.h - compares streams by PEs with those of the CPU, and decodes both. */
#ifndef ZMPI_TEST_WSE_CHECK_H
#define ZMPI_TEST_WSE_CHECK_H

#include "../../unit/kit.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "bound/ratio.h"
#include "layout/chunk.h"
#include "stream/compress_job.h"
#include "wse.h"

/* Decompresses a stream on `to`, as the CPU does. */
static inline void check_back(struct chip *to, const struct zmpi_array *a,
                              const struct kit_stream *coded, const char *what,
                              struct wse_count *count)
{
    struct zmpi_stream s;
    void *right = kit_decompress(coded);
    unsigned char *back = malloc(kit_bytes(a) + 1);
    cr_assert_not_null(back);
    cr_assert_eq(zmpi_stream_parse(&s, coded->data, coded->size), ZMPI_OK);
    memset(back, 0xee, kit_bytes(a));
    enum zmpi_status status = wse_decompress(to, &s, NULL, back, count);
    cr_assert_eq(status, ZMPI_OK, "%s: %s", zmpi_strerror(status), to->problem ? to->problem : "");
    cr_assert(memcmp(back, right, kit_bytes(a)) == 0,
              "%zux%zux%zu %s: decoded otherwise than on the CPU", a->extent[0], a->extent[1],
              a->extent[2], what);
    free(back);
    free(right);
}

/* Compresses the data on `from` and decompresses them on `to`; the bytes must be the CPU's. axes:
 * as in a job. count: the chunks that PEs coded, and decoded. */
static inline void check_along(struct chip *from, struct chip *to, const struct zmpi_array *a,
                               struct zmpi_bound bound, unsigned axes, const void *data,
                               struct wse_count count[2])
{
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    struct zmpi_job job;
    size_t capacity = zmpi_compress_capacity(a), size = 0;
    struct kit_stream expected = {malloc(capacity), 0};
    unsigned char *coded = malloc(capacity);
    char text[40];
    cr_assert_not_null(coded);
    zmpi_bound_format(&bound, text);
    zmpi_range_of(a->type, data, kit_elements(a), &range);
    cr_assert_eq(zmpi_job_make(a, &bound, &range, &job), ZMPI_OK);
    zmpi_job_look(&job, data); /* as a call that goes to a device does */
    job.axes = axes;
    cr_assert_eq(
        zmpi_job_compress(zmpi_device_cpu(), &job, expected.data, capacity, data, &expected.size),
        ZMPI_OK);
    if (!zmpi_job_is_for_cpu(&job) && wse_takes_job(&job)) {
        enum zmpi_status status = wse_compress(from, &job, coded, capacity, data, &size, &count[0]);
        cr_assert_eq(status, ZMPI_OK, "%s: %s", zmpi_strerror(status),
                     from->problem ? from->problem : "");
        cr_assert(size == expected.size && memcmp(coded, expected.data, size) == 0,
                  "%zux%zux%zu %s: other bytes than on the CPU", a->extent[0], a->extent[1],
                  a->extent[2], text);
    }
    check_back(to, a, &expected, text, &count[1]);
    free(coded);
    free(expected.data);
}

static inline void check_bytes(struct chip *from, struct chip *to, const struct zmpi_array *a,
                               struct zmpi_bound bound, const void *data, struct wse_count count[2])
{
    check_along(from, to, a, bound, 0, data, count);
}

enum { CHECK_HEAD = 88 }; /* of a stream of one chunk */

/* Makes a changed stream of one chunk valid again. */
static inline void check_seal(struct kit_stream *s)
{
    const size_t size = s->size - CHECK_HEAD;
    zmpi_store32(s->data + 80, (uint32_t)size);
    zmpi_store32(s->data + 84, (uint32_t)zmpi_hash(s->data + CHECK_HEAD, size, 0));
    zmpi_store64(s->data + 64, s->size);
    zmpi_store64(s->data + 72, zmpi_hash2(s->data, 72, s->data + 80, 8, 0));
}

/* Planes of block k in the chunk of such a stream whose blocks all have `length` bits. */
static inline unsigned char *check_planes(const struct kit_stream *s, const struct zmpi_array *a,
                                          unsigned length, size_t k)
{
    const size_t blocks = (kit_elements(a) + 31) / 32;
    return s->data + CHECK_HEAD + 12 + (blocks + 3) / 4 * 4 + 4 * k * (length + 1);
}

/* Makes a stream of one chunk whose residuals have `length` bits, random ones, or with few bits
 * set; 0 if there is no random generator. */
static inline struct kit_stream check_residuals(struct kit_random *r, const struct zmpi_array *a,
                                                unsigned length, unsigned axes)
{
    float *data = calloc(kit_elements(a), sizeof *data);
    struct kit_stream s = kit_compress(a, kit_abs(1e-5), data);
    const uint32_t mask = !r ? 0 : kit_below(r, 2) ? UINT32_MAX : (uint32_t)kit_next(r);
    const size_t blocks = (kit_elements(a) + 31) / 32;
    unsigned char *end = check_planes(&s, a, length, blocks);
    s.size = (size_t)(end - s.data);
    s.data = realloc(s.data, s.size);
    cr_assert(data && s.data);
    unsigned char *chunk = s.data + CHECK_HEAD;
    memset(chunk, 0, s.size - CHECK_HEAD);
    chunk[0] = ZMPI_MAP_QUANTIZED;
    chunk[1] = (unsigned char)axes;
    zmpi_store32(chunk + 4, 0x3f000000); /* 0.5 */
    zmpi_store32(chunk + 8, r ? (uint32_t)kit_below(r, 1 << 22) : 0);
    memset(chunk + 12, (int)length, blocks);
    for (size_t k = 0; k < blocks && r; k++)
        for (size_t i = 0; i <= length; i++)
            zmpi_store32(check_planes(&s, a, length, k) + 4 * i,
                         (uint32_t)kit_next(r) & (kit_below(r, 3) ? mask : 0));
    check_seal(&s);
    free(data);
    return s;
}

#endif

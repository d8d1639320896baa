/* check.h - streams by PEs against those of the CPU, and both back. */
#ifndef ZMPI_TEST_WSE_CHECK_H
#define ZMPI_TEST_WSE_CHECK_H

#include "../../unit/kit.h"
#include "bytes.h"
#include "chunk.h"
#include "hash.h"
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

/* Compresses the data on `from` and decompresses them on `to`; the bytes must be the CPU's. count:
 * of chunks coded, and decoded. */
static inline void check_bytes(struct chip *from, struct chip *to, const struct zmpi_array *a,
                               struct zmpi_bound bound, const void *data, struct wse_count count[2])
{
    struct kit_stream expected = kit_compress(a, bound, data);
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    struct zmpi_job job;
    size_t capacity = zmpi_compress_capacity(a), size = 0;
    unsigned char *coded = malloc(capacity);
    char text[40];
    cr_assert_not_null(coded);
    zmpi_bound_format(&bound, text);
    zmpi_range_of(a->type, data, kit_elements(a), &range);
    cr_assert_eq(zmpi_job_make(a, &bound, &range, &job), ZMPI_OK);
    if (wse_takes_job(&job)) {
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

enum { CHECK_HEAD = 88, CHECK_PLANES = 12 + 256 }; /* of a stream of one chunk of 8192 elements */

/* Make a stream of one chunk valid that was changed. */
static inline void check_seal(struct kit_stream *s)
{
    const size_t size = s->size - CHECK_HEAD;
    zmpi_store32(s->data + 80, (uint32_t)size);
    zmpi_store32(s->data + 84, (uint32_t)zmpi_hash(s->data + CHECK_HEAD, size, 0));
    zmpi_store64(s->data + 64, s->size);
    zmpi_store64(s->data + 72, zmpi_hash2(s->data, 72, s->data + 80, 8, 0));
}

/* A stream of one chunk, of 8192 residuals of `length` bits: random ones, or with few bits set. */
static inline struct kit_stream check_residuals(struct kit_random *r, const struct zmpi_array *a,
                                                const float *data, unsigned length, unsigned axes)
{
    struct kit_stream s = kit_compress(a, kit_abs(1e-5), data);
    const uint32_t mask = kit_below(r, 2) ? UINT32_MAX : (uint32_t)kit_next(r);
    const size_t size = CHECK_PLANES + 256 * 4 * (size_t)(length + 1);
    cr_assert_eq(kit_elements(a), 8192);
    s.size = CHECK_HEAD + size;
    s.data = realloc(s.data, s.size);
    unsigned char *chunk = s.data + CHECK_HEAD;
    chunk[0] = ZMPI_MAP_QUANTIZED;
    chunk[1] = (unsigned char)axes;
    chunk[2] = chunk[3] = 0;
    memset(chunk + 12, (int)length, 256);
    for (size_t i = CHECK_PLANES; i < size; i += 4)
        zmpi_store32(chunk + i, (uint32_t)kit_next(r) & (kit_below(r, 3) ? mask : 0));
    check_seal(&s);
    return s;
}

#endif

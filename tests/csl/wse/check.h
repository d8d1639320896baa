/* check.h - streams by PEs against those of the CPU, and both back. */
#ifndef ZMPI_TEST_WSE_CHECK_H
#define ZMPI_TEST_WSE_CHECK_H

#include "../../unit/kit.h"
#include "wse.h"

/* Compresses the data on `from` and decompresses them on `to`; the bytes must be the CPU's. count:
 * of chunks coded, and decoded. */
static inline void check_bytes(struct chip *from, struct chip *to, const struct zmpi_array *a,
                               struct zmpi_bound bound, const void *data, struct wse_count count[2])
{
    struct kit_stream expected = kit_compress(a, bound, data);
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    struct zmpi_job job;
    struct zmpi_stream s;
    size_t capacity = zmpi_compress_capacity(a), size = 0;
    unsigned char *coded = malloc(capacity), *back = malloc(kit_bytes(a) + 1);
    void *right = kit_decompress(&expected);
    char text[40];
    cr_assert(coded && back);
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
    cr_assert_eq(zmpi_stream_parse(&s, expected.data, expected.size), ZMPI_OK);
    memset(back, 0xee, kit_bytes(a));
    enum zmpi_status status = wse_decompress(to, &s, NULL, back, &count[1]);
    cr_assert_eq(status, ZMPI_OK, "%s: %s", zmpi_strerror(status), to->problem ? to->problem : "");
    cr_assert(memcmp(back, right, kit_bytes(a)) == 0,
              "%zux%zux%zu %s: decoded otherwise than on the CPU", a->extent[0], a->extent[1],
              a->extent[2], text);
    free(coded);
    free(back);
    free(right);
    free(expected.data);
}

#endif

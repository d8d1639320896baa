/* flat.c - how much lies in chunks that became constants, and was none. */
#include "judge/flat.h"

#include "bound/ratio.h"
#include "kit.h"
#include "stream/compress_job.h"

enum { N = 200000 };

static uint64_t flat_by(enum zmpi_type type, int encoder, double wave)
{
    const struct zmpi_array a = kit_array(type, 1, 1, N);
    const struct zmpi_bound bound = kit_rel(1e-3);
    const size_t capacity = zmpi_compress_capacity(&a);
    unsigned char *x = malloc(kit_bytes(&a)), *coded = malloc(capacity);
    struct zmpi_stream s;
    struct zmpi_range range;
    struct zmpi_job job;
    size_t size;
    cr_assert(x && coded);
    for (size_t i = 0; i < N; i++)
        kit_put(type, x, i, i < N / 2 ? wave * sin((double)i) : 1000 * cos(0.1 * (double)i));
    zmpi_range_of(type, x, N, &range);
    cr_assert(!zmpi_job_make(&a, &bound, &range, &job));
    job.encoder = encoder;
    cr_assert(!zmpi_job_compress(zmpi_device_cpu(), &job, coded, capacity, x, &size));
    cr_assert(!zmpi_stream_parse(&s, coded, size));
    const uint64_t flat = zmpi_flat_count(&s, x);
    free(coded);
    free(x);
    return flat;
}

/* A field of 1000 beside one of 0.1, which a bound of 2 makes zero; a true constant is none that
 * became one. */
Test(flat, half)
{
    for (int encoder = ZMPI_FLE; encoder <= ZMPI_HUFFMAN; encoder++)
        for (int t = 0; t < 2; t++) {
            const enum zmpi_type type = t ? ZMPI_F64 : ZMPI_F32;
            const uint64_t flat = flat_by(type, encoder, 0.1);
            cr_assert(flat > N / 2 - 10000 && flat <= N / 2, "%llu", (unsigned long long)flat);
            cr_assert_eq(flat_by(type, encoder, 0), 0);
            cr_assert_eq(flat_by(type, encoder, 900), 0);
        }
}

/* Encoder 3 has chunks of all of this array: none is a constant. */
Test(flat, interp)
{
    cr_assert_eq(flat_by(ZMPI_F32, ZMPI_INTERP, 900), 0);
}

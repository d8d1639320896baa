/* flat.c - how much lies in chunks that became constants, and was none. */
#include "stream/flat.h"

#include "bound/ratio.h"
#include "kit.h"
#include "stream/compress_job.h"

enum { N = 200000 };

/* Element i of an array. */
typedef double value_fn(const struct zmpi_array *a, size_t i, double wave);

static uint64_t flat_of(const struct zmpi_array *a, struct zmpi_bound bound, int encoder,
                        value_fn *value, double wave)
{
    const size_t capacity = zmpi_compress_capacity(a);
    unsigned char *x = malloc(kit_bytes(a)), *coded = malloc(capacity);
    struct zmpi_stream s;
    struct zmpi_range range;
    struct zmpi_job job;
    size_t size, count;
    cr_assert(x && coded && !zmpi_array_count(a, &count));
    for (size_t i = 0; i < count; i++)
        kit_put(a->type, x, i, value(a, i, wave));
    zmpi_range_of(a->type, x, count, &range);
    cr_assert(!zmpi_job_make(a, &bound, &range, &job));
    job.encoder = encoder;
    cr_assert(!zmpi_job_compress(zmpi_device_cpu(), &job, coded, capacity, x, &size));
    cr_assert(!zmpi_stream_parse(&s, coded, size));
    const uint64_t flat = zmpi_flat_count(&s, x);
    free(coded);
    free(x);
    return flat;
}

/* A field of 1000 beside one of `wave`. */
static double half_of_both(const struct zmpi_array *a, size_t i, double wave)
{
    return i < a->extent[2] / 2 ? wave * sin((double)i) : 1000 * cos(0.1 * (double)i);
}

/* A bound of 2 makes zero of 0.1; a true constant is none that became one. */
Test(flat, half)
{
    for (int encoder = ZMPI_FLE; encoder <= ZMPI_HUFFMAN; encoder++)
        for (int t = 0; t < 2; t++) {
            const struct zmpi_array a = kit_array(t ? ZMPI_F64 : ZMPI_F32, 1, 1, N);
            const uint64_t flat = flat_of(&a, kit_rel(1e-3), encoder, half_of_both, 0.1);
            cr_assert(flat > N / 2 - 10000 && flat <= N / 2, "%llu", (unsigned long long)flat);
            cr_assert_eq(flat_of(&a, kit_rel(1e-3), encoder, half_of_both, 0), 0);
            cr_assert_eq(flat_of(&a, kit_rel(1e-3), encoder, half_of_both, 900), 0);
        }
}

/* Encoder 3 has larger chunks. */
Test(flat, interp)
{
    const struct zmpi_array small = kit_array(ZMPI_F32, 1, 1, N),
                            a = kit_array(ZMPI_F32, 1, 1, 8 * N);
    cr_assert_eq(flat_of(&small, kit_rel(1e-3), ZMPI_INTERP, half_of_both, 900), 0);
    cr_assert_eq(flat_of(&a, kit_rel(1e-3), ZMPI_INTERP, half_of_both, 0), 0);
    const uint64_t flat = flat_of(&a, kit_rel(1e-3), ZMPI_INTERP, half_of_both, 0.1);
    cr_assert(flat > 2 * N && flat <= 4 * N, "%llu", (unsigned long long)flat);
}

static double by_row(const struct zmpi_array *a, size_t i, double wave)
{
    return wave * (double)(i / a->extent[2] % a->extent[1]);
}

static double by_plane(const struct zmpi_array *a, size_t i, double wave)
{
    return wave * (double)(i / a->extent[2] / a->extent[1]);
}

/* What varies from row to row alone, or from plane to plane. */
Test(flat, rows_and_planes)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 40, 48, 64);
    const struct zmpi_bound abs_ten = {ZMPI_ABS, 10};
    for (int encoder = ZMPI_FLE; encoder <= ZMPI_INTERP; encoder++) {
        cr_assert_eq(flat_of(&a, abs_ten, encoder, by_row, 1e-3), (uint64_t)40 * 48 * 64);
        cr_assert_eq(flat_of(&a, abs_ten, encoder, by_plane, 1e-3), (uint64_t)40 * 48 * 64);
    }
}

/* Stretches that vary, one of three, and true constants between them. */
static double in_turns(const struct zmpi_array *a, size_t i, double wave)
{
    return i * 48 / a->extent[2] % 3 == 1 ? wave * (double)(i % 7) : 0;
}

/* Of many constants some are looked at. */
Test(flat, many)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 40 * N);
    const struct zmpi_bound abs_one = {ZMPI_ABS, 1};
    const double share =
        (double)flat_of(&a, abs_one, ZMPI_FLE, in_turns, 1e-3) / (double)a.extent[2];
    cr_assert(share > 0.25 && share < 0.42, "%g", share);
}

/* axes.c - the axes chosen once per array (format.md 4.6), against the page's words. */
#include "axes_model.h"

static void check(const struct zmpi_job *job, const unsigned char *data, size_t bytes)
{
    struct model m = model_new(job, data, bytes);
    cr_assert_eq(zmpi_axes_choose(job, data), expected_axes(&m), "type %d, %zux%zux%zu, bound %g",
                 m.type, job->array.extent[0], job->array.extent[1], job->array.extent[2],
                 job->abs_bound);
    model_free(&m);
}

static void check_type(enum zmpi_type type, size_t most)
{
    struct kit_random r = {(uint64_t)type};
    for (int i = 0; i < 150; i++) {
        struct zmpi_array a =
            kit_array(type, 1 + kit_below(&r, 12), 1 + kit_below(&r, 40), 1 + kit_below(&r, most));
        if (type == ZMPI_BYTES)
            a.extent[0] = a.extent[1] = 1;
        struct zmpi_bound bound = {i % 4 ? ZMPI_REL : ZMPI_LOSSLESS, i % 4 ? 1e-3 : 0};
        struct zmpi_range range;
        struct zmpi_job job;
        size_t bytes;
        zmpi_array_bytes(&a, &bytes);
        unsigned char *data = kit_make(&r, &a, (enum kit_data)kit_below(&r, KIT_DATA_KINDS));
        zmpi_range_of(type, data, bytes / zmpi_type_size(type), &range);
        cr_assert_eq(zmpi_job_make(&a, &bound, &range, &job), ZMPI_OK);
        check(&job, data, bytes);
        free(data);
    }
}

Test(axes, as_the_format_says)
{
    check_type(ZMPI_F32, 300);
    check_type(ZMPI_F64, 300);
    check_type(ZMPI_I32, 20);
    check_type(ZMPI_I64, 300);
    check_type(ZMPI_BYTES, 300000);
}

/* Where nothing can be quantized: x. */
Test(axes, nothing_to_tell)
{
    float data[64 * 64];
    for (size_t i = 0; i < KIT_COUNT(data); i++)
        data[i] = NAN;
    struct zmpi_job job = {.array = kit_array(ZMPI_F32, 1, 64, 64), .abs_bound = 1, .threads = 1};
    cr_assert_eq(zmpi_axes_choose(&job, data), ZMPI_AXIS_X);
}

/* Those that a job has are taken, by every chunk that has so many dimensions. */
Test(axes, given)
{
    struct kit_random r = {5};
    const struct zmpi_array a = kit_array(ZMPI_F32, 16, 16, 32);
    float *data = kit_make(&r, &a, KIT_SMOOTH);
    const size_t capacity = zmpi_compress_capacity(&a), first = ZMPI_STREAM_HEADER_BYTES + 8;
    for (unsigned axes = 0; axes < 8; axes++) {
        struct zmpi_job job = {.array = a, .bound = kit_abs(1e-3), .abs_bound = 0.0009765625};
        struct kit_stream s = {malloc(capacity), 0};
        job.keep = (double)INFINITY;
        job.threads = 1;
        job.encoder = ZMPI_FLE;
        job.axes = ZMPI_AXES_GIVEN | axes;
        cr_assert_eq(zmpi_axes_choose(&job, data), axes);
        cr_assert_eq(zmpi_device_cpu()->compress(&job, s.data, capacity, data, &s.size), ZMPI_OK);
        cr_assert_eq(s.data[first + 1], axes);
        void *back = kit_decompress(&s);
        kit_check(&a, data, back, job.abs_bound, "given axes");
        free(back);
        free(s.data);
    }
    free(data);
}

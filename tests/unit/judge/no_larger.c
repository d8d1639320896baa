/*
 * no_larger.c - by the same absolute bound, judged data take no more space than data that nobody
 * has judged: one row, without fill values, whole numbers and a shape. Coded chunks tell whether a
 * shape gains; by fle, so that one field by huffman at one bound is larger.
 */
#include <math.h>

#include "bound/fill.h"
#include "field.h"
#include "judge/shape.h"
#include "stream/compress_job.h"

enum { FIELDS = 40, BOUNDS = 7 };

static int compared, larger;
static double worst, logs;

static size_t size_of(const struct field *f, const size_t shape[3], double bound, int encoder,
                      bool judged)
{
    const struct zmpi_array a = kit_array(f->array.type, shape[0], shape[1], shape[2]);
    const struct zmpi_bound abs = {ZMPI_ABS, bound};
    const struct zmpi_range none = ZMPI_RANGE_EMPTY;
    const size_t capacity = zmpi_compress_capacity(&a);
    unsigned char *coded = malloc(capacity);
    struct zmpi_job job;
    size_t size;
    cr_assert(coded && !zmpi_job_make(&a, &abs, &none, &job));
    zmpi_job_threshold(&job, 1e20);
    job.encoder = encoder;
    if (judged)
        zmpi_job_look(&job, f->data);
    cr_assert(!zmpi_device_cpu()->compress(&job, coded, capacity, f->data, &size));
    free(coded);
    return size;
}

static void check(const struct field *f)
{
    const size_t n = kit_elements(&f->array), row[3] = {1, 1, n};
    struct zmpi_range range;
    zmpi_fill_range(f->array.type, f->data, n, 1e20, NULL, 1, &range);
    for (int tenths = 1; tenths <= BOUNDS; tenths++)
        for (int encoder = ZMPI_FLE; encoder <= ZMPI_HUFFMAN; encoder++) {
            const double bound = pow(10, -tenths) * (range.max - range.min);
            const struct zmpi_bound abs = {ZMPI_ABS, bound};
            size_t shape[3];
            zmpi_shape_find(f->array.type, &abs, 1e20, &(struct zmpi_column){f->data, n, 1}, n,
                            shape);
            const size_t judged = size_of(f, shape, bound, encoder, true),
                         before = size_of(f, row, bound, encoder, false);
            const double ratio = (double)judged / (double)before;
            compared++;
            larger += ratio > 1.01;
            worst = ratio > worst ? ratio : worst;
            logs += log(ratio);
        }
}

Test(no_larger, fields)
{
    each_field(check);
    cr_assert_leq(worst, 1.03, "%.3f times as large", worst);
    cr_assert_leq(larger, 1, "%d of %d are larger", larger, compared);
    if (compared == FIELDS * BOUNDS * 2)
        cr_assert_leq(exp(logs / compared), 0.85, "%.3f in the mean", exp(logs / compared));
}

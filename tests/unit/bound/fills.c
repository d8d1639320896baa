/*
 * fills.c - fill values that a user names are exact wherever they lie, and have no part in the
 * range (format.md 4.2): by every encoder and bound, in every set of kernels.
 */
#include "bound/fill.h"
#include "bound/ratio.h"
#include "kernels/kernels.h"
#include "layout/fills.h"

#include "kit.h"
#include "stream/compress_job.h"

enum { Z = 5, Y = 70, X = 131, N = Z * Y * X };

static const double bound_of_rel = 1e-3;

/* The NaN that an encoder puts in the place of the first value, and its neighbour. */
static const uint64_t nans[2][2] = {{0x7FD20000, 0x7FD20001},
                                    {0x7FFA400000000000, 0x7FFA400000000001}};

/* 250 to 310, without what is a fill value; land, a coast, single ones; NaN. */
static void *make(enum zmpi_type type, const struct zmpi_fills *fills)
{
    const size_t width = zmpi_type_size(type);
    unsigned char *x = malloc(N * width);
    cr_assert_not_null(x);
    for (size_t i = 0; i < N; i++) {
        double v = 280 + 20 * sin(2e-3 * (double)i) + 10 * cos(0.05 * (double)(i % X));
        for (int k = 0; k < fills->count; k++)
            v += v == fills->value[k];
        const int k = (int)(i / 9000 % 2) % fills->count;
        if (i / 3000 % 3 == 0 || i % 97 == 0 || (i / 5000 == 4 && i % 3))
            v = fills->value[k];
        kit_put(type, x, i, v);
    }
    memcpy(x + 77 * width, &nans[type == ZMPI_F64][0], width);
    memcpy(x + (N - 9) * width, &nans[type == ZMPI_F64][1], width);
    return x;
}

static bool is_fill(enum zmpi_type type, double x, const struct zmpi_fills *fills)
{
    for (int k = 0; k < fills->count; k++)
        if (x == (type == ZMPI_F32 ? (double)(float)fills->value[k] : fills->value[k]))
            return true;
    return false;
}

static struct zmpi_job job_of(const struct zmpi_array *a, struct zmpi_bound bound, int encoder,
                              const struct zmpi_fills *fills, const void *x)
{
    struct zmpi_fills named = *fills;
    struct zmpi_range range;
    struct zmpi_job job;
    zmpi_fill_range(a->type, x, N, 0, &named, 2, &range);
    cr_assert(range.min > 249 && range.max < 312, "range %g to %g", range.min, range.max);
    cr_assert(!zmpi_job_make(a, &bound, &range, &job));
    zmpi_job_fills(&job, fills);
    job.encoder = encoder;
    return job;
}

/* All but fill values and NaN within the bound: of them, the root mean square error within rmse. */
static void check(const struct zmpi_array *a, const struct zmpi_job *job, const void *x,
                  const void *y, double abs_bound)
{
    const size_t width = zmpi_type_size(a->type);
    double squares = 0, count = 0;
    for (size_t i = 0; i < N; i++) {
        const double was = kit_get(a->type, x, i), is = kit_get(a->type, y, i);
        const bool kept = is_fill(a->type, was, &job->fills) || isnan(was);
        const double limit =
            job->bound.mode == ZMPI_PW_REL ? job->bound.value * fabs(was) : abs_bound;
        if (kept)
            cr_assert(memcmp((const char *)x + i * width, (const char *)y + i * width, width) == 0,
                      "element %zu: %g became %g", i, was, is);
        else
            cr_assert(fabs(was - is) <= limit, "element %zu: %g became %g", i, was, is);
        squares += kept ? 0 : (was - is) * (was - is);
        count += !kept;
    }
    if (job->bound.mode == ZMPI_PSNR)
        cr_assert(sqrt(squares / count) <= job->finer[1] * 1.0001);
}

static void check_by(const struct zmpi_array *a, struct zmpi_bound bound, int encoder,
                     const struct zmpi_fills *fills)
{
    unsigned char *x = make(a->type, fills), *y = malloc(N * sizeof(double));
    const struct zmpi_job job = job_of(a, bound, encoder, fills, x);
    const size_t capacity = zmpi_compress_capacity(a);
    unsigned char *coded = malloc(capacity);
    struct zmpi_stream_info info;
    size_t size;
    cr_assert(y && coded);
    cr_assert(!zmpi_job_compress(zmpi_device_cpu(), &job, coded, capacity, x, &size));
    cr_assert(!zmpi_stream_info(coded, size, &info));
    cr_assert(!zmpi_decompress(y, N * sizeof(double), coded, size));
    check(a, &job, x, y, info.abs_bound);
    free(coded);
    free(x);
    free(y);
}

Test(fills, kept)
{
    static const struct zmpi_fills fills[] = {{1, {0}},     {1, {-1}},          {2, {0, -1}},
                                              {1, {280.3}}, {2, {-999.9, 300}}, {2, {270, 290}}};
    const struct zmpi_bound bounds[] = {kit_rel(bound_of_rel),
                                        kit_abs(0.05),
                                        {ZMPI_PSNR, 60},
                                        {ZMPI_PW_REL, 1e-4},
                                        {ZMPI_RATIO, 6}};
    for (size_t k = 0; k < KIT_COUNT(fills); k++)
        for (size_t b = 0; b < KIT_COUNT(bounds); b++)
            for (int encoder = ZMPI_FLE; encoder <= ZMPI_INTERP; encoder++)
                for (int t = 0; t < 4; t++) {
                    const enum zmpi_type type = t % 2 ? ZMPI_F64 : ZMPI_F32;
                    const struct zmpi_array a =
                        t / 2 ? kit_array(type, Z, Y, X) : kit_array(type, 1, 1, N);
                    check_by(&a, bounds[b], encoder, &fills[k]);
                }
}

/* Errors as large as can be, beside many fill values: these have no part in the psnr. */
static void check_worst(enum zmpi_type type, int encoder)
{
    const struct zmpi_fills fills = {1, {260}};
    const struct zmpi_range range = {250, 310, (double)INFINITY};
    const struct zmpi_bound bound = {ZMPI_PSNR, 60};
    const struct zmpi_array a = kit_array(type, 1, 1, N);
    unsigned char *x = malloc(N * sizeof(double)), *y = malloc(N * sizeof(double));
    unsigned char *coded = malloc(zmpi_compress_capacity(&a));
    struct kit_random r = {1};
    struct zmpi_job job;
    size_t size;
    cr_assert(x && y && coded && !zmpi_job_make(&a, &bound, &range, &job));
    zmpi_job_fills(&job, &fills);
    job.encoder = encoder;
    struct zmpi_chunk_rule rule;
    zmpi_chunk_rule_make(&rule, type, job.abs_bound, job.keep);
    for (size_t i = 0; i < N; i++) {
        const double step = rule.level[1].step, q = floor((280 + 20 * kit_unit(&r)) / step);
        kit_put(type, x, i, i % 8 ? 260 : (q + 0.49) * step);
    }
    kit_put(type, x, 0, 250);
    kit_put(type, x, 8, 310);
    cr_assert(
        !zmpi_job_compress(zmpi_device_cpu(), &job, coded, zmpi_compress_capacity(&a), x, &size));
    cr_assert(!zmpi_decompress(y, N * sizeof(double), coded, size));
    check(&a, &job, x, y, job.abs_bound);
    free(coded);
    free(x);
    free(y);
}

Test(fills, worst)
{
    for (int encoder = ZMPI_FLE; encoder <= ZMPI_INTERP; encoder++) {
        check_worst(ZMPI_F32, encoder);
        check_worst(ZMPI_F64, encoder);
    }
}

/* Nothing is named, or NaN: nothing changes. A lossless job needs none. */
Test(fills, none)
{
    const struct zmpi_fills named = {2, {(double)NAN, 3}}, none = {0};
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 100);
    const struct zmpi_bound exact = {ZMPI_LOSSLESS, 0}, bound = kit_abs(1);
    struct zmpi_job job;
    cr_assert(!zmpi_job_make(&a, &bound, NULL, &job));
    zmpi_job_fills(&job, &none);
    cr_assert(job.fills.count == 0 && !zmpi_job_is_for_cpu(&job));
    zmpi_job_fills(&job, &named);
    cr_assert(job.fills.count == 1 && job.fills.value[0] == 3 && zmpi_job_is_for_cpu(&job));
    cr_assert(!zmpi_job_make(&a, &exact, NULL, &job));
    zmpi_job_fills(&job, &named);
    cr_assert_eq(job.fills.count, 0);
}

/* Beside a coast it costs hardly more than a fill value that stands apart. */
Test(fills, small)
{
    static const double values[] = {280.3, 1e30};
    const struct zmpi_array a = kit_array(ZMPI_F32, Z, Y, X);
    size_t size[2];
    for (int k = 0; k < 2; k++) {
        const struct zmpi_fills fills = {1, {values[k]}};
        unsigned char *x = make(ZMPI_F32, &fills), *coded = malloc(zmpi_compress_capacity(&a));
        const struct zmpi_job job = job_of(&a, kit_rel(bound_of_rel), ZMPI_FLE, &fills, x);
        cr_assert(!zmpi_job_compress(zmpi_device_cpu(), &job, coded, zmpi_compress_capacity(&a), x,
                                     &size[k]));
        free(coded);
        free(x);
    }
    cr_assert(size[0] <= size[1] + size[1] / 100, "%zu and %zu bytes", size[0], size[1]);
}

/*
 * whole.c - whole numbers in floats come back exactly, however coarse the step; what is among them
 * and is none keeps its bound (format.md 4.4).
 */
#include "bound/whole.h"

#include "bound/ratio.h"
#include "field.h"
#include "stream/compress_job.h"

enum { N = 100000 };

static const struct zmpi_bound rel3 = {ZMPI_REL, 1e-3}, abs_half = {ZMPI_ABS, 0.5},
                               abs_one = {ZMPI_ABS, 1}, abs_ten = {ZMPI_ABS, 10};

/* Counts of about ten. */
static double count_at(size_t i)
{
    struct kit_random r = {i + 1};
    double n = 0;
    for (int k = 0; k < 20; k++)
        n += (double)kit_below(&r, 2);
    return n;
}

static void *make(const struct zmpi_array *a, double unit, double offset)
{
    void *x = malloc(kit_bytes(a));
    cr_assert_not_null(x);
    for (size_t i = 0; i < kit_elements(a); i++)
        kit_put(a->type, x, i, offset + unit * count_at(i));
    return x;
}

/* What comes back of src; free() it. *size: of the stream. */
static void *cycle(const struct zmpi_array *a, struct zmpi_bound bound, int encoder,
                   const void *src, size_t *size)
{
    const size_t capacity = zmpi_compress_capacity(a);
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    struct zmpi_job job;
    void *coded = malloc(capacity), *out = malloc(kit_bytes(a));
    cr_assert(coded && out);
    zmpi_range_of(a->type, src, kit_elements(a), &range);
    cr_assert_eq(zmpi_job_make(a, &bound, &range, &job), ZMPI_OK);
    job.encoder = encoder;
    job.threads = 2;
    cr_assert_eq(zmpi_job_compress(zmpi_device_cpu(), &job, coded, capacity, src, size), ZMPI_OK);
    cr_assert_eq(zmpi_decompress(out, kit_bytes(a), coded, *size), ZMPI_OK);
    free(coded);
    return out;
}

static void check_exact(const struct zmpi_array *a, struct zmpi_bound bound, const void *src,
                        const char *what)
{
    for (int encoder = ZMPI_FLE; encoder <= ZMPI_HUFFMAN; encoder++) {
        size_t size;
        void *out = cycle(a, bound, encoder, src, &size);
        cr_assert(memcmp(src, out, kit_bytes(a)) == 0, "%s: encoder %d changed them", what,
                  encoder);
        free(out);
    }
}

Test(whole, exact)
{
    const struct zmpi_array arrays[] = {
        kit_array(ZMPI_F32, 1, 1, N), kit_array(ZMPI_F64, 1, 1, N), kit_array(ZMPI_F32, 20, 50, 99),
        kit_array(ZMPI_F64, 20, 50, 41), kit_array(ZMPI_F32, 1, 1, 5)};
    const double units[] = {1, 0.25, 1024, 0x1p-40};
    for (size_t i = 0; i < KIT_COUNT(arrays); i++)
        for (size_t k = 0; k < KIT_COUNT(units); k++)
            for (double offset = -30; offset < 100; offset += 60) {
                void *x = make(&arrays[i], units[k], offset * units[k]);
                const struct zmpi_bound same = {ZMPI_ABS, units[k]},
                                        half = {ZMPI_ABS, units[k] / 2};
                check_exact(&arrays[i], rel3, x, "rel");
                check_exact(&arrays[i], same, x, "abs=unit");
                check_exact(&arrays[i], half, x, "abs=unit/2");
                free(x);
            }
}

/* Numbers in a row, of which those at even distances are all even; by any number of samples. */
Test(whole, in_a_row)
{
    for (size_t n = 1; n < 2000; n += 1 + n / 40) {
        const struct zmpi_array a = kit_array(ZMPI_F64, 1, 1, n);
        double *x = malloc(n * sizeof *x);
        for (size_t i = 0; i < n; i++)
            x[i] = 384 + (double)i;
        check_exact(&a, (struct zmpi_bound){ZMPI_ABS, 0.4}, x, "in a row");
        free(x);
    }
}

/* Twice as small as by the bound's own step: half of the bits were noise. */
Test(whole, smaller)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, N);
    size_t whole, other;
    float *x = make(&a, 1, 0);
    free(cycle(&a, rel3, ZMPI_FLE, x, &whole));
    for (size_t i = 0; i < N; i++)
        x[i] += 0.3F * (float)(i % 2);
    free(cycle(&a, rel3, ZMPI_FLE, x, &other));
    cr_assert(whole * 3 < other * 2, "%zu and %zu bytes", whole, other);
    free(x);
}

/* NaN, fill values, -0 and numbers far beyond the limit of a step are kept beside them. */
Test(whole, special)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, N);
    const float special[] = {NAN, INFINITY, -0.0F, 9.96921e36F, 3e9F, -16777216.0F};
    float *x = make(&a, 1, 0);
    for (size_t i = 0; i < N; i += 501)
        x[i] = special[i / 501 % KIT_COUNT(special)];
    check_exact(&a, abs_half, x, "special values");
    free(x);
}

/* One value that is none: it keeps its bound, and chunks without it stay exact. */
Test(whole, exception)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, N);
    const struct zmpi_bound fine = {ZMPI_ABS, 0.01};
    float *x = make(&a, 1, 0);
    x[50000] = 7.3F;
    for (int encoder = ZMPI_FLE; encoder <= ZMPI_HUFFMAN; encoder++) {
        size_t size, changed = 0;
        float *y = cycle(&a, fine, encoder, x, &size);
        for (size_t i = 0; i < N; i++) {
            cr_assert(fabsf(y[i] - x[i]) <= 0.01F);
            changed += y[i] != x[i];
        }
        cr_assert(changed <= 8192, "%zu changed", changed);
        void *again = cycle(&a, fine, encoder, y, &size);
        cr_assert(memcmp(again, y, kit_bytes(&a)) == 0, "changed in the second cycle");
        free(again);
        free(y);
    }
    free(x);
}

/* One in a million: samples do not see it, nor does it change more than its chunk. */
Test(whole, one_in_a_million)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 100, 100, 100);
    const size_t count = kit_elements(&a);
    float *x = make(&a, 1, 0), most = 0;
    x[777777] = 7.3F;
    for (int encoder = ZMPI_FLE; encoder <= ZMPI_INTERP; encoder++) {
        size_t size, changed = 0;
        float *y = cycle(&a, rel3, encoder, x, &size);
        for (size_t i = 0; i < count; i++) {
            most = fmaxf(most, fabsf(y[i] - x[i]));
            changed += y[i] < x[i] || y[i] > x[i];
        }
        cr_assert(most <= 0.02F && changed <= 32768, "encoder %d: %g, %zu", encoder, (double)most,
                  changed);
        cr_assert(y[0] == x[0] && size < count * 4 / 5, "%zu bytes", size); // NOLINT: exact
        free(y);
    }
    free(x);
}

/* Beside fill values, which are no multiples of the unit. */
Test(whole, fill)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, N);
    const struct zmpi_bound fine = {ZMPI_ABS, 0.01};
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    struct zmpi_job job;
    float *x = make(&a, 1, 0);
    for (size_t i = 0; i < N; i += 4)
        x[i] = -9999.7F;
    zmpi_range_of(a.type, x, N, &range);
    cr_assert_eq(zmpi_job_make(&a, &fine, &range, &job), ZMPI_OK);
    zmpi_job_look(&job, x);
    cr_assert_eq(job.unit, 1.0);
    cr_assert(job.keep <= 9999.8);
    check_exact(&a, fine, x, "counts and fill values");
    free(x);
}

/* A ratio is reached: whole numbers, which many steps divide, do not pass for data that were
 * decoded by a much smaller bound. */
Test(whole, ratio)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, N);
    const struct zmpi_bound ratio = {ZMPI_RATIO, 3.2};
    size_t size;
    float *x = malloc(kit_bytes(&a));
    cr_assert_not_null(x);
    for (size_t i = 0; i < N; i++)
        x[i] = (float)((i * 7919 * 31 + i * i * 17) % 8192);
    free(cycle(&a, ratio, ZMPI_FLE, x, &size));
    const double got = (double)kit_bytes(&a) / (double)size;
    cr_assert(fabs(got / ratio.value - 1) < 0.05, "ratio %g", got);
    free(x);
}

static double unit_of(const struct zmpi_job *job, const void *x)
{
    const struct zmpi_sample s = zmpi_sample_call(job->array.type, x, job->array.extent[2]);
    return zmpi_whole_unit(job, &s);
}

/* A bound above the unit is what was asked for; ordinary floats have no unit. */
Test(whole, not_whole)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, N);
    struct zmpi_job job;
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    float *x = make(&a, 1, 0);
    zmpi_range_of(a.type, x, N, &range);
    cr_assert_eq(zmpi_job_make(&a, &abs_ten, &range, &job), ZMPI_OK);
    cr_assert_eq(unit_of(&job, x), 0.0);
    cr_assert_eq(zmpi_job_make(&a, &abs_one, &range, &job), ZMPI_OK);
    cr_assert_eq(unit_of(&job, x), 1.0);
    for (size_t i = 0; i < N; i++)
        x[i] = 10 + sinf((float)i);
    cr_assert_eq(zmpi_job_make(&a, &rel3, &range, &job), ZMPI_OK);
    cr_assert_eq(unit_of(&job, x), 0.0);
    free(x);
}

static bool has_identifiers(const struct zmpi_array *a, struct zmpi_bound bound, const void *x)
{
    struct kit_stream s = kit_compress(a, bound, x);
    struct zmpi_stream_info info;
    cr_assert(!zmpi_stream_info(s.data, s.size, &info));
    free(s.data);
    return zmpi_whole_identifiers(&info, x);
}

/* Whole numbers that never repeat, where the bound has changed them: not counts, not floats that
 * are too large to have a fraction, not what is exact. */
Test(whole, identifiers)
{
    static const struct zmpi_bound tight = {ZMPI_PW_REL, 1e-7}, loose = {ZMPI_PW_REL, 1e-3},
                                   exact = {ZMPI_LOSSLESS, 0};
    for (int t = 0; t < 2; t++) {
        const struct zmpi_array a = kit_array(t ? ZMPI_F64 : ZMPI_F32, 1, 1, N);
        void *x = malloc(kit_bytes(&a));
        for (size_t i = 0; i < N; i++)
            kit_put(a.type, x, i, (double)(i * 7919 % 1000003));
        cr_assert(has_identifiers(&a, rel3, x) && has_identifiers(&a, abs_ten, x));
        cr_assert(has_identifiers(&a, loose, x) && !has_identifiers(&a, tight, x));
        cr_assert(!has_identifiers(&a, abs_one, x) && !has_identifiers(&a, exact, x));
        for (size_t i = 0; i < N; i++)
            kit_put(a.type, x, i, (double)(i * 7919 % 100));
        cr_assert(!has_identifiers(&a, abs_ten, x));
        for (size_t i = 0; i < N; i++)
            kit_put(a.type, x, i, (t ? 1e17 : 1e8) * (1 + (double)i / N));
        cr_assert(!has_identifiers(&a, rel3, x));
        free(x);
    }
}

static void check_field(const struct field *f)
{
    cr_assert(!has_identifiers(&f->array, rel3, f->data), "%s", f->path);
}

Test(whole, fields)
{
    each_field(check_field);
}

/*
 * threshold.c - values of a magnitude that the user names are exact and out of the range; the
 * option that names it.
 */
#include "device.h"
#include "kit.h"
#include "options/options.h"

static void check_threshold(enum zmpi_type type, double threshold)
{
    struct kit_random r = {6};
    struct zmpi_array a = kit_array(type, 1, 1, 300000);
    size_t n = kit_elements(&a);
    void *src = kit_make(&r, &a, KIT_SMOOTH);
    for (size_t i = 0; i < n; i += 1 + kit_below(&r, 4000))
        kit_put(type, src, i, i % 3 == 0 ? -999 : i % 3 == 1 ? (double)NAN : 1e20);
    struct zmpi_range range;
    zmpi_range_scan(type, src, n, threshold, 2, &range);
    double min = (double)INFINITY, max = -(double)INFINITY;
    for (size_t i = 0; i < n; i++) {
        double x = kit_get(type, src, i);
        if (fabs(x) < threshold && x != 1e20 && (float)x != 1e20F) {
            min = fmin(min, x);
            max = fmax(max, x);
        }
    }
    cr_assert(range.min == min && range.max == max, "threshold %g", threshold);

    struct zmpi_bound bound = kit_rel(1e-3);
    struct zmpi_job job;
    struct kit_stream s = {malloc(zmpi_compress_capacity(&a)), 0};
    cr_assert_eq(zmpi_job_make(&a, &bound, &range, &job), ZMPI_OK);
    zmpi_job_threshold(&job, threshold);
    cr_assert_eq(
        zmpi_device_cpu()->compress(&job, s.data, zmpi_compress_capacity(&a), src, &s.size),
        ZMPI_OK);
    void *out = kit_decompress(&s);
    kit_check(&a, src, out, job.abs_bound, "threshold");
    for (size_t i = 0; i < n; i++) {
        double x = kit_get(type, src, i);
        cr_assert(!(fabs(x) >= threshold) || kit_get(type, out, i) == x);
    }
    free(out);
    free(s.data);
    free(src);
}

Test(threshold, exact)
{
    const double thresholds[] = {999, 500, 1e15, 1e20, 1e25, 1e300, 8, 1e-50};
    for (size_t i = 0; i < KIT_COUNT(thresholds); i++) {
        check_threshold(ZMPI_F32, thresholds[i]);
        check_threshold(ZMPI_F64, thresholds[i]);
    }
}

/*
 * A threshold is one more reason to keep a value: those that are recognised anyway stay so, and
 * exact streams know none.
 */
Test(threshold, keep)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 100);
    struct zmpi_bound bound = kit_abs(1e-3), exact = {ZMPI_LOSSLESS, 0};
    struct zmpi_job job;
    cr_assert_eq(zmpi_job_make(&a, &bound, NULL, &job), ZMPI_OK);
    zmpi_job_threshold(&job, 0);
    cr_assert(job.keep == 1e20);
    zmpi_job_threshold(&job, 1e30);
    cr_assert(job.keep == 1e20);
    zmpi_job_threshold(&job, 900);
    cr_assert(job.keep == 900);
    cr_assert_eq(zmpi_job_make(&a, &exact, NULL, &job), ZMPI_OK);
    zmpi_job_threshold(&job, 900);
    cr_assert(isinf(job.keep));
}

Test(threshold, option)
{
    static const char *const wrong[] = {"",      "0",    "-1", "inf",  "nan",
                                        "1e400", "0x10", "5 ", "abs=1"};
    struct zmpi_options o;
    char message[256], text[1024];
    zmpi_options_default(&o);
    cr_assert(o.threshold == 0);
    for (size_t i = 0; i < KIT_COUNT(wrong); i++) {
        cr_assert_eq(zmpi_option_set(&o, "threshold", wrong[i], "hint zmpi_threshold", message),
                     ZMPI_ERR_ARG, "%s", wrong[i]);
        cr_assert_not_null(strstr(message, "hint zmpi_threshold="));
    }
    cr_assert_eq(zmpi_option_set(&o, "threshold", "1.5e15", "x", message), ZMPI_OK);
    cr_assert(o.threshold == 1.5e15);
    for (size_t i = 0; zmpi_option_info(i) != NULL; i++) {
        zmpi_option_get(&o, i, text);
        if (strcmp(zmpi_option_info(i)->name, "threshold") == 0)
            cr_assert_str_eq(text, "1.5e+15");
    }
}

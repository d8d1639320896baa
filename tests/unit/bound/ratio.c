/*
 * ratio.c - the bound that gives a ratio: that it does, on data of all kinds and shapes, and is
 * found by estimates that are about right; what cannot be had; the promise all the same; the same
 * bytes for any number of threads and instruction set. Real fields are in fields.c.
 */
#include <stdio.h>
#include <sys/wait.h>

#include "bound/ratio.h"
#include "kit.h"
#include "stream/compress_job.h"

static struct zmpi_bound ratio(double value)
{
    return (struct zmpi_bound){ZMPI_RATIO, value};
}

/* Of a stream, its header left out. */
static double ratio_of(const struct zmpi_array *a, const struct kit_stream *s)
{
    return (double)kit_bytes(a) / (double)(s->size - ZMPI_STREAM_HEADER_BYTES);
}

/* Rough by all degrees, so that every ratio has its bound: even noise has jumps. */
static void *make_rough(const struct zmpi_array *a, uint64_t seed)
{
    struct kit_random r = {seed};
    void *src = malloc(kit_bytes(a));
    cr_assert_not_null(src);
    for (size_t i = 0; i < kit_elements(a); i++) {
        double x = (double)(i % a->extent[2]), y = (double)(i / a->extent[2]);
        kit_put(a->type, src, i,
                1e3 + 40 * sin(x / 30) * cos(y / 50) +
                    kit_unit(&r) * exp2(4 * sin((double)i / 9000) - 2));
    }
    return src;
}

static void check_ratio(const struct zmpi_array *a, const void *src, double asked)
{
    char what[100];
    snprintf(what, sizeof what, "type %d %zux%zux%zu ratio=%g", a->type, a->extent[0], a->extent[1],
             a->extent[2], asked);
    struct kit_stream s = kit_compress(a, ratio(asked), src);
    struct zmpi_stream_info info;
    cr_assert_eq(zmpi_stream_info(s.data, s.size, &info), ZMPI_OK);
    cr_assert(info.bound.mode == ZMPI_RATIO && info.bound.value == asked, "%s", what);
    cr_assert(info.abs_bound > 0 && isfinite(info.abs_bound), "%s: %g", what, info.abs_bound);
    cr_assert_float_eq(ratio_of(a, &s) / asked, 1, 0.05, "%s: it is %g", what, ratio_of(a, &s));
    void *out = kit_decompress(&s);
    kit_check(a, src, out, info.abs_bound, what);
    free(out);
    free(s.data);
}

Test(ratio, reached, .timeout = 300)
{
    const struct zmpi_array arrays[] = {
        kit_array(ZMPI_F32, 1, 1, 300000), kit_array(ZMPI_F32, 1, 531, 409),
        kit_array(ZMPI_F32, 40, 71, 83),   kit_array(ZMPI_F32, 1, 70000, 3),
        kit_array(ZMPI_F64, 1, 1, 150001), kit_array(ZMPI_F64, 25, 70, 64),
        kit_array(ZMPI_F32, 9000, 5, 5),   kit_array(ZMPI_F64, 1, 3, 50000),
    };
    const double asked[] = {3, 4, 6, 8, 12, 16};
    for (size_t i = 0; i < KIT_COUNT(arrays); i++) {
        void *src = make_rough(&arrays[i], i);
        for (size_t k = 0; k < KIT_COUNT(asked); k++)
            check_ratio(&arrays[i], src, asked[k]);
        free(src);
    }
}

/* More than one try allows for: what is large gets its bound from the search. */
Test(ratio, large, .timeout = 300)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 40, 200, 256);
    void *src = make_rough(&a, 7);
    for (double asked = 4; asked <= 16; asked *= 2)
        check_ratio(&a, src, asked);
    free(src);
}

/* Whatever the data: a stream that keeps what its header says. */
Test(ratio, any_data, .timeout = 300)
{
    const struct zmpi_array arrays[] = {
        kit_array(ZMPI_F32, 1, 1, 20000), kit_array(ZMPI_F64, 13, 17, 41),
        kit_array(ZMPI_I32, 1, 100, 33), kit_array(ZMPI_BYTES, 1, 1, 7777)};
    for (size_t i = 0; i < KIT_COUNT(arrays); i++)
        for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
            struct kit_random r = {(uint64_t)kind};
            void *src = kit_make(&r, &arrays[i], (enum kit_data)kind);
            for (double asked = 1.01; asked < 1e4; asked *= 5) {
                char what[60];
                snprintf(what, sizeof what, "array %zu data %d ratio=%g", i, kind, asked);
                free(kit_round_trip(&arrays[i], ratio(asked), src, what));
            }
            free(src);
        }
}

/* What a search says that each bound takes, beside what it does. */
static void check_estimates(const struct zmpi_array *a, const void *src, const char *what)
{
    const struct zmpi_bound asked = ratio(8);
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    struct zmpi_ratio_search s = {0};
    struct zmpi_job job;
    double off = 0;
    int n = 0;
    const size_t capacity = zmpi_compress_capacity(a);
    unsigned char *dst = malloc(capacity);
    cr_assert_not_null(dst);
    zmpi_range_scan(a->type, src, kit_elements(a), 0, 1, &range);
    cr_assert_eq(zmpi_job_make(a, &asked, &range, &job), ZMPI_OK);
    zmpi_ratio_search_begin(&s, &job, false);
    do {
        zmpi_ratio_search_add(&s, a, src);
        for (int k = 0; k < s.rungs; k++) {
            size_t size;
            job.abs_bound = zmpi_ratio_search_bound(&s, a->type, k);
            job.keep = s.keep;
            cr_assert_eq(zmpi_device_cpu()->compress(&job, dst, capacity, src, &size), ZMPI_OK);
            const double is = (double)s.sum.coded[k], should = (double)size - 80;
            if (job.abs_bound * 2 > range.max - range.min) // a step that the range has once, or not
                continue;
            cr_assert_float_eq(is / should, 1, 0.4, "%s, round %d, rung %d: %g bytes, not %g", what,
                               s.round, k, is, should);
            off += fabs(log(is / should));
            n++;
        }
    } while (zmpi_ratio_search_next(&s));
    cr_assert(off / n < 0.1, "%s: %g", what, off / n);
    free(dst);
}

/* Of arrays with and without fill values. */
Test(ratio, estimates)
{
    const struct zmpi_array arrays[] = {
        kit_array(ZMPI_F32, 1, 531, 409), kit_array(ZMPI_F32, 40, 71, 83),
        kit_array(ZMPI_F32, 1, 1, 300000), kit_array(ZMPI_F32, 3000, 9, 11),
        kit_array(ZMPI_F64, 25, 70, 64)};
    for (size_t i = 0; i < KIT_COUNT(arrays); i++)
        for (int fill = 0; fill < 2; fill++) {
            char what[60];
            void *src = make_rough(&arrays[i], i);
            snprintf(what, sizeof what, "array %zu, fill values %d", i, fill);
            for (size_t k = 0; k < kit_elements(&arrays[i]); k++)
                if (fill && k % 97 < 5)
                    kit_put(arrays[i].type, src, k, k % 97 == 3 ? (double)NAN : 1e20);
            check_estimates(&arrays[i], src, what);
            free(src);
        }
}

/* Fill values and NaN do not count, and come back. */
Test(ratio, special_values)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 500, 400);
    float *src = make_rough(&a, 3);
    for (size_t i = 0; i < kit_elements(&a); i++)
        if (i / 400 % 50 < 10 && i % 400 < 200)
            src[i] = i % 1000 == 7 ? NAN : 1e20F;
    for (double asked = 4; asked <= 8; asked *= 2)
        check_ratio(&a, src, asked);
    free(src);
}

Test(ratio, small_arrays)
{
    for (size_t n = 0; n < 200; n = n < 40 ? n + 1 : n + 37)
        for (double asked = 2; asked < 100; asked *= 3) {
            struct zmpi_array a = kit_array(n % 2 ? ZMPI_F32 : ZMPI_F64, 1, 1, n);
            void *src = make_rough(&a, n);
            free(kit_round_trip(&a, ratio(asked), src, "small"));
            free(src);
        }
}

/* ---- what cannot be had ---- */

/* The range is the largest bound there is. */
Test(ratio, too_high)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 100000);
    float *src = make_rough(&a, 1);
    struct zmpi_range range;
    zmpi_range_of(a.type, src, 100000, &range);
    struct kit_stream s = kit_compress(&a, ratio(1e6), src);
    cr_assert(kit_abs_bound(&s) <= range.max - range.min);
    cr_assert(ratio_of(&a, &s) > 10 && ratio_of(&a, &s) < 1e5);
    void *out = kit_decompress(&s);
    kit_check(&a, src, out, kit_abs_bound(&s), "too high");
    free(out);
    free(s.data);
    free(src);
}

/* Where nothing need be lost, nothing is. */
Test(ratio, without_loss)
{
    struct zmpi_array a = kit_array(ZMPI_F64, 1, 300, 300);
    double *src = calloc(90000, sizeof *src);
    for (size_t i = 0; i < 90000; i += 97)
        src[i] = (double)(i % 13) / 7;
    struct kit_stream s = kit_compress(&a, ratio(2), src);
    double *out = kit_decompress(&s);
    cr_assert(kit_abs_bound(&s) <= 0);
    cr_assert_arr_eq(out, src, kit_bytes(&a));
    cr_assert(ratio_of(&a, &s) > 2);
    free(out);
    free(s.data);
    free(src);
}

/* ---- the same bytes ---- */

static struct kit_stream compress_by(const struct zmpi_array *a, const void *src, int threads)
{
    struct zmpi_range range;
    struct zmpi_bound bound = ratio(7);
    struct zmpi_job job;
    size_t capacity = zmpi_compress_capacity(a);
    struct kit_stream s = {malloc(capacity), 0};
    zmpi_range_of(a->type, src, kit_elements(a), &range);
    cr_assert_eq(zmpi_job_make(a, &bound, &range, &job), ZMPI_OK);
    cr_assert(zmpi_job_open(&job));
    job.threads = threads;
    cr_assert_eq(zmpi_job_compress(zmpi_device_cpu(), &job, s.data, capacity, src, &s.size),
                 ZMPI_OK);
    return s;
}

/* The stream of a process with other kernels. */
static struct kit_stream compress_without(const struct zmpi_array *a, const void *src,
                                          const char *disabled)
{
    int ends[2];
    struct kit_stream s = {malloc(zmpi_compress_capacity(a)), 0};
    cr_assert(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        setenv("ZMPI_DISABLE", disabled, 1);
        struct kit_stream mine = compress_by(a, src, 1);
        for (size_t at = 0; at < mine.size;) {
            ssize_t n = write(ends[1], mine.data + at, mine.size - at);
            if (n <= 0)
                _exit(1);
            at += (size_t)n;
        }
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], s.data + s.size, 65536)) > 0;)
        s.size += (size_t)n;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return s;
}

static void same(const struct kit_stream *a, struct kit_stream b, const char *what)
{
    cr_assert_eq(a->size, b.size, "%s", what);
    cr_assert_arr_eq(a->data, b.data, b.size, "%s", what);
    free(b.data);
}

Test(ratio, same_bytes, .timeout = 300)
{
    const struct zmpi_array arrays[] = {kit_array(ZMPI_F32, 20, 150, 260),
                                        kit_array(ZMPI_F64, 1, 700, 300)};
    for (size_t i = 0; i < KIT_COUNT(arrays); i++) {
        void *src = make_rough(&arrays[i], i);
        /* before this process has its kernels, which a child would take over */
        struct kit_stream scalar = compress_without(&arrays[i], src, "avx2,neon");
        struct kit_stream one = compress_without(&arrays[i], src, "avx512");
        same(&one, scalar, "scalar");
        free(one.data);
        free(src);
    }
    for (size_t i = 0; i < KIT_COUNT(arrays); i++) {
        void *src = make_rough(&arrays[i], i);
        struct kit_stream one = compress_by(&arrays[i], src, 1);
        for (int threads = 2; threads <= 8; threads *= 2)
            same(&one, compress_by(&arrays[i], src, threads), "threads");
        free(one.data);
        free(src);
    }
}

/* ---- a call of several parts ---- */

Test(ratio, parts_together, .timeout = 300)
{
    struct zmpi_array whole = kit_array(ZMPI_F32, 1, 1200, 400), part = whole;
    float *src = make_rough(&whole, 5);
    struct zmpi_range range;
    struct zmpi_bound bound = ratio(8);
    struct zmpi_job job;
    struct zmpi_ratio_search s;
    size_t sizes = 0, capacity = zmpi_compress_capacity(&whole);
    unsigned char *dst = malloc(capacity);
    double first = 0;
    part.extent[1] = 400;
    zmpi_range_of(whole.type, src, kit_elements(&whole), &range);
    cr_assert_eq(zmpi_job_make(&part, &bound, &range, &job), ZMPI_OK);
    zmpi_ratio_search_begin(&s, &job, true);
    do
        for (size_t i = 0; i < 3; i++)
            zmpi_ratio_search_add(&s, &part, src + i * 160000);
    while (zmpi_ratio_search_next(&s));
    for (size_t i = 0; i < 3; i++) {
        struct zmpi_job own = job;
        size_t size;
        zmpi_ratio_search_apply(&s, &own);
        cr_assert(!zmpi_job_open(&own) && own.abs_bound > 0);
        first = i ? first : own.abs_bound;
        cr_assert(first <= own.abs_bound && own.abs_bound <= first);
        cr_assert_eq(zmpi_device_cpu()->compress(&own, dst, capacity, src + i * 160000, &size),
                     ZMPI_OK);
        sizes += size - ZMPI_STREAM_HEADER_BYTES;
    }
    cr_assert_float_eq((double)kit_bytes(&whole) / (double)sizes / 8, 1, 0.05);
    free(dst);
    free(src);
}

/* What was compressed says how to go on, and when that is enough. */
Test(ratio, corrections)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 400, 400);
    float *src = make_rough(&a, 5);
    const size_t bytes = kit_bytes(&a);
    struct zmpi_range range;
    struct zmpi_bound bound = ratio(8);
    struct zmpi_job job;
    struct zmpi_ratio_search s;
    zmpi_range_of(a.type, src, kit_elements(&a), &range);
    cr_assert_eq(zmpi_job_make(&a, &bound, &range, &job), ZMPI_OK);
    zmpi_ratio_search_begin(&s, &job, false);
    do
        zmpi_ratio_search_add(&s, &a, src);
    while (zmpi_ratio_search_next(&s));
    int rungs[3] = {s.rung};
    cr_assert(zmpi_ratio_search_correct(&s, bytes, bytes / 6));
    rungs[1] = s.rung;
    cr_assert_lt(rungs[1], rungs[0], "a larger bound for what was too large");
    cr_assert(zmpi_ratio_search_correct(&s, bytes, bytes / 11));
    rungs[2] = s.rung;
    cr_assert(rungs[2] > rungs[1] && rungs[2] < rungs[0], "between the two");
    cr_assert(!zmpi_ratio_search_correct(&s, bytes, bytes / 8));
    cr_assert_eq(s.rung, rungs[2]);
    free(src);
}

/* Of much data a part is tried, and that is known to be less than all. */
Test(ratio, part_of_much, .timeout = 300)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1500, 1000);
    float *src = make_rough(&a, 7);
    struct zmpi_range range;
    struct zmpi_bound bound = ratio(8);
    struct zmpi_job job;
    struct zmpi_ratio_search s;
    unsigned char *dst = malloc(zmpi_compress_capacity(&a));
    size_t size, most = 0;
    zmpi_range_of(a.type, src, kit_elements(&a), &range);
    cr_assert_eq(zmpi_job_make(&a, &bound, &range, &job), ZMPI_OK);
    zmpi_ratio_search_begin(&s, &job, true);
    do { /* as one of 32 ranks that are all alike */
        zmpi_ratio_search_add(&s, &a, src);
        s.sum.raw *= 32;
        s.sum.exact *= 32;
        for (int k = 0; k < ZMPI_RATIO_RUNGS; k++)
            s.sum.coded[k] *= 32;
        if (zmpi_ratio_search_is_trial(&s))
            most = zmpi_ratio_search_samples(&s, 1000);
    } while (zmpi_ratio_search_next(&s));
    cr_assert(most >= 125 && most < 500, "%zu of 1000 chunks were coded", most);
    zmpi_ratio_search_apply(&s, &job);
    cr_assert_eq(zmpi_device_cpu()->compress(&job, dst, zmpi_compress_capacity(&a), src, &size),
                 ZMPI_OK);
    cr_assert_float_eq((double)kit_bytes(&a) / (double)(size - 80) / 8, 1, 0.05);
    free(dst);
    free(src);
}

/* Nobody has anything to compress: nothing is lost. */
Test(ratio, nothing_sampled)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 2);
    struct zmpi_range range = {0, 1, (double)INFINITY};
    struct zmpi_bound bound = ratio(8);
    struct zmpi_job job;
    struct zmpi_ratio_search s;
    cr_assert_eq(zmpi_job_make(&a, &bound, &range, &job), ZMPI_OK);
    cr_assert(zmpi_job_open(&job) && job.abs_bound <= 0);
    zmpi_ratio_search_begin(&s, &job, false);
    cr_assert(!zmpi_ratio_search_next(&s));
    zmpi_ratio_search_apply(&s, &job);
    cr_assert(!zmpi_job_open(&job) && job.abs_bound <= 0);
}

/*
 * modes.c - pointwise relative bounds on random bits and at the edges of binades, and what a
 * decoder refuses of their chunks; PSNR bounds that hold on data that errors are worst for.
 */
#include <float.h>
#include <stdio.h>

#include "base/bytes.h"
#include "device.h"
#include "kernels/kernels.h"
#include "kit.h"

static struct zmpi_bound pw_rel(double value)
{
    return (struct zmpi_bound){ZMPI_PW_REL, value};
}

static struct zmpi_bound psnr(double value)
{
    return (struct zmpi_bound){ZMPI_PSNR, value};
}

/* ---- the checks check ---- */

Test(modes, exact_comparisons)
{
    cr_assert(kit_within(1, 0x1.8p0, 0x1p-1) && !kit_within(1, 0x1.8p0, 0x1.fffffffffffffp-2));
    cr_assert(!kit_within(1, -0x1p-1074, 1) && kit_within(1, 0x1p-1074, 1));
    cr_assert(!kit_within(1, NAN, 1) && !kit_within(1, INFINITY, DBL_MAX));
    cr_assert(kit_relative(4, 5, 0.25) && !kit_relative(4, 5, nextafter(0.25, 0)));
    cr_assert(kit_relative(-4, -3, 0.25) && !kit_relative(-4, 3, 0.25) && !kit_relative(0, 1, 0.5));
    cr_assert(kit_relative(0x1p-1074, 0x1p-1074, 1e-9) && !kit_relative(0x1p-1074, 0, 0.99));
    cr_assert(kit_relative(1, 1 + 0x1p-52, 0x1p-52) && !kit_relative(1, 1 + 0x1p-52, 0x1p-53));
    cr_assert(!kit_relative(1, 1 + 0x1p-52, 1e-300));
}

/* ---- pointwise relative ---- */

static const double relative_bounds[] = {1e-3,
                                         0.1,
                                         0.5,
                                         0.999999999,
                                         1e-6,
                                         0x1p-23,
                                         0x1p-24,
                                         0x1.8p-24,
                                         1.1e-7,
                                         1e-10,
                                         0x1p-52,
                                         0x1p-53,
                                         1e-17,
                                         1e-300,
                                         0x1p-1074,
                                         0x1p-10,
                                         0x1.fffffffffffffp-11};

static void check_every_bound(enum zmpi_type type)
{
    struct kit_random r = {500 + (uint64_t)type};
    for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
        struct zmpi_array a = kit_array(type, 3, 33, 47);
        void *src = kit_make(&r, &a, (enum kit_data)kind);
        for (size_t i = 0; i < KIT_COUNT(relative_bounds); i++) {
            char what[80];
            snprintf(what, sizeof what, "type %d data %d pw_rel=%a", type, kind,
                     relative_bounds[i]);
            void *once = kit_round_trip(&a, pw_rel(relative_bounds[i]), src, what);
            void *twice = kit_round_trip(&a, pw_rel(relative_bounds[i]), once, what);
            cr_assert_eq(memcmp(once, twice, kit_bytes(&a)), 0, "%s: again", what);
            free(once);
            free(twice);
        }
        free(src);
    }
}

Test(modes, every_relative_bound)
{
    check_every_bound(ZMPI_F32);
    check_every_bound(ZMPI_F64);
}

Test(modes, random_relative_bounds)
{
    struct kit_random r = {51};
    for (int i = 0; i < test_rounds(2000); i++) {
        enum zmpi_type type = i % 2 ? ZMPI_F32 : ZMPI_F64;
        enum kit_data kind = i % 4 < 2 ? KIT_BITS : (enum kit_data)kit_below(&r, KIT_DATA_KINDS);
        struct zmpi_array a =
            kit_array(type, 1 + kit_below(&r, 3), 1 + kit_below(&r, 9), 1 + kit_below(&r, 90));
        double value = pow(10, -(type == ZMPI_F32 ? 8 : 17) * fabs(kit_unit(&r)));
        void *src = kit_make(&r, &a, kind);
        char what[80];
        snprintf(what, sizeof what, "type %d data %d pw_rel=%a case %d", type, kind, value, i);
        free(kit_round_trip(&a, pw_rel(value), src, what));
        free(src);
    }
}

/* Bits around every power of two and halfway between what is kept, with either sign. */
static void fill_edges(struct kit_random *r, const struct zmpi_array *a, unsigned shift, void *dst)
{
    const bool wide = a->type == ZMPI_F64;
    for (size_t i = 0; i < kit_elements(a); i++) {
        uint64_t exponent = kit_next(r) % (wide ? 0x800 : 0x100);
        uint64_t base = exponent << (wide ? 52 : 23) | (kit_next(r) % 16) << shift;
        base += (kit_next(r) % 2) << shift >> 1;
        base += kit_next(r) % 5 - 2;
        base = wide ? (base & INT64_MAX) | i << 63 : (base & INT32_MAX) | (i & 1) << 31;
        memcpy((unsigned char *)dst + i * zmpi_type_size(a->type), &base, wide ? 8 : 4);
    }
}

Test(modes, relative_edges)
{
    static const double bounds[] = {0.9, 0.5, 0.01, 1e-3, 1e-5, 1e-7};
    struct kit_random r = {52};
    for (int type = ZMPI_F32; type <= ZMPI_F64; type++)
        for (size_t i = 0; i < KIT_COUNT(bounds); i++) {
            struct zmpi_array a = kit_array((enum zmpi_type)type, 1, 1, 30000);
            void *src = malloc(kit_bytes(&a));
            fill_edges(&r, &a, zmpi_shift_of(a.type, bounds[i]), src);
            free(kit_round_trip(&a, pw_rel(bounds[i]), src, "edges"));
            free(src);
        }
}

/* The sign is only a sign; zeros of either sign, and numbers of few bits, stay what they are. */
Test(modes, relative_signs)
{
    struct kit_random r = {53};
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 5000);
    float src[5000], negated[5000];
    kit_fill(&r, &a, KIT_DECADES, src);
    for (size_t i = 0; i < 5000; i += 7)
        src[i] = (float)(int)(i % 64) * ldexpf(1, (int)(i % 200) - 100);
    for (size_t i = 0; i < 5000; i++)
        negated[i] = -src[i];
    float *out = kit_round_trip(&a, pw_rel(1e-3), src, "signs");
    float *back = kit_round_trip(&a, pw_rel(1e-3), negated, "negated");
    for (size_t i = 0; i < 5000; i++) {
        cr_assert(out[i] == -back[i] && !signbit(out[i]) == !signbit(src[i]));
        cr_assert(i % 7 || out[i] == src[i], "%a became %a", (double)src[i], (double)out[i]);
    }
    free(out);
    free(back);
}

/* Only the bits that the bound needs are stored, and special values cost what they are. */
Test(modes, relative_size)
{
    struct kit_random r = {54};
    for (int type = ZMPI_F32; type <= ZMPI_F64; type++) {
        struct zmpi_array a = kit_array((enum zmpi_type)type, 4, 100, 200);
        void *src = kit_make(&r, &a, KIT_SMOOTH);
        struct kit_stream coarse = kit_compress(&a, pw_rel(1e-2), src);
        struct kit_stream fine = kit_compress(&a, pw_rel(1e-5), src);
        struct kit_stream exact = kit_compress(&a, (struct zmpi_bound){ZMPI_LOSSLESS, 0}, src);
        cr_assert_lt(coarse.size, kit_bytes(&a) / 5);
        cr_assert(coarse.size < fine.size && fine.size < exact.size);
        for (size_t i = 0; i < kit_elements(&a); i += 1000)
            kit_put(a.type, src, i, i % 3 ? (double)INFINITY : type == ZMPI_F32 ? 1e-40 : 1e-310);
        struct kit_stream odd = kit_compress(&a, pw_rel(1e-2), src);
        cr_assert_lt(odd.size, coarse.size + kit_elements(&a) / 1000 * 16);
        free(coarse.data);
        free(fine.data);
        free(exact.data);
        free(odd.data);
        free(src);
    }
}

Test(modes, relative_threshold)
{
    static const double thresholds[] = {4, 5.3, 1e-30, 1e19, 0x1p-130};
    struct kit_random r = {55};
    for (int type = ZMPI_F32; type <= ZMPI_F64; type++)
        for (size_t k = 0; k < KIT_COUNT(thresholds); k++) {
            struct zmpi_array a = kit_array((enum zmpi_type)type, 1, 50, 90);
            struct zmpi_bound bound = pw_rel(1e-2);
            struct kit_stream s = {malloc(zmpi_compress_capacity(&a)), 0};
            struct zmpi_job job;
            void *src = kit_make(&r, &a, k % 2 ? KIT_DECADES : KIT_SMOOTH);
            cr_assert_eq(zmpi_job_make(&a, &bound, &ZMPI_RANGE_EMPTY, &job), ZMPI_OK);
            zmpi_job_threshold(&job, thresholds[k]);
            cr_assert_eq(
                zmpi_device_cpu()->compress(&job, s.data, zmpi_compress_capacity(&a), src, &s.size),
                ZMPI_OK);
            void *out = kit_decompress(&s);
            kit_check_relative(&a, src, out, 1e-2, "threshold");
            size_t changed = 0;
            for (size_t i = 0; i < kit_elements(&a); i++) {
                double x = kit_get(a.type, src, i), y = kit_get(a.type, out, i);
                cr_assert(x == y || fabs(x) < thresholds[k], "%a became %a", x, y);
                changed += x != y;
            }
            cr_assert(changed > 0 || thresholds[k] < 1e-20);
            free(out);
            free(src);
            free(s.data);
        }
}

/* Fill values that stand apart come back bit for bit. */
Test(modes, relative_fill)
{
    struct kit_random r = {56};
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 50, 90);
    float *src = kit_make(&r, &a, KIT_SMOOTH), *out;
    for (size_t i = 0; i < kit_elements(&a); i += 3)
        src[i] = i % 2 ? 9.96921e36F : -1e20F;
    out = kit_round_trip(&a, pw_rel(0.1), src, "fill");
    for (size_t i = 0; i < kit_elements(&a); i += 3)
        cr_assert(src[i] == out[i]);
    free(out);
    /* And where there is nothing else, or only what is no number. */
    for (size_t nan = 0; nan < 2; nan++) {
        for (size_t i = 0; i < kit_elements(&a); i++)
            src[i] = nan && i % 5 == 1 ? NAN : i % 3 ? 1e30F : -1e20F;
        out = kit_round_trip(&a, pw_rel(0.1), src, "only fill");
        cr_assert_eq(memcmp(src, out, kit_elements(&a) * sizeof *src), 0);
        free(out);
    }
    free(src);
}

/* What a stream says: its bound is the promise, and there is no absolute one. */
Test(modes, relative_info)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 100);
    float src[100] = {1, 2, 3};
    struct zmpi_stream_info info;
    struct kit_stream s = kit_compress(&a, pw_rel(1e-3), src);
    cr_assert_eq(zmpi_stream_info(s.data, s.size, &info), ZMPI_OK);
    cr_assert(info.bound.mode == ZMPI_PW_REL && info.bound.value == 1e-3 && isinf(info.abs_bound));
    free(s.data);
    s = kit_compress(&a, pw_rel(1e-8), src); /* finer than the type */
    cr_assert_eq(zmpi_stream_info(s.data, s.size, &info), ZMPI_OK);
    cr_assert(info.bound.mode == ZMPI_PW_REL && info.abs_bound == 0);
    free(s.data);
}

/* ---- chunks that no encoder writes ---- */

static enum zmpi_status decode_words(const struct zmpi_kernels *k, bool is_float, bool wide,
                                     const unsigned char *src, size_t size)
{
    static struct zmpi_chunk_work *work;
    static unsigned char out[64 * 8];
    const size_t extent[3] = {1, 1, 64};
    struct zmpi_rows rows = {.at = out};
    if (!work)
        work = zmpi_chunk_work_new();
    return (wide ? k->decode64 : k->decode32)(is_float, extent, src, size, &rows, work);
}

Test(modes, refused_chunks)
{
    /* Map 1, all residuals zero; map 1 with one exception in the first block. */
    unsigned char zero[12] = {ZMPI_MAP_INTEGER, 0, ZMPI_CHUNK_ZERO};
    unsigned char one[24] = {ZMPI_MAP_INTEGER, 0, ZMPI_CHUNK_EXCEPTIONS, 3};
    one[8] = ZMPI_BLOCK_EXCEPTIONS;
    zmpi_store32(one + 12, 1);
    for (size_t i = 0; zmpi_kernels_at(i); i++) {
        const struct zmpi_kernels *k = zmpi_kernels_at(i);
        for (unsigned shift = 0; shift < 256 && k->available(); shift++) {
            zero[3] = (unsigned char)shift;
            cr_assert_eq(decode_words(k, true, false, zero, 8) == ZMPI_OK, shift < 32);
            cr_assert_eq(decode_words(k, true, true, zero, 12) == ZMPI_OK, shift < 64);
            cr_assert_eq(decode_words(k, false, false, zero, 8) == ZMPI_OK, shift == 0);
            cr_assert_eq(decode_words(k, false, true, zero, 12) == ZMPI_OK, shift == 0);
            one[3] = (unsigned char)shift;
            cr_assert_eq(decode_words(k, true, false, one, 20) == ZMPI_OK, shift > 0 && shift < 32);
            cr_assert_eq(decode_words(k, false, false, one, 20), ZMPI_ERR_CORRUPT);
        }
    }
    unsigned char stored[4 + 64 * 4] = {ZMPI_MAP_STORED, 0, 0, 1};
    cr_assert_eq(decode_words(zmpi_kernels(), true, false, stored, sizeof stored),
                 ZMPI_ERR_CORRUPT);
}

/* ---- PSNR ---- */

Test(modes, every_psnr)
{
    static const double bounds[] = {0.5, 20, 60, 80, 120, 160, 300};
    struct kit_random r = {61};
    for (int type = ZMPI_F32; type <= ZMPI_F64; type++)
        for (int kind = 0; kind < KIT_DATA_KINDS; kind++) {
            struct zmpi_array a = kit_array((enum zmpi_type)type, 3, 33, 47);
            void *src = kit_make(&r, &a, (enum kit_data)kind);
            for (size_t i = 0; i < KIT_COUNT(bounds); i++) {
                char what[80];
                snprintf(what, sizeof what, "type %d data %d psnr=%g", type, kind, bounds[i]);
                free(kit_round_trip(&a, psnr(bounds[i]), src, what));
            }
            free(src);
        }
}

static double bound_used(const struct zmpi_array *a, double value, const void *src, double *first)
{
    struct zmpi_range range;
    struct zmpi_bound bound = psnr(value);
    struct zmpi_job job;
    zmpi_range_of(a->type, src, kit_elements(a), &range);
    cr_assert_eq(zmpi_job_make(a, &bound, &range, &job), ZMPI_OK);
    *first = job.abs_bound;
    struct kit_stream s = kit_compress(a, bound, src);
    double used = kit_abs_bound(&s);
    free(s.data);
    return used;
}

/* Errors spread evenly: the model's bound does. */
Test(modes, psnr_of_even_errors)
{
    struct kit_random r = {62};
    for (int type = ZMPI_F32; type <= ZMPI_F64; type++) {
        struct zmpi_array a = kit_array((enum zmpi_type)type, 30, 100, 100);
        double first, *src = kit_make(&r, &a, KIT_NOISE);
        cr_assert(bound_used(&a, 60, src, &first) == first, "type %d", type);
        double *out = kit_round_trip(&a, psnr(60), src, "even");
        double got = kit_psnr(&a, src, out);
        cr_assert(got >= 60 && got < 60.3, "%g", got); // a bound of the grid: up to 3.6 % finer
        free(out);
        free(src);
    }
}

/* All errors at the ends of the steps: the model's bound does not, and the last one must. */
Test(modes, psnr_of_the_worst_errors)
{
    struct kit_random r = {63};
    for (int type = ZMPI_F32; type <= ZMPI_F64; type++) {
        struct zmpi_array a = kit_array((enum zmpi_type)type, 10, 100, 100);
        void *src = kit_make(&r, &a, KIT_NOISE);
        kit_put(a.type, src, 0, -1);
        kit_put(a.type, src, 1, 1);
        double first, last;
        bound_used(&a, 50, src, &first);
        struct zmpi_chunk_rule rule;
        zmpi_chunk_rule_make(&rule, a.type, first, (double)INFINITY);
        double step = rule.level[0].step;
        for (size_t i = 2; i < kit_elements(&a); i++)
            kit_put(a.type, src, i, step * (floor(kit_get(a.type, src, i) / step) + 0.49));
        last = bound_used(&a, 50, src, &first);
        cr_assert_lt(last, first);
        free(kit_round_trip(&a, psnr(50), src, "worst"));
        free(src);
    }
}

Test(modes, psnr_without_a_range_is_exact)
{
    struct kit_random r = {64};
    struct zmpi_array a = kit_array(ZMPI_F64, 1, 10, 100);
    double *src = kit_make(&r, &a, KIT_CONSTANT);
    struct kit_stream s = kit_compress(&a, psnr(20), src);
    cr_assert(kit_abs_bound(&s) == 0);
    free(s.data);
    free(src);
}

/* Data that are coded together with others take the bound that holds for any errors. */
Test(modes, psnr_is_reached)
{
    struct zmpi_array a = kit_array(ZMPI_F64, 1, 10, 100);
    struct zmpi_range range = {0, 100, (double)INFINITY};
    struct zmpi_bound bound = psnr(40), other = kit_rel(0.25);
    struct zmpi_job job;
    cr_assert_eq(zmpi_job_make(&a, &bound, &range, &job), ZMPI_OK);
    cr_assert(job.abs_bound > 1.66 && job.abs_bound < 1.7321); // sqrt(3), or less by the grid
    zmpi_job_safe_bound(&job);
    cr_assert(job.abs_bound > 0.96 && job.abs_bound <= 1);
    cr_assert_eq(zmpi_job_make(&a, &other, &range, &job), ZMPI_OK);
    zmpi_job_safe_bound(&job);
    cr_assert(job.abs_bound > 12 && job.abs_bound <= 25);
}

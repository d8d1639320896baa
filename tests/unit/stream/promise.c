/*
 * promise.c - the promise of a lossy stream: every finite element within the bound, NaN payloads,
 * infinities, -0 and fill values bit for bit, and a second compression of decoded data changes
 * nothing.
 */
#include <float.h>
#include <stdio.h>

#include "base/bytes.h"
#include "kit.h"
#include "layout/chunk.h"

static const double abs_bounds[] = {
    1e-320, 1e-50, 1e-42, 1e-38,   5e-10, 1e-3,  0.7,         1,       1e6,       1e10,
    9.9e9,  1e20,  1e38,  FLT_MAX, 1e100, 1e300, DBL_MAX / 2, DBL_MAX, 0x1p-1074, 0x1p-149};

static void check_all_bounds(enum zmpi_type type, enum kit_data kind, uint64_t seed)
{
    struct kit_random r = {seed};
    struct zmpi_array a = kit_array(type, 3, 33, 47);
    void *src = kit_make(&r, &a, kind);
    for (size_t i = 0; i < KIT_COUNT(abs_bounds); i++) {
        char what[80];
        snprintf(what, sizeof what, "type %d data %d abs=%g", type, kind, abs_bounds[i]);
        free(kit_round_trip(&a, kit_abs(abs_bounds[i]), src, what));
    }
    free(src);
}

Test(promise, every_abs_bound_f32)
{
    for (int kind = 0; kind < KIT_DATA_KINDS; kind++)
        check_all_bounds(ZMPI_F32, (enum kit_data)kind, 100 + (uint64_t)kind);
}

Test(promise, every_abs_bound_f64)
{
    for (int kind = 0; kind < KIT_DATA_KINDS; kind++)
        check_all_bounds(ZMPI_F64, (enum kit_data)kind, 200 + (uint64_t)kind);
}

/* Random bounds on random data, many small arrays. */
static void check_random(enum zmpi_type type, uint64_t seed)
{
    struct kit_random r = {seed};
    for (int i = 0; i < test_rounds(1500); i++) {
        enum kit_data kind = (enum kit_data)kit_below(&r, KIT_DATA_KINDS);
        struct zmpi_array a =
            kit_array(type, 1 + kit_below(&r, 3), 1 + kit_below(&r, 9), 1 + kit_below(&r, 90));
        double value = pow(10, (type == ZMPI_F32 ? 45 : 300) * kit_unit(&r));
        void *src = kit_make(&r, &a, kind);
        char what[80];
        snprintf(what, sizeof what, "type %d data %d abs=%a case %d", type, kind, value, i);
        free(kit_round_trip(&a, kit_abs(value), src, what));
        free(src);
    }
}

Test(promise, random_f32)
{
    check_random(ZMPI_F32, 31);
}

Test(promise, random_f64)
{
    check_random(ZMPI_F64, 64);
}

/* Values at and next to the edges between two steps: where rounding breaks promises. */
Test(promise, halfway_values)
{
    static const double bounds[] = {1e-3, 0.05, 1.0 / 3, 7e-8};
    struct kit_random r = {7};
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 20000), d = kit_array(ZMPI_F64, 1, 1, 20000);
    for (size_t b = 0; b < KIT_COUNT(bounds); b++) {
        float *f = malloc(kit_bytes(&a));
        double *g = malloc(kit_bytes(&d));
        for (size_t i = 0; i < 20000; i++) {
            double odd = (double)(2 * (int64_t)kit_below(&r, 1000000) - 999999);
            g[i] = nextafter(odd * bounds[b], i % 2 != 0 ? INFINITY : -INFINITY);
            f[i] = nextafterf((float)(odd * bounds[b]), i % 2 != 0 ? INFINITY : -INFINITY);
        }
        free(kit_round_trip(&a, kit_abs(bounds[b]), f, "f32 halfway"));
        free(kit_round_trip(&d, kit_abs(bounds[b]), g, "f64 halfway"));
        free(f);
        free(g);
    }
}

/* Encoders only compare with the limit of a level: whatever lies within it keeps the bound
 * (format.md 4.4), and nearest to it integers and products are rounded worst. Such words, half a
 * step from two integers or a few numbers more or less. */
static void make_near_limit(struct kit_random *r, enum zmpi_type type, const struct zmpi_step *l,
                            size_t n, void *words)
{
    for (size_t i = 0; i < n; i++) {
        const double steps =
            floor(l->limit / l->step * (1 - fabs(kit_unit(r) * kit_unit(r)))) - 0.5;
        double x = (i % 2 != 0 ? 1 : -1) * steps * l->step;
        for (size_t k = kit_below(r, 4); k > 0; k--)
            x = type == ZMPI_F64 ? nextafter(x, (double)INFINITY * (i % 3 != 0 ? 1 : -1))
                                 : (double)nextafterf((float)x, i % 3 != 0 ? INFINITY : -INFINITY);
        if (type == ZMPI_F64)
            ((double *)words)[i] = fabs(x) <= l->limit ? x : l->limit;
        else
            ((float *)words)[i] = (float)(fabs(x) <= l->limit ? x : l->limit);
    }
}

static void check_near_limit(enum zmpi_type type, const struct zmpi_step *l, double abs_bound,
                             const void *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const float f = type == ZMPI_F64 ? 0 : ((const float *)words)[i];
        const double d = type == ZMPI_F64 ? ((const double *)words)[i] : 0;
        const float of = rintf(f * (float)l->inverse) * (float)l->step;
        const double od = rint(d * l->inverse) * l->step;
        const long double error =
            type == ZMPI_F64 ? (long double)d - (long double)od : (long double)f - (long double)of;
        cr_assert(fabsl(error) < (long double)abs_bound, "type %d abs=%a: %a", type, abs_bound,
                  type == ZMPI_F64 ? d : (double)f);
    }
}

Test(promise, within_the_limit)
{
    enum { N = 512, BOUNDS = 1000 };
    static double words[N];
    struct kit_random r = {44};
    for (int i = 0; i < BOUNDS; i++) {
        const enum zmpi_type type = i % 2 != 0 ? ZMPI_F32 : ZMPI_F64;
        const double value = pow(10, (type == ZMPI_F32 ? 25 : 250) * kit_unit(&r));
        struct zmpi_array a = kit_array(type, 1, 1, N);
        struct zmpi_chunk_rule rule;
        zmpi_chunk_rule_make(&rule, type, value, INFINITY);
        for (int level = 0; level < rule.levels; level++) {
            make_near_limit(&r, type, &rule.level[level], N, words);
            check_near_limit(type, &rule.level[level], value, words, N);
            free(kit_round_trip(&a, kit_abs(value), words, "near the limit"));
        }
    }
}

Test(promise, offset_larger_than_the_mantissa)
{
    struct kit_random r = {8};
    struct zmpi_array a = kit_array(ZMPI_F32, 4, 40, 50);
    float *src = malloc(kit_bytes(&a));
    static const float offsets[] = {1e5f, 1e6f, 1e7f, 1e9f};
    for (size_t k = 0; k < KIT_COUNT(offsets); k++) {
        for (size_t i = 0; i < kit_elements(&a); i++)
            src[i] = offsets[k] + sinf(0.01f * (float)i) + 1e-3f * (float)kit_unit(&r);
        free(kit_round_trip(&a, kit_abs(1e-3), src, "offset"));
    }
    free(src);
}

/* Integers far over 2^31 where the type has the digits for them. */
Test(promise, large_integers)
{
    struct kit_random r = {15};
    struct zmpi_array a = kit_array(ZMPI_F64, 4, 40, 50), f = kit_array(ZMPI_F32, 4, 40, 50);
    double *src = kit_make(&r, &a, KIT_SMOOTH);
    float *narrow = malloc(kit_bytes(&f));
    for (size_t i = 0; i < kit_elements(&a); i++) {
        src[i] = 1e6 * src[i];
        narrow[i] = (float)src[i];
    }
    struct kit_stream s = kit_compress(&a, kit_abs(1e-7), src);
    cr_assert_lt(s.size, kit_bytes(&a)); /* they are quantized: a step is 2e-7 */
    free(s.data);
    free(kit_round_trip(&a, kit_abs(1e-7), src, "f64 integers to 4e13"));
    free(kit_round_trip(&f, kit_abs(1e-7), narrow, "f32 integers to 4e13"));
    free(narrow);
    free(src);
}

/* Nothing but denormals, at bounds below, among and above them. */
Test(promise, denormals)
{
    static const double bounds[] = {1e-45, 1e-42, 1e-40, 1e-30, 1e-320, 1e-310};
    struct kit_random r = {16};
    struct zmpi_array a = kit_array(ZMPI_F32, 3, 30, 40), d = kit_array(ZMPI_F64, 3, 30, 40);
    uint32_t narrow[3600];
    uint64_t wide[3600];
    for (size_t i = 0; i < 3600; i++) {
        narrow[i] = (uint32_t)(kit_next(&r) & 0x807FFFFF) >> kit_below(&r, 2) * 9;
        wide[i] = kit_next(&r) & 0x800FFFFFFFFFFFFF;
    }
    for (size_t i = 0; i < KIT_COUNT(bounds); i++) {
        free(kit_round_trip(&a, kit_abs(bounds[i]), narrow, "f32 denormals"));
        free(kit_round_trip(&d, kit_abs(bounds[i]), wide, "f64 denormals"));
    }
}

/* Smooth data lose nothing to exceptions: there are none, and every chunk is quantized. */
static void check_smooth(enum zmpi_type type, double offset)
{
    struct kit_random r = {17};
    struct zmpi_array a = kit_array(type, 10, 80, 90);
    void *src = kit_make(&r, &a, KIT_SMOOTH);
    struct zmpi_stream s;
    for (size_t i = 0; i < kit_elements(&a); i++)
        kit_put(type, src, i, kit_get(type, src, i) + offset);
    struct kit_stream coded = kit_compress(&a, kit_rel(1e-4), src);
    cr_assert_eq(zmpi_stream_parse(&s, coded.data, coded.size), ZMPI_OK);
    const unsigned char *chunk = s.table + 8 * s.info.chunks;
    for (size_t k = 0; k < s.info.chunks; k++) {
        cr_assert(chunk[0] == 0 && !(chunk[2] & 2), "type %d offset %g chunk %zu: map %d flags %d",
                  type, offset, k, chunk[0], chunk[2]);
        chunk += zmpi_load32(s.table + 8 * k);
    }
    free(coded.data);
    free(src);
}

Test(promise, no_exceptions_in_smooth_data)
{
    static const double offsets[] = {0, -5, 280, 1000};
    for (size_t i = 0; i < KIT_COUNT(offsets); i++) {
        check_smooth(ZMPI_F32, offsets[i]);
        check_smooth(ZMPI_F64, offsets[i]);
    }
}

/* A spike must not cost its neighbours their compression. */
Test(promise, spikes_are_cheap)
{
    struct kit_random r = {9};
    struct zmpi_array a = kit_array(ZMPI_F32, 8, 64, 64);
    float *src = kit_make(&r, &a, KIT_SMOOTH);
    struct kit_stream plain = kit_compress(&a, kit_abs(1e-3), src);
    for (size_t i = 500; i < kit_elements(&a); i += 1000)
        src[i] = 1e30f;
    struct kit_stream spiky = kit_compress(&a, kit_abs(1e-3), src);
    float *out = kit_decompress(&spiky);
    kit_check(&a, src, out, 1e-3, "spikes");
    for (size_t i = 500; i < kit_elements(&a); i += 1000)
        cr_assert(out[i] == 1e30f);
    cr_assert_lt(spiky.size, plain.size + plain.size / 4);
    free(plain.data);
    free(spiky.data);
    free(out);
    free(src);
}

/* ---- values kept bit for bit ---- */

Test(promise, nan_payloads)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 1000);
    uint32_t src[1000];
    for (uint32_t i = 0; i < 1000; i++) {
        float smooth = (float)i * 0.01f;
        memcpy(&src[i], &smooth, 4);
        if (i % 9 == 0)
            src[i] = (i % 2 != 0 ? 0xFF800001u : 0x7F800001u) + i * 4093;
    }
    uint32_t *out = kit_round_trip(&a, kit_abs(0.1), src, "payloads");
    for (size_t i = 0; i < 1000; i += 9)
        cr_assert_eq(out[i], src[i]);
    free(out);
}

static const double fills[] = {1e20,        1e21,           1e25,           1e30,  1e34,
                               1e35,        1e36,           1e37,           1e38,  9.999e20,
                               9.96921e36,  -1e20,          -1e35,          -1e38, -9.999e20,
                               -9.96921e36, 0x1.fffffep127, -0x1.fffffep127};

/* Fill values are not in the range of a rel bound, and come back bit for bit. */
static void check_fill(enum zmpi_type type, double fill, struct zmpi_bound bound)
{
    struct kit_random r = {10};
    struct zmpi_array a = kit_array(type, 2, 50, 60);
    void *src = kit_make(&r, &a, KIT_SMOOTH);
    for (size_t i = 0; i < kit_elements(&a); i++)
        if (i / 40 % 3 == 0)
            kit_put(type, src, i, fill);
    struct kit_stream s = kit_compress(&a, bound, src);
    void *out = kit_decompress(&s);
    cr_assert(kit_abs_bound(&s) > 0 && kit_abs_bound(&s) < 1, "fill %g in the range", fill);
    kit_check(&a, src, out, kit_abs_bound(&s), "fill");
    for (size_t i = 0; i < kit_elements(&a); i++)
        if (i / 40 % 3 == 0)
            cr_assert(kit_get(type, src, i) == kit_get(type, out, i), "fill %g changed", fill);
    free(s.data);
    free(src);
    free(out);
}

Test(promise, fill_values_are_exact)
{
    for (size_t i = 0; i < KIT_COUNT(fills); i++) {
        check_fill(ZMPI_F32, fills[i], kit_abs(1e-3));
        check_fill(ZMPI_F32, fills[i], kit_rel(1e-3));
        check_fill(ZMPI_F64, fills[i], kit_abs(1e-3));
        check_fill(ZMPI_F64, fills[i], kit_rel(1e-3));
        check_fill(ZMPI_F64, (double)(float)fills[i], kit_rel(1e-3));
    }
}

/* ---- constant and empty ranges ---- */

static void check_exact(const struct zmpi_array *a, struct zmpi_bound bound, const void *src)
{
    struct kit_stream s = kit_compress(a, bound, src);
    void *out = kit_decompress(&s);
    cr_assert_eq(memcmp(src, out, kit_bytes(a)), 0);
    free(s.data);
    free(out);
}

Test(promise, rel_without_a_range_is_exact)
{
    struct zmpi_array a = kit_array(ZMPI_F32, 1, 10, 100), one = kit_array(ZMPI_F32, 1, 1, 1);
    float src[1000];
    for (size_t i = 0; i < 1000; i++)
        src[i] = NAN;
    check_exact(&a, kit_rel(1e-3), src);
    src[517] = 3.25f;
    check_exact(&a, kit_rel(1e-3), src);
    for (size_t i = 0; i < 1000; i++)
        src[i] = i % 2 != 0 ? 1e35f : (float)-INFINITY;
    check_exact(&a, kit_rel(1e-3), src);
    for (size_t i = 0; i < 1000; i++)
        src[i] = -0.1f;
    check_exact(&a, kit_rel(1e-3), src);
    check_exact(&one, kit_rel(1e-3), src);
}

Test(promise, constant_arrays_are_small)
{
    struct kit_random r = {11};
    for (int type = ZMPI_F32; type <= ZMPI_F64; type++) {
        struct zmpi_array a = kit_array((enum zmpi_type)type, 64, 64, 64);
        void *src = kit_make(&r, &a, KIT_CONSTANT);
        struct kit_stream rel = kit_compress(&a, kit_rel(1e-3), src);
        struct kit_stream abs = kit_compress(&a, kit_abs(1e-3), src);
        cr_assert_lt(rel.size, kit_bytes(&a) / 200);
        cr_assert_lt(abs.size, kit_bytes(&a) / 200);
        free(rel.data);
        free(abs.data);
        free(src);
    }
}

/* The bound of a distributed array is that of the merged range, whatever the piece's own. */
Test(promise, merged_range)
{
    struct kit_random r = {12};
    struct zmpi_array a = kit_array(ZMPI_F64, 1, 20, 50);
    double *src = kit_make(&r, &a, KIT_SMOOTH);
    struct zmpi_range own = ZMPI_RANGE_EMPTY, other = {-1000, 3000, INFINITY};
    zmpi_range_of(ZMPI_F64, src, 1000, &own);
    zmpi_range_merge(&own, &other);
    cr_assert(own.min == -1000 && own.max == 3000);
    struct zmpi_bound bound = kit_rel(1e-4);
    size_t capacity = zmpi_compress_capacity(&a);
    struct kit_stream s = {malloc(capacity), 0};
    cr_assert_eq(zmpi_compress(&a, &bound, &own, s.data, capacity, src, &s.size), ZMPI_OK);
    cr_assert(kit_abs_bound(&s) > 0.385 && kit_abs_bound(&s) <= 0.4); // on the grid below it
    double *out = kit_decompress(&s);
    kit_check(&a, src, out, 0.4, "merged range");
    free(s.data);
    free(src);
    free(out);
}

/* The range itself is larger than the largest number of the type. */
Test(promise, rel_of_a_huge_range)
{
    struct kit_random r = {14};
    struct zmpi_array a = kit_array(ZMPI_F64, 1, 1, 3000), f = kit_array(ZMPI_F32, 1, 1, 3000);
    double wide[3000];
    float narrow[3000];
    for (size_t i = 0; i < 3000; i++) {
        wide[i] = 1.75e308 * kit_unit(&r);
        narrow[i] = 3.3e38f * (float)kit_unit(&r);
    }
    wide[5] = 1.75e308;
    wide[6] = -1.75e308;
    narrow[5] = 3.3e38f;
    narrow[6] = -3.3e38f;
    double *out = kit_round_trip(&a, kit_rel(1e-3), wide, "wide f64");
    kit_check(&a, wide, out, 3.5e305, "wide f64, bound by hand");
    free(out);
    float *small = kit_round_trip(&f, kit_rel(1e-3), narrow, "wide f32");
    kit_check(&f, narrow, small, 6.6e35, "wide f32, bound by hand");
    free(small);
}

/* ---- a second compression ---- */

static void check_idempotent(const struct zmpi_array *a, double bound, const void *src,
                             const char *what)
{
    void *once = kit_round_trip(a, kit_abs(bound), src, what);
    void *twice = kit_round_trip(a, kit_abs(bound), once, what);
    cr_assert_eq(memcmp(once, twice, kit_bytes(a)), 0, "%s: the second time changes data", what);
    free(once);
    free(twice);
}

Test(promise, idempotent)
{
    struct kit_random r = {13};
    for (int i = 0; i < test_rounds(600); i++) {
        enum zmpi_type type = i % 2 != 0 ? ZMPI_F32 : ZMPI_F64;
        enum kit_data kind = (enum kit_data)kit_below(&r, KIT_DATA_KINDS);
        struct zmpi_array a =
            kit_array(type, 1 + kit_below(&r, 5), 1 + kit_below(&r, 40), 1 + kit_below(&r, 90));
        double bound = pow(10, 9 * kit_unit(&r) - 3);
        void *src = kit_make(&r, &a, kind);
        char what[80];
        snprintf(what, sizeof what, "type %d data %d abs=%a case %d", type, kind, bound, i);
        check_idempotent(&a, bound, src, what);
        free(src);
    }
}

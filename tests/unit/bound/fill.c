/*
 * fill.c - fill values of any size are exact and out of the range (format.md 4.2); outliers and the
 * ends of real fields are none.
 */
#include "bound/fill.h"

#include "field.h"

enum { N = 200000, EXACT_BELOW = 4096 };

static const struct zmpi_bound rel3 = {ZMPI_REL, 1e-3};

/* A field of 0 to 1 with stretches of these values. */
static void *make(enum zmpi_type type, const double *fill, size_t fills)
{
    void *x = malloc(N * zmpi_type_size(type));
    cr_assert_not_null(x);
    for (size_t i = 0; i < N; i++)
        kit_put(type, x, i,
                fills && i / 700 % 4 == 0
                    ? fill[i / 2800 % fills]
                    : 0.5 + 0.5 * sin(1e-4 * (double)i) * cos(3e-3 * (double)i));
    return x;
}

static struct zmpi_range range_and(enum zmpi_type type, const void *x, size_t n,
                                   struct zmpi_fills *fills)
{
    struct zmpi_range range;
    zmpi_fill_range(type, x, n, 0, fills, 2, &range);
    return range;
}

static struct zmpi_range range_of(enum zmpi_type type, const void *x, size_t n)
{
    return range_and(type, x, n, NULL);
}

static void check_kept_by(enum zmpi_type type, struct zmpi_bound bound, const double *fill,
                          size_t fills)
{
    const struct zmpi_array a = kit_array(type, 1, 1, N);
    void *x = make(type, fill, fills);
    struct kit_stream s = kit_compress(&a, bound, x);
    void *y = kit_decompress(&s);
    const struct zmpi_range range = range_of(type, x, N);
    cr_assert(range.min >= 0 && range.max <= 1, "%g: range %g to %g", fill[0], range.min,
              range.max);
    for (size_t i = 0; i < N; i++) {
        const double was = kit_get(type, x, i), is = kit_get(type, y, i);
        cr_assert(fabs(was) > 1 ? was == is : fabs(was - is) <= 1e-3, "%g: %g became %g", fill[0],
                  was, is);
    }
    free(s.data);
    free(y);
    free(x);
}

static void check_kept(enum zmpi_type type, const double *fill, size_t fills)
{
    const struct zmpi_bound abs3 = {ZMPI_ABS, 1e-3};
    check_kept_by(type, rel3, fill, fills);
    check_kept_by(type, abs3, fill, fills);
}

Test(fill, kept)
{
    const double fills[] = {-9999, -999, 9999, 1e15, -32768, 1e30, -1e34, 3};
    for (size_t i = 0; i < KIT_COUNT(fills); i++) {
        check_kept(ZMPI_F32, &fills[i], 1);
        check_kept(ZMPI_F64, &fills[i], 1);
    }
    const double two[] = {-9999, -999}, others[] = {1e15, -9999}, known[] = {1e30, -9999};
    check_kept(ZMPI_F32, two, 2);
    check_kept(ZMPI_F64, others, 2);
    check_kept(ZMPI_F32, known, 2);
}

/* A field of one value and fill values; two states, which are none. */
Test(fill, alike)
{
    float *x = malloc(N * sizeof *x);
    cr_assert_not_null(x);
    for (size_t i = 0; i < N; i++)
        x[i] = i / 100 % 3 ? 300.5F : -9999;
    cr_assert_eq(range_of(ZMPI_F32, x, N).min, 300.5);
    for (size_t i = 0; i < N; i++)
        x[i] = i / 100 % 3 ? 0 : 0.375F;
    cr_assert_eq(range_of(ZMPI_F32, x, N).max, 0.375);
    for (size_t i = 0; i < N; i++)
        x[i] = i / 100 % 3 ? 1 : 2;
    cr_assert_eq(range_of(ZMPI_F32, x, N).max, 2.0);
    free(x);
}

/* What is once or a few times there is an outlier; what is near the others is one of them; zero is
 * no magnitude; constants have no others. */
Test(fill, none)
{
    const double near = 1.4, zero = 0;
    float *x = make(ZMPI_F32, NULL, 0);
    x[5] = x[100000] = 500;
    cr_assert_eq(range_of(ZMPI_F32, x, N).max, 500.0);
    for (size_t i = 0; i < N; i++)
        x[i] = 300;
    cr_assert_eq(range_of(ZMPI_F32, x, N).max, 300.0);
    free(x);
    x = make(ZMPI_F32, &near, 1);
    cr_assert_float_eq(range_of(ZMPI_F32, x, N).max, 1.4, 1e-6);
    free(x);
    x = make(ZMPI_F32, &zero, 1);
    cr_assert(range_of(ZMPI_F32, x, N).fill > 1e300);
    free(x);
}

/* Values about 1e5 with others that are nearer to 0, and among values of both signs. */
static void check_near(enum zmpi_type type, struct zmpi_bound bound, const double *fill,
                       size_t fills)
{
    const struct zmpi_array a = kit_array(type, 1, 1, N);
    struct zmpi_fills found = {0};
    void *x = make(type, fill, fills);
    size_t missing = 0;
    for (size_t i = 0; i < N; i++)
        if (i / 700 % 4 != 0)
            kit_put(type, x, i, 1e5 + 2000 * kit_get(type, x, i));
    const struct zmpi_range range = range_and(type, x, N, &found);
    cr_assert(range.min >= 1e5 && range.max <= 102000, "%g: range %g to %g", fill[0], range.min,
              range.max);
    cr_assert_eq(found.count, (int)fills, "%g: %d", fill[0], found.count);
    struct kit_stream s = kit_compress(&a, bound, x);
    void *y = kit_decompress(&s);
    for (size_t i = 0; i < N; i++) {
        const double was = kit_get(type, x, i), is = kit_get(type, y, i);
        missing += was < 9e4;
        cr_assert(was < 9e4 ? was == is : fabs(was - is) <= 2, "%g: %g became %g", fill[0], was,
                  is);
    }
    cr_assert(missing > N / 5);
    free(s.data);
    free(y);
    free(x);
}

Test(fill, near)
{
    const struct zmpi_bound abs2 = {ZMPI_ABS, 2};
    const double one[] = {-9999, -999, 0, -1, 9999, -32768, 3},
                 two[][2] = {{-9999, -999}, {0, -9999}, {0, -1}, {-32768, 32767}};
    for (size_t i = 0; i < KIT_COUNT(one); i++)
        for (int t = 0; t < 4; t++)
            check_near(t % 2 ? ZMPI_F64 : ZMPI_F32, t / 2 ? abs2 : rel3, &one[i], 1);
    for (size_t i = 0; i < KIT_COUNT(two); i++)
        check_near(i % 2 ? ZMPI_F64 : ZMPI_F32, rel3, two[i], 2);
}

/* One near the data and one larger than all; one on either side; a user's beside one that is
 * found. */
Test(fill, both_kinds)
{
    struct zmpi_fills found = {0};
    double *x = malloc(N * sizeof *x);
    cr_assert_not_null(x);
    for (size_t i = 0; i < N; i++)
        x[i] = i % 9 == 0 ? -9999 : i % 7 == 0 ? 1e15 : 1e5 + 2000 * sin(0.01 * (double)i);
    struct zmpi_range range = range_and(ZMPI_F64, x, N, &found);
    cr_assert(range.min > 97000 && range.max < 103000 && range.fill == 1e15 && found.count == 1 &&
              found.value[0] == -9999);
    for (size_t i = 0; i < N; i++)
        x[i] = i % 9 == 0 ? 0 : i % 7 == 0 ? 300000 : 1e5 + 2000 * sin(0.01 * (double)i);
    found.count = 0;
    range = range_and(ZMPI_F64, x, N, &found);
    cr_assert(range.min > 97000 && range.max < 103000, "%g to %g", range.min, range.max);
    found = (struct zmpi_fills){1, {300000, 0}};
    range = range_and(ZMPI_F64, x, N, &found);
    cr_assert(range.min > 97000 && range.max < 103000 && found.count == 2, "%g to %g", range.min,
              range.max);
    free(x);
}

/* What is there once is none, nor what is no further from the others than their range. */
Test(fill, none_near)
{
    double *x = malloc(N * sizeof *x);
    for (int dress = 0; dress < 2; dress++) {
        struct zmpi_fills found = {0};
        for (size_t i = 0; i < N; i++) {
            const bool missing = dress == 1 ? i == 77 : i % 7 == 3;
            x[i] = missing ? -9999 : 1e5 + (dress == 0 ? 6e4 : 2000) * sin(0.01 * (double)i);
        }
        const struct zmpi_range range = range_and(ZMPI_F64, x, N, &found);
        cr_assert(found.count == 0 && range.min < 0, "%d: %g", dress, range.min);
    }
    free(x);
}

/* Of other parts of the data, too. */
Test(fill, parts)
{
    const struct zmpi_fill none = ZMPI_FILL_NONE, nine = {0, 9, INFINITY, -INFINITY},
                           three = {0, 3, -1, -1}, zero = {0, 0, 0, 0};
    const struct zmpi_fill two = zmpi_fill_merge(nine, three), all = zmpi_fill_merge(two, zero);
    double a[ZMPI_FILL_SAID], b[ZMPI_FILL_SAID];
    cr_assert(zmpi_fill_smallest(none) > 1e300 && zmpi_fill_smallest(nine) == 9);
    cr_assert(two.least == 3 && two.most == 9 && two.low == -1 && two.high == -1);
    cr_assert(all.least == 3 && all.most == 9 && all.low == -1 && all.high == 0);
    zmpi_fill_say(two, a);
    zmpi_fill_say(zero, b);
    for (int i = 0; i < ZMPI_FILL_SAID; i++)
        a[i] = fmin(a[i], b[i]);
    const struct zmpi_fill heard = zmpi_fill_heard(a);
    cr_assert(heard.least == 3 && heard.most == 9 && heard.low == -1 && heard.high == 0);
    zmpi_fill_say(none, a);
    cr_assert(zmpi_fill_heard(a).low > zmpi_fill_heard(a).high && zmpi_fill_heard(a).most <= 0);
}

/* Whole, and in pieces, as a program may write them. Particles of one mass are left out: that is
 * one number, and far from all others. In pieces so small that they are exact by default, 0 may be
 * one: salinities of 34.6 to 35 and land. */
static void check_field(const struct field *f)
{
    if (strstr(f->path, "nyx_particles"))
        return;
    const enum zmpi_type type = f->array.type;
    const size_t count = kit_elements(&f->array), width = zmpi_type_size(type);
    for (size_t n = count; n >= 64; n = n / 3)
        for (size_t at = 0; at + n <= count; at += n + count / 5) {
            const unsigned char *x = (const unsigned char *)f->data + at * width;
            struct zmpi_fills fills = {0};
            struct zmpi_range plain, found = range_and(type, x, n, &fills);
            zmpi_range_scan(type, x, n, 0, 1, &plain);
            if (n <= EXACT_BELOW && fills.count == 1 && !(fabs(fills.value[0]) > 0))
                continue;
            cr_assert(memcmp(&plain, &found, sizeof plain) == 0 && fills.count == 0,
                      "%s, %zu elements from %zu: range %g to %g, taken for %g to %g", f->path, n,
                      at, plain.min, plain.max, found.min, found.max);
        }
}

Test(fill, fields)
{
    each_field(check_field);
}

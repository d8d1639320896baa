/*
 * fill.c - fill values of any size are exact and out of the range (format.md 4.2); outliers and the
 * ends of real fields are none.
 */
#include "bound/fill.h"

#include "field.h"

enum { N = 200000 };

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

static struct zmpi_range range_of(enum zmpi_type type, const void *x, size_t n)
{
    struct zmpi_range range;
    zmpi_fill_range(type, x, n, 0, NULL, 2, &range);
    return range;
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

/* Nearer to 0 than all others: only a user can name it. */
Test(fill, within)
{
    double *x = malloc(N * sizeof *x);
    for (int dress = 0; dress < 4; dress++) {
        for (size_t i = 0; i < N; i++) {
            const bool missing = dress == 1 ? i == 77 : i % 7 == 3;
            x[i] = missing ? -9999 : 1e5 + (dress == 2 ? 2e5 : 2000) * sin(0.01 * (double)i);
            x[i] = dress == 3 && missing ? 0 : x[i];
        }
        const struct zmpi_range range = range_of(ZMPI_F64, x, N);
        const double found = zmpi_fill_within(ZMPI_F64, x, N, &range);
        cr_assert_float_eq(found, dress == 0 ? -9999 : 0, 1e-9, "%d: %g", dress, found);
    }
    free(x);
}

static void check_none_within(const struct field *f)
{
    const size_t count = kit_elements(&f->array);
    const struct zmpi_range range = range_of(f->array.type, f->data, count);
    cr_assert_float_eq(zmpi_fill_within(f->array.type, f->data, count, &range), 0, 1e-99, "%s",
                       f->path);
}

Test(fill, none_within_fields)
{
    each_field(check_none_within);
}

/* Of other parts of the data, too. */
Test(fill, parts)
{
    const struct zmpi_fill none = zmpi_fill_of((double)INFINITY, 0), one = zmpi_fill_of(9, 9),
                           two = zmpi_fill_of(3, 9);
    cr_assert(!(none.least > 0) && !(none.most > 0));
    cr_assert(!(one.least > 0) && one.most == 9);
    cr_assert(two.least == 3 && two.most == 9);
    cr_assert(zmpi_fill_smallest(none) > 1e300 && zmpi_fill_smallest(one) == 9 &&
              zmpi_fill_smallest(two) == 3);
}

/* Whole, and in pieces, as a program may write them. Particles of one mass are left out: that is
 * one number, and far from all others. */
static void check_field(const struct field *f)
{
    if (strstr(f->path, "nyx_particles"))
        return;
    const enum zmpi_type type = f->array.type;
    const size_t count = kit_elements(&f->array), width = zmpi_type_size(type);
    for (size_t n = count; n >= 64; n = n / 3)
        for (size_t at = 0; at + n <= count; at += n + count / 5) {
            const unsigned char *x = (const unsigned char *)f->data + at * width;
            struct zmpi_range plain, found = range_of(type, x, n);
            zmpi_range_scan(type, x, n, 0, 1, &plain);
            cr_assert(memcmp(&plain, &found, sizeof plain) == 0,
                      "%s, %zu elements from %zu: range %g to %g, taken for %g to %g", f->path, n,
                      at, plain.min, plain.max, found.min, found.max);
        }
}

Test(fill, fields)
{
    each_field(check_field);
}

/* components.c - how many variables take turns in an array, by its data. */
#include "judge/components.h"

#include <math.h>

#include "field.h"

/* Fields of several variables, one behind the other; all others have one. */
static int components_of(const char *path)
{
    return strstr(path, "nyx_particles") ? 7 : strstr(path, "qmcpack_density_g") ? 2 : 1;
}

static void check_field(const struct field *f)
{
    const size_t count = kit_elements(&f->array), width = zmpi_type_size(f->array.type);
    const unsigned char *data = f->data;
    const int n = components_of(f->path);
    cr_assert_eq(zmpi_components_find(f->array.type, 1e20, data, count), n, "%s", f->path);
    cr_assert_eq(zmpi_components_cut(f->array.type, 1e20, data, count - 1), n, "%s", f->path);
    cr_assert_eq(zmpi_components_cut(f->array.type, 1e20, data, count), 1, "%s", f->path);
    for (size_t part = 2048; part <= count && n == 1; part *= 2)
        for (size_t at = 0; at + part <= count; at += part)
            cr_assert_eq(zmpi_components_find(f->array.type, 1e20, data + at * width, part), 1,
                         "%s: %zu at %zu", f->path, part, at);
}

Test(components, fields)
{
    each_field(check_field);
}

/* Taken apart, and by the same absolute bound, no field is larger by more than 1 %. */
static void check_size(const struct field *f)
{
    const size_t count = kit_elements(&f->array), width = zmpi_type_size(f->array.type);
    const int n = components_of(f->path);
    const struct zmpi_array one = kit_array(f->array.type, 1, 1, count),
                            part = kit_array(f->array.type, 1, 1, count / (size_t)n);
    struct zmpi_range range;
    void *component = malloc(count / (size_t)n * width);
    zmpi_range_of(f->array.type, f->data, count, &range);
    for (double share = 1e-2; share > 1e-7 && n > 1; share /= 10) {
        const struct zmpi_bound bound = {ZMPI_ABS, share * (range.max - range.min)};
        struct kit_stream whole = kit_compress(&one, bound, f->data);
        size_t apart = 0;
        for (int c = 0; c < n; c++) {
            zmpi_component_take(f->array.type, f->data, count, n, c, component);
            struct kit_stream s = kit_compress(&part, bound, component);
            apart += s.size;
            free(s.data);
        }
        cr_assert((double)apart <= 1.01 * (double)whole.size, "%s, abs=%g: %zu apart, %zu as one",
                  f->path, bound.value, apart, whole.size);
        free(whole.data);
    }
    free(component);
}

Test(components, fields_by_abs)
{
    each_field(check_size);
}

static double state(size_t point, size_t component, size_t n)
{
    const double s = sin(0.01 * (double)point + (double)component);
    return component == 0 ? 1 + 0.1 * s : component + 1 == n ? 1e5 + 2000 * s : 10 * s;
}

Test(components, states)
{
    enum { POINTS = 5040 };
    for (size_t n = 2; n <= ZMPI_COMPONENTS_FAST; n++) {
        double *x = malloc(POINTS * n * sizeof *x);
        cr_assert_not_null(x);
        for (size_t i = 0; i < POINTS * n; i++)
            x[i] = state(i / n, i % n, n);
        cr_assert_eq(zmpi_components_find(ZMPI_F64, 1e20, x, POINTS * n), n, "%zu", n);
        cr_assert_eq(zmpi_components_cut(ZMPI_F64, 1e20, x + 1, POINTS * n - 1), n, "%zu", n);
        free(x);
    }
}

/* Variables that only differ: what the neighbour tells, the point before tells better. */
static double one_of(size_t point, size_t component)
{
    return 10 * sin(0.01 * (double)point + 2.4 * (double)component) +
           0.1 * sin(0.9 * (double)point * (double)component);
}

Test(components, near)
{
    enum { POINTS = 5040 };
    double *x = malloc(POINTS * ZMPI_COMPONENTS_FAST * sizeof *x);
    cr_assert_not_null(x);
    for (size_t n = 1; n <= ZMPI_COMPONENTS_FAST; n++)
        for (double step = 1e-9; step < 0.1; step *= 10) {
            for (size_t i = 0; i < POINTS * n; i++)
                x[i] = one_of(i / n, i % n);
            cr_assert_eq(zmpi_components_near(ZMPI_F64, 1e20, step, x, POINTS * n), n, "%zu, %g", n,
                         step);
            x[0] = NAN;
            cr_assert_eq(zmpi_components_near(ZMPI_F64, 1e20, step, x, POINTS * n), n);
        }
    cr_assert_eq(zmpi_components_near(ZMPI_F64, 1e20, 0, x, POINTS), 1);
    cr_assert_eq(zmpi_components_near(ZMPI_I32, 1e20, 1e-3, x, POINTS), 1);
    cr_assert_eq(zmpi_components_near(ZMPI_F64, 1e20, 1e-3, x, 2 * ZMPI_COMPONENTS_LEAST - 1), 1);
    for (size_t i = 0; i < POINTS; i++)
        x[i] = i % 2 ? NAN : 1e30;
    cr_assert_eq(zmpi_components_near(ZMPI_F64, 1e20, 1e-3, x, POINTS), 1);
    free(x);
}

/* No field of one variable looks like several; coordinates of atoms are three variables. */
static void check_near(const struct field *f)
{
    const size_t count = kit_elements(&f->array);
    const int n = strstr(f->path, "_pos_") ? 3 : components_of(f->path);
    struct zmpi_range range;
    zmpi_range_of(f->array.type, f->data, count, &range);
    for (double share = 1e-2; share > 1e-7; share /= 10) {
        const double step = 2 * share * (range.max - range.min);
        const int found = zmpi_components_near(f->array.type, 1e20, step, f->data, count);
        cr_assert(found == 1 || found == n, "%s, %g: %d", f->path, share, found);
    }
}

Test(components, fields_near)
{
    each_field(check_near);
}

/* Nothing but special values; constants; few values; another type. */
Test(components, odd)
{
    enum { COUNT = 6000 };
    float x[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = i % 2 ? NAN : INFINITY;
    cr_assert_eq(zmpi_components_find(ZMPI_F32, 1e20, x, COUNT), 1);
    for (int i = 0; i < COUNT; i++)
        x[i] = i % 3 ? 5 : 7;
    cr_assert_eq(zmpi_components_find(ZMPI_F32, 1e20, x, COUNT), 1);
    for (size_t n = 0; n < 2 * ZMPI_COMPONENTS_LEAST; n++)
        cr_assert_eq(zmpi_components_find(ZMPI_F32, 1e20, x, n), 1);
    cr_assert_eq(zmpi_components_find(ZMPI_I32, 1e20, x, COUNT), 1);
}

/* Data of another kind in a later call of the same length are found by the next look. */
Test(components, known)
{
    enum { COUNT = 9000 };
    struct zmpi_components_known known = {0};
    double *x = malloc(COUNT * sizeof *x);
    bool is_new;
    int cut;
    for (int i = 0; i < COUNT; i++)
        x[i] = sin(0.01 * i);
    for (int call = 1; call <= 2; call++) {
        cr_assert_eq(zmpi_components_recall(&known, ZMPI_F64, 1e20, x, COUNT, &is_new, &cut), 1);
        cr_assert_not(is_new);
    }
    for (size_t i = 0; i < COUNT; i++)
        x[i] = state(i / 3, i % 3, 3);
    for (int call = 3; call <= 5; call++) {
        const int n = zmpi_components_recall(&known, ZMPI_F64, 1e20, x, COUNT, &is_new, NULL);
        cr_assert_eq(n, call < 4 ? 1 : 3);
        cr_assert_eq(is_new, call == 4);
    }
    free(x);
}

Test(components, taken)
{
    enum { POINTS = 1003, MOST = 9 };
    uint64_t *x = malloc(sizeof *x * POINTS * MOST), *y = malloc(sizeof *y * POINTS);
    uint32_t *v = malloc(sizeof *v * POINTS * MOST), *w = malloc(sizeof *w * POINTS);
    for (size_t i = 0; i < POINTS * MOST; i++) {
        x[i] = i * 0x9E3779B97F4A7C15;
        v[i] = (uint32_t)i * 0x9E3779B9;
    }
    for (int n = 1; n <= MOST; n++)
        for (int c = 0; c < n; c++) {
            zmpi_component_take(ZMPI_F64, x, POINTS * (size_t)n, n, c, y);
            zmpi_component_take(ZMPI_F32, v, POINTS * (size_t)n, n, c, w);
            for (size_t i = 0; i < POINTS; i++) {
                cr_assert_eq(y[i], x[i * (size_t)n + (size_t)c]);
                cr_assert_eq(w[i], v[i * (size_t)n + (size_t)c]);
            }
        }
    free(x);
    free(y);
    free(v);
    free(w);
}

/* Apart by any number of threads, at any place, and together again; the ranges likewise. */
Test(components, moved)
{
    enum { POINTS = 40001, MOST = 64, GAP = 7 };
    static const int number[] = {2, 3, 5, 16, 64};
    const struct zmpi_fills none = {0};
    double *x = malloc((size_t)POINTS * MOST * 8), *back = malloc((size_t)POINTS * MOST * 8),
           *planes = malloc((size_t)(POINTS + GAP) * MOST * 8);
    cr_assert(x && back && planes);
    for (size_t i = 0; i < (size_t)POINTS * MOST; i++)
        x[i] = (double)(i * 7919 % 1000003);
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        for (int threads = 1; threads <= 4; threads += 3) {
            const int n = number[k];
            const size_t all = (size_t)POINTS * (size_t)n;
            struct zmpi_range range[MOST];
            zmpi_components_split(ZMPI_F64, x, POINTS, n, threads, planes, POINTS + GAP);
            for (size_t i = 0; i < all; i++)
                cr_assert(
                    memcmp(&planes[i % (size_t)n * (POINTS + GAP) + i / (size_t)n], &x[i], 8) == 0);
            memset(back, 0, all * 8);
            for (int c = 0; c < n; c++)
                zmpi_component_put(ZMPI_F64, planes + c * (POINTS + GAP), POINTS, n, c, back);
            cr_assert(memcmp(back, x, all * 8) == 0);
            /* The same bytes as twice as many of half the width. */
            if (2 * n <= MOST) {
                zmpi_components_split(ZMPI_F32, x, POINTS, 2 * n, threads, planes, POINTS + GAP);
                memset(back, 0, all * 8);
                for (int c = 0; c < 2 * n; c++)
                    zmpi_component_put(ZMPI_F32, (float *)(void *)planes + c * (POINTS + GAP),
                                       POINTS, 2 * n, c, back);
                cr_assert(memcmp(back, x, all * 8) == 0);
            }
            for (int c = 0; c < n; c++)
                range[c] = ZMPI_RANGE_EMPTY;
            zmpi_components_range(ZMPI_F64, x, all, n, 1, n, 1e20, &none, threads, range);
            cr_assert(!(range[0].min <= range[0].max)); /* which was not asked for */
            for (int c = 1; c < n; c++) {
                double low = x[c], high = x[c];
                for (size_t i = (size_t)c; i < all; i += (size_t)n) {
                    low = fmin(low, x[i]);
                    high = fmax(high, x[i]);
                }
                cr_assert(range[c].min >= low && range[c].min <= low && range[c].max >= high &&
                          range[c].max <= high);
            }
        }
    free(x);
    free(back);
    free(planes);
}

static bool same(double a, double b)
{
    return a <= b && a >= b;
}

/* Ranges as the components have them by themselves, whatever is left out of some of them: NaN and
 * infinities, values from a threshold on, named fill values. */
Test(components, ranges)
{
    enum { MOST = 3000, NUMBER = 64 };
    struct kit_random r = {11};
    unsigned char *x = malloc((size_t)MOST * NUMBER * 8 + 1), *one = malloc((size_t)MOST * 8);
    cr_assert(x && one);
    for (int trial = 0; trial < 300; trial++) {
        const enum zmpi_type type = trial % 2 ? ZMPI_F32 : ZMPI_F64;
        const int n = 2 + (int)kit_below(&r, NUMBER - 1), first = (int)kit_below(&r, (size_t)n),
                  strange = trial % 3 ? (int)kit_below(&r, (size_t)n) : -1;
        const size_t points = 1 + kit_below(&r, MOST - 1), all = points * (size_t)n;
        const double threshold = trial % 5 == 0 ? 30 : 1e20;
        const struct zmpi_fills fills = {trial % 7 == 0, {-7.25}};
        unsigned char *at = x + trial % 4 / 3; /* at any address */
        struct zmpi_range range[ZMPI_COMPONENTS_MOST], own;
        for (size_t i = 0; i < all; i++) {
            const size_t c = i % (size_t)n;
            double v = (double)c + kit_unit(&r);
            if ((int)c == strange && kit_below(&r, 50) == 0)
                v = kit_special(&r, type);
            if (kit_below(&r, 2000) == 0)
                v = -7.25;
            kit_put(type, x, i, v);
        }
        memmove(at, x, all * zmpi_type_size(type));
        for (int c = 0; c < n; c++)
            range[c] = ZMPI_RANGE_EMPTY;
        zmpi_components_range(type, at, all, n, first, n, threshold, &fills, 1, range);
        for (int c = first; c < n; c++) {
            zmpi_component_take(type, at, all, n, c, one);
            zmpi_range_without(type, one, points, threshold, &fills, 1, &own);
            cr_assert(same(own.min, range[c].min) && same(own.max, range[c].max) &&
                          same(own.fill, range[c].fill),
                      "trial %d, component %d of %d: %g %g %g, not %g %g %g", trial, c, n,
                      range[c].min, range[c].max, range[c].fill, own.min, own.max, own.fill);
        }
    }
    free(x);
    free(one);
}

/* Together: any bytes of any number of components, at any address, kept in the caches or not. */
Test(components, moved_together)
{
    enum { POINTS = 97, MOST = 64, BYTES = POINTS * MOST * 8, MARK = 0xA5 };
    static const int number[] = {2, 3, 5, 8, 9, 64};
    unsigned char *planes = malloc(BYTES), *mixed = malloc(BYTES), *got = malloc(BYTES + 64);
    struct kit_random r = {11};
    cr_assert(planes && mixed && got);
    for (size_t i = 0; i < BYTES; i++)
        planes[i] = (unsigned char)kit_below(&r, 256);
    for (int trial = 0; trial < 4000; trial++) {
        const size_t n = (size_t)number[kit_below(&r, KIT_COUNT(number))];
        const size_t width = kit_below(&r, 2) ? 8 : 4, all = POINTS * n * width;
        struct zmpi_planes p = {.n = n, .width = width, .planes = n};
        for (size_t c = 0; c < n; c++) {
            p.word[c] = planes + c * POINTS * width;
            zmpi_component_put(width == 8 ? ZMPI_F64 : ZMPI_F32, p.word[c], POINTS, (int)n, 0,
                               mixed + c * width);
        }
        size_t lo = kit_below(&r, (unsigned)all), hi = lo + kit_below(&r, (unsigned)(all - lo) + 1);
        if (trial % 3 == 0) { /* all of it */
            lo = 0;
            hi = all;
        }
        const size_t step = trial % 2 ? width : 1;
        unsigned char *dst = got + 16 + kit_below(&r, 16) / step * step;
        memset(got, MARK, BYTES + 64);
        zmpi_components_place(&p, lo, hi, kit_below(&r, 2), dst);
        cr_assert(memcmp(dst, mixed + lo, hi - lo) == 0, "%zu of %zu bytes, [%zu, %zu)", n, width,
                  lo, hi);
        cr_assert(dst[-1] == MARK && dst[hi - lo] == MARK);
    }
    free(planes);
    free(mixed);
    free(got);
}

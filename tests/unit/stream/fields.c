/*
 * fields.c - the promise, and the ratio, on real fields: the files NAME_DIMS.f32 and .f64 of the
 * folder ZMPI_DATA.
 */
#include "field.h"
#include "judge/byte_order.h"

/* At rel=1e-3, geometric mean over the f32 fields without fill values. */
#define LEAST_RATIO  7.6
#define RATIO_FIELDS 26

static void check_bound(const struct field *f, struct zmpi_bound bound)
{
    char what[600];
    snprintf(what, sizeof what, "%s, mode %d %g", f->path, bound.mode, bound.value);
    free(kit_round_trip(&f->array, bound, f->data, what));
}

/* Of the exponents 2 to 5 a field has two in its turn, or all. */
static int exponent_step(void)
{
    return test_long() ? 1 : 2;
}

static int first_exponent(int *turn)
{
    return 2 + (*turn)++ % exponent_step();
}

static void check_rel(const struct field *f)
{
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    zmpi_range_of(f->array.type, f->data, kit_elements(&f->array), &range);
    static int turn;
    for (int i = first_exponent(&turn); i <= 5; i += exponent_step()) {
        struct zmpi_bound bound = kit_rel(pow(10, -i));
        struct kit_stream s = kit_compress(&f->array, bound, f->data);
        double abs_bound = kit_abs_bound(&s);
        cr_assert(abs_bound <= bound.value * (range.max - range.min), "%s: %g", f->path, abs_bound);
        void *out = kit_decompress(&s);
        kit_check(&f->array, f->data, out, abs_bound, f->path);
        free(s.data);
        free(out);
    }
}

static void check_abs(const struct field *f)
{
    static int turn;
    for (int i = first_exponent(&turn); i <= 5; i += exponent_step())
        check_bound(f, kit_abs(pow(10, -i)));
}

static void check_lossless(const struct field *f)
{
    check_bound(f, (struct zmpi_bound){ZMPI_LOSSLESS, 0});
}

static bool is_swapped(const struct zmpi_array *a, const unsigned char *data, size_t count)
{
    struct zmpi_order order = {0};
    zmpi_order_look(&order, a->type, data, count);
    return zmpi_order_is_other(&order) || zmpi_order_has_integers(&order);
}

/* As it is, no part is taken for turned around, or integers; turned around, the whole is. */
static void check_order(const struct field *f)
{
    const size_t width = zmpi_type_size(f->array.type), count = kit_elements(&f->array);
    unsigned char *data = f->data;
    for (size_t n = 32; n <= count; n *= 32)
        for (size_t at = 0; at + n <= count; at += n)
            cr_assert_not(is_swapped(&f->array, data + at * width, n), "%s: %zu at %zu", f->path, n,
                          at);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < width / 2; k++) {
            unsigned char *element = data + i * width, byte = element[k];
            element[k] = element[width - 1 - k];
            element[width - 1 - k] = byte;
        }
    cr_assert(is_swapped(&f->array, data, count), "%s", f->path);
}

Test(fields, byte_order)
{
    each_field(check_order);
}

Test(fields, rel, .timeout = 300)
{
    each_field(check_rel);
}

Test(fields, abs, .timeout = 300)
{
    each_field(check_abs);
}

Test(fields, lossless, .timeout = 300)
{
    each_field(check_lossless);
}

/* ---- a ratio ---- */

static double compressed_by(const struct field *f, struct zmpi_bound bound)
{
    struct kit_stream s = kit_compress(&f->array, bound, f->data);
    free(s.data);
    return (double)kit_bytes(&f->array) / (double)s.size;
}

/* The nearest ratio that any absolute bound gives. */
static double nearest(const struct field *f, double asked)
{
    struct zmpi_range range;
    zmpi_range_of(f->array.type, f->data, kit_elements(&f->array), &range);
    double best = INFINITY;
    for (int i = 0; i < 8 * 60; i++) {
        double got = compressed_by(f, kit_abs((range.max - range.min) * exp2(-i / 8.0)));
        if (fabs(log(got / asked)) < fabs(log(best / asked)))
            best = got;
        if (got < asked / 2)
            break;
    }
    return best;
}

/* What no bound gives may be missed. Without loss it may be better. */
static void check_ratio(const struct field *f)
{
    static size_t turn;
    const double all[] = {4, 6, 8, 10.5, 16}, asked = all[turn++ % KIT_COUNT(all)];
    struct zmpi_bound bound = {ZMPI_RATIO, asked};
    struct kit_stream s = kit_compress(&f->array, bound, f->data);
    double got = (double)kit_bytes(&f->array) / (double)s.size, abs_bound = kit_abs_bound(&s);
    void *out = kit_decompress(&s);
    kit_check(&f->array, f->data, out, abs_bound, f->path);
    free(out);
    free(s.data);
    if (fabs(got / asked - 1) <= 0.05 || (abs_bound <= 0 && got > asked))
        return;
    double best = nearest(f, asked);
    cr_assert(fabs(best / asked - 1) > 0.05, "%s: ratio=%g became %g, %g can be had", f->path,
              asked, got, best);
}

Test(fields, asked_ratio, .timeout = 300)
{
    each_field(check_ratio);
}

/* ---- fill values ---- */

/* The range of a field leaves fill values out, and no fill value changes. */
static void check_fill(const struct field *f)
{
    if (!f->filled)
        return;
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    zmpi_range_of(f->array.type, f->data, kit_elements(&f->array), &range);
    cr_assert(range.fill >= 1e20 && isfinite(range.fill), "%s", f->path);
    cr_assert(range.max - range.min < 1e3, "%s: fill values in the range", f->path);
    void *out = kit_round_trip(&f->array, kit_rel(1e-2), f->data, f->path);
    for (size_t i = 0; i < kit_elements(&f->array); i++) {
        double x = kit_get(f->array.type, f->data, i);
        cr_assert(fabs(x) < range.fill || kit_get(f->array.type, out, i) == x);
    }
    free(out);
}

Test(fields, fill_values)
{
    each_field(check_fill);
}

/* ---- ratio ---- */

static double log_sum;
static int ratio_fields;

static void add_ratio(const struct field *f)
{
    if (f->filled || f->array.type != ZMPI_F32)
        return;
    struct kit_stream s = kit_compress(&f->array, kit_rel(1e-3), f->data);
    log_sum += log((double)kit_bytes(&f->array) / (double)s.size);
    ratio_fields++;
    free(s.data);
}

Test(fields, ratio)
{
    each_field(add_ratio);
    if (ratio_fields != RATIO_FIELDS)
        cr_skip_test("%d of the %d fields", ratio_fields, RATIO_FIELDS);
    double mean = exp(log_sum / ratio_fields);
    fprintf(stderr, "geometric mean ratio at rel=1e-3: %.3f\n", mean);
    cr_assert_geq(mean, LEAST_RATIO);
}

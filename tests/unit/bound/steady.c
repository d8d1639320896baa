/*
 * steady.c - what was decoded and is coded again by the same setting does not change (format.md
 * 4.1): real fields, and made ones of all shapes; whole, and in other parts than before.
 */
#include "bound/steady.h"

#include "bound/ratio.h"
#include "field.h"
#include "stream/compress_job.h"

/* The data after a cycle, in `parts` along the slowest axis; free() them. */
static void *cycle(const struct zmpi_array *a, struct zmpi_bound bound, const unsigned char *src,
                   size_t parts)
{
    const size_t bytes = kit_bytes(a);
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    unsigned char *out = malloc(bytes + 1);
    cr_assert_not_null(out);
    zmpi_range_of(a->type, src, kit_elements(a), &range);
    const int axis = a->extent[0] > 1 ? 0 : a->extent[1] > 1 ? 1 : 2;
    const size_t n = a->extent[axis], each = bytes / n;
    for (size_t p = 0; p < parts; p++) {
        const size_t first = n * p / parts, count = n * (p + 1) / parts - first;
        struct zmpi_array part = *a;
        struct zmpi_job job;
        struct kit_stream s = {0};
        if (count == 0)
            continue;
        part.extent[axis] = count;
        const size_t capacity = zmpi_compress_capacity(&part);
        s.data = malloc(capacity);
        cr_assert_not_null(s.data);
        cr_assert_eq(zmpi_job_make(&part, &bound, &range, &job), ZMPI_OK);
        cr_assert_eq(zmpi_job_compress(zmpi_device_cpu(), &job, s.data, capacity,
                                       src + first * each, &s.size),
                     ZMPI_OK);
        cr_assert_eq(zmpi_decompress(out + first * each, count * each, s.data, s.size), ZMPI_OK);
        free(s.data);
    }
    return out;
}

/* Largest difference of elements that are finite numbers. */
static double furthest(const struct zmpi_array *a, const void *x, const void *y)
{
    double most = 0;
    for (size_t i = 0; i < kit_elements(a); i++) {
        const double d = fabs(kit_get(a->type, x, i) - kit_get(a->type, y, i));
        if (d > most)
            most = d;
    }
    return most;
}

/* The data of the second cycle are those of the first, and so are those of all later ones: coding
 * depends on data and setting alone. */
static void check(const struct zmpi_array *a, struct zmpi_bound bound, const void *src,
                  const char *what)
{
    void *first = cycle(a, bound, src, 1), *second = cycle(a, bound, first, 1);
    cr_assert(memcmp(first, second, kit_bytes(a)) == 0,
              "%s, mode %d %g: the second cycle changes the data by %g", what, bound.mode,
              bound.value, furthest(a, first, second));
    free(first);
    free(second);
}

/* With ratio=R nearly always; all of these arrays take part in `changed`. Where the second cycle
 * changes the data, the third does not. */
static int changed, ratios;

static void check_ratio(const struct zmpi_array *a, double value, const void *src, const char *what)
{
    const struct zmpi_bound bound = {ZMPI_RATIO, value};
    void *first = cycle(a, bound, src, 1), *second = cycle(a, bound, first, 1);
    ratios++;
    if (memcmp(first, second, kit_bytes(a)) != 0) {
        void *third = cycle(a, bound, second, 1);
        changed++;
        cr_assert(memcmp(second, third, kit_bytes(a)) == 0,
                  "%s, ratio=%g: the third cycle changes the data", what, value);
        cr_assert(furthest(a, src, second) <= 4 * furthest(a, src, first), "%s, ratio=%g", what,
                  value);
        free(third);
    }
    free(first);
    free(second);
}

/* Other parts in each cycle: at first one, then up to seven. The bound of the first holds. */
static void check_parts(const struct zmpi_array *a, struct zmpi_bound bound, const void *src,
                        const char *what)
{
    void *now = cycle(a, bound, src, 1);
    const double moved = furthest(a, src, now);
    for (size_t parts = 2; parts <= 7; parts++) {
        void *next = cycle(a, bound, now, parts);
        free(now);
        now = next;
    }
    cr_assert(furthest(a, src, now) <= 1.5 * moved, "%s, mode %d %g, in parts: %g, after %g", what,
              bound.mode, bound.value, furthest(a, src, now), moved);
    free(now);
}

static const struct zmpi_bound bounds[] = {{ZMPI_REL, 0.1},  {ZMPI_REL, 1e-2},   {ZMPI_REL, 1e-3},
                                           {ZMPI_REL, 1e-4}, {ZMPI_REL, 1e-6},   {ZMPI_PSNR, 30},
                                           {ZMPI_PSNR, 60},  {ZMPI_PSNR, 84.5},  {ZMPI_PSNR, 120},
                                           {ZMPI_ABS, 1e-3}, {ZMPI_PW_REL, 1e-3}};

static const double asked[] = {3, 5, 8, 10, 20, 32, 100};

static struct zmpi_array flat_of(const struct zmpi_array *a)
{
    struct zmpi_array flat = *a;
    flat.extent[2] = kit_elements(a);
    flat.extent[0] = flat.extent[1] = 1;
    return flat;
}

static void check_field(const struct field *f)
{
    const struct zmpi_array flat = flat_of(&f->array);
    for (size_t i = 0; i < KIT_COUNT(bounds); i++) {
        check(&f->array, bounds[i], f->data, f->path);
        if (i % 3 == 0)
            check(&flat, bounds[i], f->data, f->path);
        if (bounds[i].mode == ZMPI_REL && bounds[i].value >= 1e-4)
            check_parts(&f->array, bounds[i], f->data, f->path);
    }
    for (size_t i = 0; i < KIT_COUNT(asked); i++) {
        check_ratio(&f->array, asked[i], f->data, f->path);
        check_ratio(&flat, asked[i], f->data, f->path);
    }
}

/* Sums of log(size with a derived bound / size with the same bound not rounded), by bound. */
static double cost[3];
static int cases;

static size_t size_of(const struct field *f, struct zmpi_bound bound)
{
    const size_t capacity = zmpi_compress_capacity(&f->array);
    unsigned char *out = malloc(capacity);
    size_t size = 0;
    cr_assert_not_null(out);
    cr_assert_eq(zmpi_compress(&f->array, &bound, NULL, out, capacity, f->data, &size), ZMPI_OK);
    free(out);
    return size;
}

static void add_cost(const struct field *f)
{
    struct zmpi_range range;
    zmpi_range_of(f->array.type, f->data, kit_elements(&f->array), &range);
    if (strstr(f->path, "nyx_particles") != NULL) /* its masses are a fill value: another range */
        return;
    for (int i = 0; i < 3; i++) {
        const double rel = (double[]){1e-2, 1e-3, 1e-4}[i];
        cost[i] += log((double)size_of(f, kit_rel(rel)) /
                       (double)size_of(f, kit_abs(rel * (range.max - range.min))));
    }
    cases++;
}

/* Derived bounds are rounded down to a grid, so that a restart derives them again. */
Test(steady, grid_costs_little, .timeout = 600)
{
    each_field(add_cost);
    for (int i = 0; cases > 0 && i < 3; i++) {
        const double percent = 100 * (exp(cost[i] / cases) - 1);
        cr_log_info("rel=1e-%d: %.2f %% larger", i + 2, percent);
        cr_assert(percent <= 1, "rel=1e-%d: %.2f %% larger", i + 2, percent);
    }
}

Test(steady, fields, .timeout = 600)
{
    each_field(check_field);
    cr_assert(changed * 50 <= ratios, "ratio=R: %d of %d change in the second cycle", changed,
              ratios);
}

/* Made data of all kinds, of few elements and many. */
Test(steady, made, .timeout = 600)
{
    const struct zmpi_array arrays[] = {kit_array(ZMPI_F32, 1, 1, 3), kit_array(ZMPI_F64, 1, 1, 40),
                                        kit_array(ZMPI_F32, 1, 1, 20000),
                                        kit_array(ZMPI_F64, 13, 17, 41),
                                        kit_array(ZMPI_F32, 20, 30, 40)};
    for (size_t i = 0; i < KIT_COUNT(arrays); i++)
        for (int kind = 0; kind < KIT_DATA_KINDS; kind++)
            for (uint64_t seed = 0; seed < (TEST_LESS > 1 ? 1 : 4); seed++) {
                struct kit_random r = {(uint64_t)kind + 100 * seed};
                void *src = kit_make(&r, &arrays[i], (enum kit_data)kind);
                char what[40];
                snprintf(what, sizeof what, "array %zu data %d seed %d", i, kind, (int)seed);
                for (size_t k = 0; k < KIT_COUNT(bounds); k++)
                    check(&arrays[i], bounds[k], src, what);
                for (size_t k = 0; k < KIT_COUNT(asked); k++)
                    check_ratio(&arrays[i], asked[k], src, what);
                free(src);
            }
    cr_assert(changed * 50 <= ratios, "ratio=R: %d of %d change in the second cycle", changed,
              ratios);
}

/*
 * shape.c - the shape of arrays that came as one row. On the fields of ZMPI_DATA the shape that is
 * found must serve as well as the true one, and never worse than one row.
 */
#include "judge/components.h"
#include "judge/shape.h"

#include <math.h>

#include "field.h"

static const struct zmpi_bound rel3 = {ZMPI_REL, 1e-3}, exact = {ZMPI_LOSSLESS, 0},
                               ratio8 = {ZMPI_RATIO, 8};

enum { NZ = 12, NY = 75, NX = 110 };

static double smooth(size_t z, size_t y, size_t x)
{
    return 3 + sin(0.11 * (double)x + 0.3 * (double)z) * cos(0.17 * (double)y) +
           0.002 * (double)(x * y % 7);
}

static void *make(enum zmpi_type type)
{
    void *data = malloc((size_t)NZ * NY * NX * 8);
    cr_assert_not_null(data);
    for (size_t i = 0; i < (size_t)NZ * NY * NX; i++)
        kit_put(type, data, i, smooth(i / (NY * NX), i / NX % NY, i % NX));
    return data;
}

Test(shape, made)
{
    const struct zmpi_bound bounds[] = {
        rel3, {ZMPI_PSNR, 60}, ratio8, {ZMPI_ABS, 0.001}, {ZMPI_PW_REL, 0.001}};
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_F64; type++) {
        void *data = make(type);
        for (size_t k = 0; k < KIT_COUNT(bounds); k++) {
            size_t shape[3];
            cr_assert(zmpi_shape_find(type, &bounds[k], INFINITY,
                                      &(struct zmpi_column){data, (size_t)NZ * NY * NX, 1},
                                      (size_t)NZ * NY * NX, shape));
            cr_assert_eq(shape[2], NX, "bound %zu: %zux%zux%zu", k, shape[0], shape[1], shape[2]);
            if (k == 0)
                cr_assert(shape[0] == NZ && shape[1] == NY);
            /* By the first half of it. */
            cr_assert(zmpi_shape_find(type, &bounds[k], INFINITY,
                                      &(struct zmpi_column){data, (size_t)NZ * NY * NX / 2, 1},
                                      (size_t)NZ * NY * NX, shape));
            cr_assert_eq(shape[2], NX);
        }
        free(data);
    }
}

/* Planes of known rows; none where the rows are in no order, or too few. */
Test(shape, planes)
{
    const size_t count = (size_t)NZ * NY * NX;
    double *data = make(ZMPI_F64);
    const struct zmpi_column all = {data, count, 1}, some = {data, count - 31 * NX - 5, 1};
    struct kit_random r = {5};
    size_t rows[3];
    cr_assert_eq(zmpi_shape_planes(ZMPI_F64, &rel3, INFINITY, &all, NX, 1, 100, rows, 1), 1);
    cr_assert_eq(rows[0], NY);
    cr_assert_eq(zmpi_shape_planes(ZMPI_F64, &rel3, INFINITY, &some, NX, 1, 100, rows, 3), 3);
    cr_assert_eq(rows[0], NY);
    cr_assert_eq(zmpi_shape_planes(ZMPI_F64, &rel3, INFINITY, &all, 1, 1, 100, rows, 3), 0);
    cr_assert_eq(zmpi_shape_planes(ZMPI_F64, &rel3, INFINITY, &all, count, 1, 100, rows, 3), 0);
    cr_assert_eq(zmpi_shape_planes(ZMPI_I64, &rel3, INFINITY, &all, NX, 1, 100, rows, 3), 0);
    for (size_t i = 0; i < count; i++)
        data[i] = kit_unit(&r);
    cr_assert_eq(zmpi_shape_planes(ZMPI_F64, &rel3, INFINITY, &all, NX, 1, 100, rows, 3), 0);
    free(data);
}

/* Steps of noise that hardly change: the step before predicts them. Where steps change and planes
 * agree, the plane before does. */
Test(shape, steps)
{
    enum { STEPS = 20, PLANES = 7, ROWS = 10, ROW = 16, STEP = PLANES * ROWS * ROW };
    static const size_t rows[] = {ROWS, PLANES * ROWS};
    static double data[STEPS * STEP];
    const struct zmpi_bound bound = {ZMPI_ABS, 1e-5};
    const struct zmpi_column all = {data, STEPS * STEP - 5, 1};
    for (int still = 0; still < 2; still++) {
        struct kit_random r = {3};
        for (size_t i = 0; i < STEPS * STEP; i++) {
            const size_t x = i % ROW, y = i / ROW % ROWS, z = i / ROW / ROWS % PLANES, t = i / STEP;
            const double rough = i < STEP ? kit_unit(&r) : 0;
            const double before = t ? data[i - STEP] : rough;
            data[i] = still ? before + 1e-4 * sin((double)(t + x + y))
                            : sin(0.1 * (double)(x + 2 * y + z) + 2.4 * (double)(t * t));
        }
        size_t step = 0;
        if (still)
            zmpi_shape_planes(ZMPI_F64, &bound, INFINITY, &all, ROW, ROWS, 9, &step, 1);
        cr_assert_eq(step, still ? PLANES * ROWS : 0);
        for (int encoder = ZMPI_FLE; encoder <= ZMPI_HUFFMAN; encoder++)
            cr_assert_eq(zmpi_shape_choose(ZMPI_F64, &bound, INFINITY, encoder, &all, ROW, rows, 2),
                         (size_t)still, "still %d, encoder %d", still, encoder);
    }
}

/* Fill values do not hide it; nor does NaN. */
Test(shape, fill)
{
    float *data = make(ZMPI_F32);
    size_t shape[3];
    for (size_t i = 0; i < (size_t)NZ * NY * NX; i++)
        if (i % NX < 20)
            data[i] = i / NX % NY < 40 ? -9999 : NAN;
    cr_assert(zmpi_shape_find(ZMPI_F32, &rel3, 1e20, &(struct zmpi_column){data, NZ * NY * NX, 1},
                              NZ * NY * NX, shape));
    cr_assert_eq(shape[2], NX);
    free(data);
}

/* One row is one row: noise, a constant, NaN. */
Test(shape, none)
{
    enum { N = 5040 * 8 };
    float *data = malloc(N * sizeof *data);
    size_t shape[3];
    cr_assert_not_null(data);
    for (int what = 0; what < 3; what++) {
        struct kit_random r = {7};
        for (size_t i = 0; i < N; i++)
            data[i] = what == 0 ? (float)kit_below(&r, 1 << 20) : what == 1 ? 3.25F : NAN;
        for (int k = 0; k < 2; k++) {
            cr_assert_not(zmpi_shape_find(ZMPI_F32, k ? &exact : &rel3, 1e20,
                                          &(struct zmpi_column){data, N, 1}, N, shape),
                          "%d: %zux%zux%zu", what, shape[0], shape[1], shape[2]);
            cr_assert(shape[0] == 1 && shape[1] == 1 && shape[2] == N);
        }
    }
    cr_assert_not(
        zmpi_shape_find(ZMPI_F32, &rel3, 1e20, &(struct zmpi_column){data, 4095, 1}, 4095, shape));
    free(data);
}

/* What was found stays, whatever comes; what was not found is looked for a few times. */
Test(shape, recall)
{
    struct zmpi_shape_known known = {.next = 0};
    const size_t n = (size_t)NZ * NY * NX;
    void *data = make(ZMPI_F64), *zeros = calloc(n, 8);
    size_t shape[3];
    bool is_new;
    cr_assert_not_null(zeros);
    cr_assert_not(zmpi_shape_recall(&known, ZMPI_F64, &rel3, 1e20,
                                    &(struct zmpi_column){zeros, n, 1}, n, shape, &is_new));
    cr_assert(zmpi_shape_recall(&known, ZMPI_F64, &rel3, 1e20, &(struct zmpi_column){data, n, 1}, n,
                                shape, &is_new) &&
              is_new);
    cr_assert(zmpi_shape_recall(&known, ZMPI_F64, &rel3, 1e20, &(struct zmpi_column){zeros, n, 1},
                                n, shape, &is_new) &&
              !is_new);
    cr_assert_eq(shape[2], NX);
    for (int i = 0; i < 5; i++)
        zmpi_shape_recall(&known, ZMPI_F64, &rel3, 1e20, &(struct zmpi_column){zeros, n - 110, 1},
                          n - 110, shape, &is_new);
    cr_assert_not(zmpi_shape_recall(&known, ZMPI_F64, &rel3, 1e20,
                                    &(struct zmpi_column){data, n - 110, 1}, n - 110, shape,
                                    &is_new));
    for (size_t i = 0; i < 3 * ZMPI_SHAPE_ARRAYS; i++)
        zmpi_shape_recall(&known, ZMPI_F64, &rel3, 1e20, &(struct zmpi_column){data, n - NX * i, 1},
                          n - NX * i, shape, &is_new);
    cr_assert(zmpi_shape_recall(&known, ZMPI_F64, &rel3, 1e20, &(struct zmpi_column){data, n, 1}, n,
                                shape, &is_new) &&
              is_new);
    free(data);
    free(zeros);
}

/* Of the first of several components as of what it is by itself. */
Test(shape, interleaved)
{
    enum { N = NZ * NY * NX, OF = 5 };
    for (enum zmpi_type type = ZMPI_F32; type <= ZMPI_F64; type++) {
        size_t alone[3], shape[3];
        unsigned char *data = make(type), *mixed = calloc((size_t)N * OF, 8);
        cr_assert_not_null(mixed);
        for (int c = 0; c < OF; c++)
            zmpi_component_put(type, data, c ? N / 2 : N, OF, c, mixed);
        cr_assert(zmpi_shape_find(type, &rel3, 1e20, &(struct zmpi_column){data, N, 1}, N, alone));
        cr_assert(
            zmpi_shape_find(type, &rel3, 1e20, &(struct zmpi_column){mixed, N, OF}, N, shape));
        cr_assert(memcmp(alone, shape, sizeof shape) == 0);
        free(data);
        free(mixed);
    }
}

static double true_sum, found_sum, row_sum;
static int fields;

static size_t size_as(const struct field *f, const struct zmpi_bound *bound, const size_t shape[3])
{
    const struct zmpi_array a = kit_array(f->array.type, shape[0], shape[1], shape[2]);
    struct kit_stream s = kit_compress(&a, *bound, f->data);
    const size_t size = s.size;
    free(s.data);
    return size;
}

/* By an absolute bound, too, a shape that was found takes no more than one row. */
static void compare_abs(const struct field *f, double share)
{
    const size_t n = kit_elements(&f->array), row[3] = {1, 1, n};
    struct zmpi_range range;
    size_t shape[3];
    zmpi_range_of(f->array.type, f->data, n, &range);
    const struct zmpi_bound bound = {ZMPI_ABS, share * (range.max - range.min)};
    zmpi_shape_find(f->array.type, &bound, 1e20, &(struct zmpi_column){f->data, n, 1}, n, shape);
    const size_t found = size_as(f, &bound, shape), one = size_as(f, &bound, row);
    cr_assert((double)found <= 1.01 * (double)one, "%s, abs=%g: %zux%zux%zu takes %zu, one row %zu",
              f->path, bound.value, shape[0], shape[1], shape[2], found, one);
}

static void compare(const struct field *f)
{
    const size_t n = kit_elements(&f->array), row[3] = {1, 1, n};
    size_t shape[3];
    for (double share = 1e-2; share > 5e-5; share /= 10)
        compare_abs(f, share);
    zmpi_shape_find(f->array.type, &rel3, 1e20, &(struct zmpi_column){f->data, n, 1}, n, shape);
    const double given = (double)size_as(f, &rel3, f->array.extent),
                 found = (double)size_as(f, &rel3, shape), one = (double)size_as(f, &rel3, row);
    cr_assert(found <= 1.01 * one, "%s: %zux%zux%zu takes %.0f bytes, one row %.0f", f->path,
              shape[0], shape[1], shape[2], found, one);
    true_sum += log(given);
    found_sum += log(found);
    row_sum += log(one);
    fields++;
}

Test(shape, fields)
{
    each_field(compare);
    if (!fields)
        return;
    const double to_true = exp((true_sum - found_sum) / fields),
                 to_row = exp((row_sum - found_sum) / fields);
    printf("%d fields: %.3f of the ratio by the true shapes, %.3f of that of one row\n", fields,
           to_true, to_row);
    cr_assert(to_true >= 0.95 || TEST_LESS > 1, "%g of the ratio by true shapes", to_true);
}

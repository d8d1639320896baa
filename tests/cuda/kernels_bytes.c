/* kernels_bytes.c - the kernels write the CPU's bytes and read them: types, modes, shapes, special
 * values, thresholds; each array in another order of execution. */
#include <stdio.h>

#include "kernel_kit.h"

/* Besides the kinds of kit.h. */
enum data { SHEETS = KIT_DATA_KINDS, MOSTLY_FILL, DECODED, STEPS, DATA_KINDS };

static void fill(struct kit_random *r, const struct zmpi_array *a, int kind, void *data)
{
    const size_t n = kit_elements(a), width = zmpi_type_size(a->type);
    const size_t row = a->extent[2], plane = row * a->extent[1];
    if (kind < KIT_DATA_KINDS) {
        kit_fill(r, a, (enum kit_data)kind, data);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        size_t y = i / row % a->extent[1], z = i / plane;
        double v = 0;
        if (kind == SHEETS)
            v = (double)((y * y * 77 + z * z * 1234 + kit_below(r, 2)) % 4001) * 0.01;
        else if (kind == MOSTLY_FILL)
            v = i / 40 % 7 != 0 ? 1e20 : 3 + (double)(i % 5);
        else if (kind == DECODED)
            v = (double)(i * i % 1000) * 0x1p-9;
        else
            v = (double)(i / 3000 % 2) * 1e6 + (double)(i % 7);
        if (kit_is_float(a->type)) {
            kit_put(a->type, data, i, v);
        } else {
            uint64_t u = (uint64_t)(int64_t)fmin(v * 100, 1e9);
            memcpy((unsigned char *)data + i * width, &u, width);
        }
    }
}

static void check(enum zmpi_type type, size_t z, size_t y, size_t x, struct zmpi_bound bound,
                  double threshold, int kind, uint64_t seed)
{
    struct zmpi_array a = kit_array(type, z, y, x);
    struct kit_random r = {seed};
    void *data = malloc(kit_bytes(&a) + 1);
    char what[160], text[40];
    zmpi_bound_format(&bound, text);
    snprintf(what, sizeof what, "type %d, %zu x %zu x %zu, %s, threshold %g, data %d", type, z, y,
             x, text, threshold, kind);
    fill(&r, &a, kind, data);
    struct zmpi_job job = kk_job(&a, bound, threshold, data);
    kk_check(&job, data, what);
    free(data);
}

static struct zmpi_bound any_bound(struct kit_random *r)
{
    static const struct zmpi_bound bound[] = {
        {ZMPI_ABS, 1e-3},    {ZMPI_ABS, 1e-6},    {ZMPI_ABS, 0.7},     {ZMPI_ABS, 1e-40},
        {ZMPI_ABS, 1e30},    {ZMPI_ABS, 0x1p-10}, {ZMPI_REL, 1e-3},    {ZMPI_REL, 1e-5},
        {ZMPI_REL, 0.2},     {ZMPI_LOSSLESS, 0},  {ZMPI_PW_REL, 1e-3}, {ZMPI_PW_REL, 0.9},
        {ZMPI_PW_REL, 1e-9}, {ZMPI_PSNR, 60},     {ZMPI_PSNR, 140}};
    return bound[kit_below(r, KIT_COUNT(bound))];
}

/* ---- random shapes ---- */

static void random_arrays(enum zmpi_type type, int cases)
{
    static const size_t edge[] = {1,  2,  3,  4,  7,  8,  9,  15,  16,
                                  17, 31, 32, 33, 63, 64, 65, 256, 260};
    struct kit_random r = {1000 * (uint64_t)type};
    for (int i = 0; i < KK_CASES(cases); i++) {
        size_t extent[3];
        do {
            for (int k = 0; k < 3; k++)
                extent[k] =
                    kit_below(&r, 3) ? edge[kit_below(&r, KIT_COUNT(edge))] : 1 + kit_below(&r, 90);
            extent[0] = kit_below(&r, 3) ? extent[0] : 1;
            extent[1] = kit_below(&r, 3) ? extent[1] : 1;
            if (kit_below(&r, type == ZMPI_BYTES ? 2 : 12) == 0)
                extent[2] = 1 + kit_below(&r, 20000);
        } while (extent[0] * extent[1] * extent[2] > 20000);
        check(type, extent[0], extent[1], extent[2], any_bound(&r), kit_below(&r, 5) ? 0 : 6.5,
              (int)kit_below(&r, DATA_KINDS), (uint64_t)i);
    }
}

Test(kernels_bytes, f32)
{
    random_arrays(ZMPI_F32, 140);
}

Test(kernels_bytes, f64)
{
    random_arrays(ZMPI_F64, 70);
}

Test(kernels_bytes, integers)
{
    random_arrays(ZMPI_I32, 20);
    random_arrays(ZMPI_I64, 20);
}

Test(kernels_bytes, bytes)
{
    random_arrays(ZMPI_BYTES, 20);
}

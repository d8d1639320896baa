/*
 * bench_field.c - the arrays that are measured: files, repeated until they are large enough, or a
 * generated field.
 */
#define _GNU_SOURCE // MADV_HUGEPAGE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tool/bench/bench.h"

void *bench_alloc(size_t size)
{
    const size_t page = (size_t)2 << 20;
    void *p = size <= SIZE_MAX - page ? aligned_alloc(page, (size + page - 1) / page * page) : NULL;
    if (p) {
        madvise(p, size, MADV_HUGEPAGE);
        memset(p, 1, size);
    }
    return p;
}

/*
 * Copies are stacked along the field's slowest axis. A new axis, along which nothing changes, would
 * help every predictor.
 */
static void stack(struct zmpi_array *a, size_t copies)
{
    int axis = 0;
    while (axis < 2 && a->extent[axis] == 1)
        axis++;
    a->extent[axis] *= copies;
}

static int shape_file(struct bench_field *f, const struct tool_input *in,
                      const struct bench_settings *s)
{
    size_t count;
    f->array.type = s->type;
    memcpy(f->array.extent, s->shape, sizeof f->array.extent);
    tool_field_name(f->name, &f->array.type, f->array.extent);
    if (!f->array.type)
        f->array.type = ZMPI_F32;
    size_t width = zmpi_type_size(f->array.type), elements = (size_t)in->size / width;
    if (in->size == 0 || in->size % width)
        return tool_fail("%s: %llu bytes are no array of %s", in->path,
                         (unsigned long long)in->size, tool_type_name(f->array.type));
    bool known = f->array.extent[2] && !zmpi_array_count(&f->array, &count) && count == elements;
    if (s->shape[2] && !known)
        return tool_fail("%s: has %zu elements, -d says %zux%zux%zu", in->path, elements,
                         s->shape[0], s->shape[1], s->shape[2]);
    if (!known)
        memcpy(f->array.extent, (size_t[]){1, 1, elements}, sizeof f->array.extent);
    return TOOL_OK;
}

int bench_field_load(struct bench_field *f, const char *path, const struct bench_settings *s)
{
    struct tool_input in;
    *f = (struct bench_field){.name = path};
    int status = tool_input_open(&in, path);
    if (status)
        return status;
    status = shape_file(f, &in, s);
    if (!status) {
        size_t one = (size_t)in.size;
        f->copies = s->size / one ? s->size / one : 1;
        f->bytes = one * f->copies;
        stack(&f->array, f->copies);
        f->data = bench_alloc(f->bytes);
        status = f->data ? tool_input_read(&in, 0, f->data, one) : tool_fail("out of memory");
        for (size_t i = 1; i < f->copies && !status; i++)
            memcpy((char *)f->data + i * one, f->data, one);
    }
    tool_input_close(&in);
    if (status)
        free(f->data);
    return status;
}

/* ---- a smooth field: waves whose amplitudes fall as in a turbulent flow ---- */

enum { WAVES = 8 };

/* sin of each wave along one axis, [wave][position] */
static double *waves_along(size_t n, int axis)
{
    static const double number[WAVES][3] = {{1, 1, 2},  {2, 1, 1},   {3, 4, 2},    {5, 3, 6},
                                            {8, 11, 7}, {13, 9, 16}, {24, 19, 21}, {37, 33, 29}};
    double *wave = malloc(WAVES * n * sizeof *wave);
    for (int w = 0; w < WAVES && wave; w++)
        for (size_t i = 0; i < n; i++)
            wave[(size_t)w * n + i] =
                sin(6.283185307179586 * number[w][axis] * (double)i / 512 + w + axis);
    return wave;
}

static void fill_row(const struct bench_field *f, size_t row, const double factor[WAVES],
                     const double *along)
{
    size_t nx = f->array.extent[2];
    for (size_t x = 0; x < nx; x++) {
        double v = 10;
        for (int w = 0; w < WAVES; w++)
            v += factor[w] * along[(size_t)w * nx + x];
        if (f->array.type == ZMPI_F32)
            ((float *)f->data)[row * nx + x] = (float)v;
        else
            ((double *)f->data)[row * nx + x] = v;
    }
}

static bool fill(struct bench_field *f)
{
    static const double amplitude[WAVES] = {1, 0.6, 0.25, 0.1, 0.045, 0.02, 0.008, 0.004};
    const size_t *e = f->array.extent;
    double *along[3];
    for (int i = 0; i < 3; i++)
        along[i] = waves_along(e[i], i);
    bool ready = along[0] && along[1] && along[2];
    for (size_t row = 0; row < e[0] * e[1] && ready; row++) {
        double factor[WAVES];
        for (size_t w = 0; w < WAVES; w++)
            factor[w] =
                amplitude[w] * along[0][w * e[0] + row / e[1]] * along[1][w * e[1] + row % e[1]];
        fill_row(f, row, factor, along[2]);
    }
    for (int i = 0; i < 3; i++)
        free(along[i]);
    return ready;
}

int bench_field_generate(struct bench_field *f, const struct bench_settings *s)
{
    *f = (struct bench_field){.name = "generated", .copies = 1};
    f->array.type = s->type ? s->type : ZMPI_F32;
    size_t width = zmpi_type_size(f->array.type), side = 512;
    memcpy(f->array.extent, s->shape, sizeof f->array.extent);
    if (s->shape[2] == 0) {
        while (side > 8 && side * side * side / 2 * width > s->size)
            side /= 2;
        size_t planes = s->size / (side * side * width);
        memcpy(f->array.extent, (size_t[]){planes ? planes : 1, side, side},
               sizeof f->array.extent);
    }
    if (zmpi_array_bytes(&f->array, &f->bytes))
        return tool_fail("-d: too large");
    f->data = bench_alloc(f->bytes);
    if (!f->data || !fill(f)) {
        free(f->data);
        return tool_fail("out of memory");
    }
    return TOOL_OK;
}

/* perf_data.c - the values that zmpi-perf moves. */
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app_common.h"
#include "perf.h"

void perf_ranges_clear(struct perf_range r[PERF_COMPONENTS])
{
    for (int c = 0; c < PERF_COMPONENTS; c++) {
        r[c] = (struct perf_range){INFINITY, -INFINITY};
    }
}

/* ---- the field ---- */

/* Waves of several lengths: smooth, but no two slices alike. Each component is a hundred times as
 * large as the one before. */
static void generate(struct perf_data *d)
{
    const double turn = 6.283185307179586;
    const size_t components = (size_t)d->components;
    size_t ny = d->extent[1], nx = d->extent[2] / components;
    float *value = (float *)d->field;
    for (size_t e = 0; e < d->elements; e++) {
        const size_t point = e / components, component = e % components;
        double x = (double)(point % nx) / (double)nx, y = (double)(point / nx % ny) / (double)ny;
        double z = (double)(point / nx / ny) / (double)d->extent[0];
        double wave = sin(turn * (2 * x + y)) + 0.5 * sin(turn * (7 * y + 3 * z)) +
                      0.2 * sin(turn * (19 * x - 11 * z)) + 0.05 * sin(turn * 61 * (x + z));
        value[e] = (float)(pow(100, (double)component) * (wave + (double)component));
    }
}

static void load(struct perf_data *d, const char *path)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL) {
        app_fail("cannot open %s: %s", path, strerror(errno));
    }
    size_t got = fread(d->field, d->width, d->elements, in);
    if (got != d->elements || fgetc(in) != EOF) {
        app_fail("%s: does not hold %zux%zux%zu values of %zu bytes", path, d->extent[0],
                 d->extent[1], d->extent[2], d->width);
    }
    fclose(in);
}

static const char *type_of(const struct perf_options *o)
{
    size_t length = o->field != NULL ? strlen(o->field) : 0;
    if (o->type != NULL) {
        return o->type;
    }
    return length > 4 && strcmp(o->field + length - 4, ".f64") == 0 ? "f64" : "f32";
}

/* Slices are whole points. */
static void set_points(struct perf_data *d, const struct perf_options *o)
{
    const size_t n = o->components > 0 ? (size_t)o->components : 1;
    d->components = (int)n;
    if (o->field == NULL) {
        d->extent[2] -= d->extent[2] % n;
    } else if (d->extent[1] * d->extent[2] == 1 && d->extent[0] % n == 0) {
        d->extent[0] /= n;
        d->extent[2] = n;
    }
    if (d->extent[2] % n != 0) {
        app_fail_together("--components %zu: the innermost extent of -d, %zu, is no multiple of it",
                          n, d->extent[2]);
    }
}

static void set_extents(struct perf_data *d, const struct perf_options *o)
{
    long long extent[3];
    const char *dims = o->dims != NULL ? o->dims : "64x256x256";
    int n = app_parse_extents(dims, 3, INT_MAX, extent);
    if (n == 0) {
        app_fail_together("-d %s: must be 1 to 3 extents such as 64x128x128", dims);
    }
    /* Along a leading extent of 1 the slices would all be alike. */
    while (n > 1 && extent[0] == 1) {
        n--;
        memmove(extent, extent + 1, (size_t)n * sizeof *extent);
    }
    d->extent[0] = (size_t)extent[0];
    d->extent[1] = n == 3 ? (size_t)extent[1] : 1;
    d->extent[2] = n == 3 ? (size_t)extent[2] : n == 2 ? (size_t)extent[1] : 1;
    set_points(d, o);
    d->elements = app_multiply(app_multiply(d->extent[0], d->extent[1]), d->extent[2]);
}

void perf_data_make(struct perf_data *d, const struct perf_options *o)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &d->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &d->ranks);
    d->is_double = o->field != NULL && strcmp(type_of(o), "f64") == 0;
    d->type = d->is_double ? MPI_DOUBLE : MPI_FLOAT;
    d->width = d->is_double ? sizeof(double) : sizeof(float);
    set_extents(d, o);
    size_t slice = d->extent[1] * d->extent[2];
    d->slices = o->bytes / (slice * d->width);
    /* MPI's counts are ints, also those of all ranks' data together. */
    if (d->slices < (size_t)d->ranks || d->slices > INT_MAX / slice / (size_t)d->ranks) {
        app_fail_together("-s: %zu bytes for each of %d ranks: fewer than %d slices of %zu values, "
                          "or more than 2^31 values in all",
                          o->bytes, d->ranks, d->ranks, slice);
    }
    /* So that MPI_Alltoall can divide it. */
    d->slices -= d->slices % (size_t)d->ranks;
    d->block = d->slices * slice;
    d->field = app_allocate(d->elements, d->width);
    if (o->field == NULL) {
        snprintf(d->name, sizeof d->name, "generated");
        generate(d);
        return;
    }
    const char *base = strrchr(o->field, '/');
    snprintf(d->name, sizeof d->name, "%s", base != NULL ? base + 1 : o->field);
    if (d->rank == 0) {
        load(d, o->field);
    }
    if (d->elements > INT_MAX) {
        app_fail_together("%s: more than 2^31 values", o->field);
    }
    MPI_Bcast(d->field, (int)d->elements, d->type, 0, MPI_COMM_WORLD);
}

void perf_data_free(struct perf_data *d)
{
    free(d->field);
}

size_t perf_data_stretch(const struct perf_data *d, size_t first, size_t count, size_t *at)
{
    *at = first % d->elements;
    return count < d->elements - *at ? count : d->elements - *at;
}

void perf_data_fill(const struct perf_data *d, void *dst, size_t first, size_t count)
{
    unsigned char *to = dst;
    while (count > 0) {
        size_t at, n = perf_data_stretch(d, first, count, &at);
        memcpy(to, d->field + at * d->width, n * d->width);
        to += n * d->width;
        first += n;
        count -= n;
    }
}

double perf_data_value(const struct perf_data *d, const void *array, size_t i)
{
    return d->is_double ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

/* ---- the range that a relative bound is relative to ---- */

/* docs/format.md, 4.2 */
static bool is_fill(double x)
{
    static float fill[22];
    float magnitude = fabsf((float)x);
    if (fill[0] == 0) {
        for (int n = 20; n <= 38; n++) {
            char text[8];
            snprintf(text, sizeof text, "1e%d", n);
            fill[n - 20] = strtof(text, NULL);
        }
        fill[19] = 9.999e20F;
        fill[20] = 9.96921e36F;
        fill[21] = FLT_MAX;
    }
    for (size_t i = 0; magnitude >= 1e20F && i < sizeof fill / sizeof *fill; i++) {
        if (magnitude == fill[i]) {
            return true;
        }
    }
    return false;
}

bool perf_value_counts(double x)
{
    return isfinite(x) && !is_fill(x);
}

void perf_data_range(const struct perf_data *d, size_t first, size_t count,
                     struct perf_range r[PERF_COMPONENTS])
{
    /* The second time round there is nothing new. */
    count = count < d->elements ? count : d->elements;
    for (size_t i = 0; i < count; i++) {
        double x = perf_data_value(d, d->field, (first + i) % d->elements);
        struct perf_range *one = &r[(first + i) % (size_t)d->components];
        if (perf_value_counts(x)) {
            one->min = fmin(one->min, x);
            one->max = fmax(one->max, x);
        }
    }
}

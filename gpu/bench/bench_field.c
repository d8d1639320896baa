/* bench_field.c - fields for the GPU benchmark, from formulas or raw files. */
#include "bench.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("bench_gpu: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_FAILURE);
}

static char under_way[160];

void doing(const char *field, const char *what)
{
    snprintf(under_way, sizeof under_way, "bench_gpu: stopped at: %s, %s\n", field, what);
}

static void on_signal(int number)
{
    if (write(STDERR_FILENO, under_way, strlen(under_way)) >= 0)
        _exit(128 + number);
    _exit(EXIT_FAILURE);
}

void say_when_stopped(void)
{
    doing("start", "the driver");
    signal(SIGTERM, on_signal);
}

void *allocate(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p)
        die("out of memory: %zu bytes", bytes);
    return p;
}

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t next(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

static double uniform(uint64_t *state)
{
    return (double)(next(state) >> 11) * 0x1p-53;
}

static double special(uint64_t *state, double smooth)
{
    static const double value[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 1e20, 1e-42, -3e38};
    return next(state) % 50 ? smooth : value[next(state) % 8];
}

static double value_at(enum pattern pattern, size_t z, size_t y, size_t x, uint64_t *state)
{
    double smooth = 100 + 30 * sin(0.011 * (double)x + 0.3 * sin(0.007 * (double)y)) *
                              cos(0.013 * (double)y + 0.021 * (double)z);
    switch (pattern) {
    case SMOOTH:
        return smooth + 0.01 * uniform(state);
    case NOISE:
        return uniform(state) - 0.5;
    case SPECIAL:
        return special(state, smooth);
    default:
        return 42.5;
    }
}

static void check_bytes(struct field *f)
{
    if (zmpi_array_bytes(&f->array, &f->bytes))
        die("%s: too large", f->name);
}

struct field field_make(enum pattern pattern, enum zmpi_type type, const size_t extent[3])
{
    static const char *const name[] = {"smooth", "noise", "special", "constant"};
    struct field f = {.array = {type, {extent[0], extent[1], extent[2]}}};
    uint64_t state = 1;
    size_t at = 0;
    snprintf(f.name, sizeof f.name, "%s f%d %zux%zux%zu", name[pattern], type == ZMPI_F64 ? 64 : 32,
             extent[0], extent[1], extent[2]);
    check_bytes(&f);
    f.data = allocate(f.bytes);
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++)
            for (size_t x = 0; x < extent[2]; x++, at++) {
                double value = value_at(pattern, z, y, x, &state);
                if (type == ZMPI_F64)
                    ((double *)f.data)[at] = value;
                else
                    ((float *)f.data)[at] = (float)value;
            }
    return f;
}

struct field field_read(const char *argument)
{
    struct field f = {.array = {ZMPI_F32, {1, 1, 1}}};
    char path[4096];
    size_t *e = f.array.extent, left;
    const char *colon = strrchr(argument, ':'), *suffix;
    if (!colon || (size_t)(colon - argument) >= sizeof path ||
        sscanf(colon, ":%zux%zux%zu", &e[0], &e[1], &e[2]) != 3)
        die("%s: a field is FILE.f32:NZxNYxNX or FILE.f64:NZxNYxNX", argument);
    memcpy(path, argument, (size_t)(colon - argument));
    path[colon - argument] = 0;
    suffix = strrchr(path, '.');
    if (suffix && strcmp(suffix, ".f64") == 0)
        f.array.type = ZMPI_F64;
    const char *slash = strrchr(path, '/');
    snprintf(f.name, sizeof f.name, "%.60s", slash ? slash + 1 : path);
    check_bytes(&f);
    f.data = allocate(f.bytes);
    FILE *in = fopen(path, "rb");
    if (!in)
        die("%s: cannot be opened", path);
    left = f.bytes - fread(f.data, 1, f.bytes, in);
    if (left || fgetc(in) != EOF)
        die("%s: is not %zu bytes long, as its extents say", path, f.bytes);
    fclose(in);
    return f;
}

struct zmpi_job field_job(const struct field *f, const char *bound, double threshold)
{
    struct zmpi_bound b;
    struct zmpi_range range;
    struct zmpi_job job;
    size_t count = f->bytes / zmpi_type_size(f->array.type);
    if (zmpi_bound_parse(bound, &b))
        die("%s: no bound", bound);
    zmpi_range_scan(f->array.type, f->data, count, threshold, 1, &range);
    if (zmpi_job_make(&f->array, &b, &range, &job))
        die("%s: no job for %s", f->name, bound);
    zmpi_job_threshold(&job, threshold);
    return job;
}

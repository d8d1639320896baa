/* bench.h - what the files of the GPU benchmark share (scripts/bench/bench_gpu.sh runs it). */
#ifndef ZMPI_GPU_BENCH_H
#define ZMPI_GPU_BENCH_H

#include <stdio.h>

#include "../gpu.h"

const struct zmpi_device *zmpi_device_plugin(void);

struct field {
    char name[64];
    struct zmpi_array array;
    size_t bytes;
    void *data; /* malloc'ed */
};

struct settings {
    bool check, measure, reset, quick;
    size_t least, most; /* bytes of the fields to measure with */
    double seconds;     /* for one measurement */
    const char *json, *folder;
    struct field *file; /* given ones */
    size_t files;
};

/* ---- bench_field.c ---- */

/* Print a line and exit. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Says what is being done, for the line that is printed if it hangs and is stopped. */
void doing(const char *field, const char *what);
void say_when_stopped(void);
void *allocate(size_t bytes);
double now(void);
enum pattern { SMOOTH, NOISE, SPECIAL, CONSTANT, PATTERNS };
/* seed: other numbers of the same kind. */
struct field field_make(enum pattern pattern, enum zmpi_type type, const size_t extent[3]);
/* A raw file of that shape, "NAME:NZxNYxNX", type by its suffix. */
struct field field_read(const char *argument);
/* The job for a bound, with the field's range. */
struct zmpi_job field_job(const struct field *f, const char *bound, double threshold);

/* ---- bench_check.c ---- */

/* Tries every bound on every kind of field and compares with the CPU's bytes and decoded values.
 * Returns the number of cases; ends the program at the first difference. */
size_t check_all(const struct settings *s);

/* ---- bench_cases.c ---- */

/* The same for what real programs do. */
size_t check_cases(const struct settings *s);
/* Resets the device and prints what happens to later calls. */
void check_resets(void);

/* ---- bench_measure.c ---- */

/* Prints a table, and JSON members to `json` (may be NULL). */
void measure_all(const struct settings *s, FILE *json);

/* ---- bench_slices.c ---- */

/* As check_cases, with slices so small that the arrays have several. */
size_t check_slices(const struct settings *s);
/* As measure_all. */
void measure_slices(const struct settings *s, FILE *json);

#endif

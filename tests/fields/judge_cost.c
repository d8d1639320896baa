/*
 * judge_cost.c - what it costs to judge a call's data, as a part of the time in which one thread
 * finds the range and codes by fle. All judgements are asked in a write call's order, so that what
 * one of them brings into the caches serves the next ones, as in a program.
 *
 * usage: judge_cost MBYTES|own REPETITIONS cold|warm SEVERAL FIELD.f32|FIELD.f64...
 *
 * SEVERAL: beginnings of the names of fields that hold several variables, with commas. Each field
 * is repeated to MBYTES, or taken as it is (own). Before each repetition all data are read (warm),
 * as if they were just computed, or others are, so that the caches hold those (cold). Prints
 * percentages, medians of the repetitions: type and byte order; all that is asked in each call; all
 * that is asked in the first call of a length; the mean of 100 calls of a length; and how much
 * longer calls take with all that is asked in each, timed in turns with calls without: in memory, a
 * sample's cache lines are some that the range would wait for. Then their mean, median and worst,
 * and the sum of all times over that of all coding, over the fields of one variable and over all.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bound/fill.h"
#include "judge/axes_known.h"
#include "judge/components.h"
#include "judge/judgement.h"
#include "judge/shape.h"
#include "stream/compress_job.h"

enum { MOST = 101, OTHERS = 64 << 20, CALLS = 100, FIELDS = 200, FIGURES = 5 };

/* Calls of a repetition. One in four looks at axes (axes_known.c). */
enum { TOGETHER = 4 };

/* What is timed: `wrong` is of the datatype, `once` of the first call of a length. */
enum part { WRONG, ONCE, RANGE, FILL, LOOK, CODE, PARTS };

struct field {
    const char *name;
    enum zmpi_type type;
    unsigned char *data, *stream;
    size_t count, capacity;
    struct zmpi_axes_known axes;
    unsigned chosen; /* axes of the last call */
    double seconds[PARTS][MOST];
};

static unsigned char *others;
static volatile unsigned sink; /* keeps what is asked */

_Noreturn static void fail(const char *what, const char *of)
{
    fprintf(stderr, "judge_cost: %s%s\n", what, of);
    exit(1);
}

static void *allocate(size_t bytes)
{
    void *room = malloc(bytes);
    if (!room)
        fail("no memory", "");
    return room;
}

/* By the clock, which unlike that of the processor's time does not call the system. Medians leave
 * out the repetitions that other programs interrupt. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, compare);
    return x[n / 2];
}

/* What the clock takes, which is a third of what a judge does. */
static double clock_cost(void)
{
    static double cost;
    double each[MOST];
    if (cost > 0)
        return cost;
    for (int i = 0; i < MOST; i++) {
        const double begin = now();
        each[i] = now() - begin;
    }
    return cost = median(each, MOST);
}

/* bytes: 0: as many as the file has. */
static void load(struct field *f, const char *path, size_t bytes)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    FILE *in = fopen(path, "rb");
    if (in == NULL || dot == NULL || fseek(in, 0, SEEK_END) != 0)
        fail("cannot read ", path);
    const size_t size = (size_t)ftell(in);
    rewind(in);
    bytes = bytes ? bytes : size;
    *f = (struct field){.name = slash ? slash + 1 : path,
                        .type = strcmp(dot, ".f64") == 0 ? ZMPI_F64 : ZMPI_F32};
    f->count = bytes / zmpi_type_size(f->type);
    const struct zmpi_array array = {f->type, {1, 1, f->count}};
    f->capacity = zmpi_compress_capacity(&array);
    f->data = allocate(size > bytes ? size : bytes);
    f->stream = allocate(f->capacity);
    memset(f->stream, 0, f->capacity);
    if (size == 0 || fread(f->data, 1, size, in) != size)
        fail("cannot read ", path);
    fclose(in);
    for (size_t i = size; i < bytes; i++)
        f->data[i] = f->data[i - size];
}

static void read_all(const unsigned char *data, size_t bytes)
{
    unsigned sum = 0;
    for (size_t i = 0; i < bytes; i += 64)
        sum += data[i];
    sink = sum;
}

static void ask(struct field *f, int k, bool warm)
{
    const struct zmpi_array array = {f->type, {1, 1, f->count}};
    const struct zmpi_bound bound = {ZMPI_REL, 1e-3};
    const struct zmpi_fills none = {0};
    struct zmpi_range range;
    struct zmpi_job job;
    double at[PARTS + 1];
    size_t shape[3], size;
    struct zmpi_judgement j = {0};
    struct zmpi_taken taken;
    read_all(warm ? f->data : others, warm ? f->count * zmpi_type_size(f->type) : OTHERS);
    at[WRONG] = now();
    zmpi_sample_take(&taken, f->type, f->data, f->count);
    zmpi_judge(&j, &taken, false);
    sink += j.is_wrong;
    at[ONCE] = now();
    if (k % 2) { /* after it more is in the caches: the other repetitions tell of a later call */
        zmpi_shape_find(f->type, &bound, 1e20, &(struct zmpi_column){f->data, f->count, 1},
                        f->count, shape);
        sink += (unsigned)zmpi_components_find(f->type, 1e20, f->data, f->count);
    }
    at[RANGE] = now();
    zmpi_range_without(f->type, f->data, f->count, 1e20, &none, 1, &range);
    zmpi_job_make(&array, &bound, &range, &job);
    zmpi_job_threshold(&job, 1e20);
    job.threads = 1;
    job.encoder = ZMPI_FLE;
    at[FILL] = now();
    sink += zmpi_fill_look(&taken, &range).most > 0;
    at[LOOK] = now();
    struct zmpi_job looked = job;
    zmpi_job_look(&looked, f->data);
    zmpi_axes_recall(&f->axes, &job, f->data);
    at[CODE] = now();
    job.axes = job.axes ? job.axes : ZMPI_AXES_GIVEN | 1;
    if (zmpi_job_compress(zmpi_device_cpu(), &job, f->stream, f->capacity, f->data, &size))
        fail("does not compress: ", f->name);
    at[PARTS] = now();
    for (int i = 0; i < PARTS; i++)
        if (i == ONCE || k % 2 == 0)
            f->seconds[i][k / 2] += (at[i + 1] - at[i] - clock_cost()) / TOGETHER;
}

/* What is printed of a field, in percent of coding. */
struct figures {
    bool several;
    double percent[FIGURES];
    double of[FIGURES]; /* seconds that are 100 % */
};

/* Seconds of a call that finds the range and codes, with or without all that each call is asked. */
static double call(struct field *f, bool judged, bool warm)
{
    const struct zmpi_array array = {f->type, {1, 1, f->count}};
    const struct zmpi_bound bound = {ZMPI_REL, 1e-3};
    const struct zmpi_fills none = {0};
    const struct zmpi_device *cpu = zmpi_device_cpu();
    struct zmpi_judgement j = {0};
    struct zmpi_taken taken;
    struct zmpi_range range;
    struct zmpi_job job;
    size_t size;
    read_all(warm ? f->data : others, warm ? f->count * zmpi_type_size(f->type) : OTHERS);
    const double begin = now();
    if (judged) {
        zmpi_sample_take(&taken, f->type, f->data, f->count);
        zmpi_judge(&j, &taken, false);
        sink += j.is_wrong;
    }
    zmpi_range_without(f->type, f->data, f->count, 1e20, &none, 1, &range);
    if (judged)
        sink += zmpi_fill_look(&taken, &range).most > 0;
    zmpi_job_make(&array, &bound, &range, &job);
    zmpi_job_threshold(&job, 1e20);
    job.threads = 1;
    job.encoder = ZMPI_FLE;
    if (judged)
        zmpi_axes_recall(&f->axes, &job, f->data);
    else
        job.axes = f->chosen;
    f->chosen = job.axes = job.axes ? job.axes : ZMPI_AXES_GIVEN | 1;
    if (judged ? zmpi_job_compress(cpu, &job, f->stream, f->capacity, f->data, &size)
               : cpu->compress(&job, f->stream, f->capacity, f->data, &size))
        fail("does not compress: ", f->name);
    return now() - begin;
}

/* By how many seconds a call takes longer that is judged. *plain: seconds of one that is not. */
static double longer(struct field *f, int repetitions, bool warm, double *plain)
{
    double each[MOST], more[MOST];
    for (int k = 0; k < repetitions; k++) {
        each[k] = more[k] = 0;
        for (int i = 0; i < TOGETHER; i++) {
            const double with = call(f, true, warm), without = call(f, false, warm);
            each[k] += without / TOGETHER;
            more[k] += (with - without) / TOGETHER;
        }
    }
    *plain = median(each, repetitions);
    return median(more, repetitions);
}

static void measure(struct field *f, int repetitions, bool warm, struct figures *of)
{
    double s[PARTS];
    for (int k = 0; k < 2 * repetitions; k++)
        for (int i = 0; i < TOGETHER; i++)
            ask(f, k, warm);
    for (int part = 0; part < PARTS; part++)
        s[part] = median(f->seconds[part], repetitions);
    /* zmpi_job_compress looks once more: once counts. */
    const double code = s[RANGE] + s[CODE] - s[LOOK], call = s[WRONG] + s[FILL] + s[LOOK];
    const double seconds[FIGURES] = {s[WRONG], call, call + s[ONCE], call + s[ONCE] / CALLS,
                                     longer(f, repetitions, warm, &of->of[FIGURES - 1])};
    for (int p = 0; p < FIGURES; p++) {
        of->of[p] = p < FIGURES - 1 ? code : of->of[p];
        of->percent[p] = 100 * seconds[p] / of->of[p];
    }
}

static void print_row(const char *name, const double percent[FIGURES])
{
    printf("%-36s", name);
    for (int p = 0; p < FIGURES; p++)
        printf(" %8.2f", percent[p]);
    printf("\n");
}

/* Mean, median, worst and sum of the fields of one variable, or of all. */
static void print_sums(const struct figures *of, int fields, bool all)
{
    double mean[FIGURES] = {0}, middle[FIGURES], worst[FIGURES] = {0}, sum[FIGURES] = {0};
    double each[FIELDS], code;
    char name[40];
    int n = 0;
    for (int p = 0; p < FIGURES; p++) {
        n = 0;
        code = 0;
        for (int i = 0; i < fields; i++)
            if (all || !of[i].several) {
                each[n++] = of[i].percent[p];
                sum[p] += of[i].percent[p] * of[i].of[p];
                code += of[i].of[p];
            }
        sum[p] /= code;
        for (int i = 0; i < n; i++) {
            mean[p] += each[i] / n;
            worst[p] = fmax(worst[p], each[i]);
        }
        middle[p] = n ? median(each, n) : 0;
    }
    snprintf(name, sizeof name, "%d %s: mean", n, all ? "fields" : "of one variable");
    print_row(name, mean);
    print_row("  median", middle);
    print_row("  worst", worst);
    print_row("  sum", sum);
}

/* Does the name begin as one of `several`, which commas separate? */
static bool is_of(const char *several, const char *name)
{
    for (const char *at = several; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") > 0 && strncmp(at, name, strcspn(at, ",")) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    static struct figures figures[FIELDS];
    const bool own = argc >= 6 && strcmp(argv[1], "own") == 0;
    const double megabytes = argc < 6 ? 0 : atof(argv[1]);
    const int repetitions = argc < 6 ? 0 : atoi(argv[2]), fields = argc - 5;
    if ((!own && !(megabytes >= 0.0625)) || megabytes > 1024 || repetitions < 1 ||
        repetitions > MOST || fields > FIELDS)
        fail("usage: judge_cost MBYTES|own REPETITIONS cold|warm SEVERAL FIELD.f32|FIELD.f64...",
             "");
    others = allocate(OTHERS);
    memset(others, 1, OTHERS);
    for (int i = 0; i < fields; i++) {
        static struct field f;
        load(&f, argv[5 + i], own ? 0 : (size_t)(megabytes * 0x1p20));
        figures[i].several = is_of(argv[4], f.name);
        measure(&f, repetitions, strcmp(argv[3], "warm") == 0, &figures[i]);
        print_row(f.name, figures[i].percent);
        free(f.data);
        free(f.stream);
    }
    print_sums(figures, fields, false);
    print_sums(figures, fields, true);
    free(others);
    return 0;
}

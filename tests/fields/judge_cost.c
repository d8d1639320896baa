/*
 * judge_cost.c - what it costs to judge a call's data, as a part of the time in which one thread
 * finds the range and codes by fle. All judgements are asked in a write call's order, so that what
 * one of them brings into the caches serves the next ones, as in a program.
 *
 * usage: judge_cost MBYTES REPETITIONS cold|warm FIELD.f32|FIELD.f64...
 *
 * Each field is repeated to MBYTES. Before each repetition all data are read (warm), as if they
 * were just computed, or others are, so that the caches hold those (cold). Prints
 * percentages, medians of the repetitions: type and byte order; all that is asked in each call;
 * what is asked besides in the first call of a length; and all of 100 calls of a length.
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

enum { MOST = 101, OTHERS = 64 << 20, CALLS = 100 };

/* What is timed: `wrong` is of the datatype, `once` of the first call of a length. */
enum part { WRONG, ONCE, RANGE, FILL, LOOK, CODE, PARTS };

struct field {
    const char *name;
    enum zmpi_type type;
    unsigned char *data, *stream;
    size_t count, capacity;
    struct zmpi_axes_known axes;
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

/* Processor time, since other programs run beside this one. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
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

static void load(struct field *f, const char *path, size_t bytes)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    FILE *in = fopen(path, "rb");
    if (in == NULL || dot == NULL || fseek(in, 0, SEEK_END) != 0)
        fail("cannot read ", path);
    const size_t size = (size_t)ftell(in);
    rewind(in);
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
        f->seconds[i][k / 2] =
            i == ONCE || k % 2 == 0 ? at[i + 1] - at[i] - clock_cost() : f->seconds[i][k / 2];
}

int main(int argc, char **argv)
{
    const double megabytes = argc < 5 ? 0 : atof(argv[1]);
    const int repetitions = argc < 5 ? 0 : atoi(argv[2]);
    if (!(megabytes >= 0.0625) || megabytes > 1024 || repetitions < 1 || repetitions > MOST)
        fail("usage: judge_cost MBYTES REPETITIONS cold|warm FIELD.f32|FIELD.f64...", "");
    const bool warm = strcmp(argv[3], "warm") == 0;
    int fields = 0;
    double mean[4] = {0}, most[4] = {0};
    others = allocate(OTHERS);
    memset(others, 1, OTHERS);
    for (int i = 4; i < argc; i++) {
        static struct field f;
        load(&f, argv[i], (size_t)(megabytes * 0x1p20));
        for (int k = 0; k < 2 * repetitions; k++)
            ask(&f, k, warm);
        double s[PARTS], percent[4];
        for (int part = 0; part < PARTS; part++)
            s[part] = median(f.seconds[part], repetitions);
        /* zmpi_job_compress looks once more: once counts. */
        const double code = s[RANGE] + s[CODE] - s[LOOK], call = s[WRONG] + s[FILL] + s[LOOK];
        percent[0] = 100 * s[WRONG] / code;
        percent[1] = 100 * call / code;
        percent[2] = 100 * s[ONCE] / code;
        percent[3] = percent[1] + percent[2] / CALLS;
        printf("%-36s", f.name);
        for (int p = 0; p < 4; p++) {
            printf(" %8.2f", percent[p]);
            mean[p] += percent[p];
            most[p] = fmax(most[p], percent[p]);
        }
        printf("\n");
        fields++;
        free(f.data);
        free(f.stream);
    }
    printf("%-36s", "mean");
    for (int p = 0; p < 4; p++)
        printf(" %8.2f", mean[p] / fields);
    printf("\n%-36s", "worst");
    for (int p = 0; p < 4; p++)
        printf(" %8.2f", most[p]);
    printf("\n");
    free(others);
    return 0;
}

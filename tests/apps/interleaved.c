/*
 * interleaved.c - what several variables that take turns cost: written and read as they are, and
 * one behind the other, in turns. The hint zmpi_components tells which; without zmpi it tells
 * nothing.
 *
 * usage: mpirun ... interleaved FIELD f32|f64 N mixed|blocks MBYTES REPETITIONS FILE
 *
 * FIELD has N variables, which take turns (mixed) or lie one behind the other; it is repeated to
 * MBYTES for each rank, a thousandth larger each time, since repetitions that are the same would be
 * found and coded as such. Prints the processor's seconds of the best repetition, of all ranks:
 * written and read in turns, written and read one behind the other.
 */
#include "app_common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct field {
    size_t width, n, points; /* bytes of an element; variables; of each */
    unsigned char *data[2];  /* in turns, one behind the other */
    MPI_Datatype type;
};

static double processor_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Stores the element at `x` times `factor`. */
static void put(const struct field *f, int blocks, size_t place, const unsigned char *x,
                double factor)
{
    unsigned char *at = f->data[blocks] + place * f->width;
    float half;
    double whole;
    if (f->width == sizeof half) {
        memcpy(&half, x, sizeof half);
        half *= (float)factor;
        memcpy(at, &half, sizeof half);
        return;
    }
    memcpy(&whole, x, sizeof whole);
    whole *= factor;
    memcpy(at, &whole, sizeof whole);
}

static void load(struct field *f, const char *path, int mixed, size_t bytes)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL || fseek(in, 0, SEEK_END) != 0)
        app_fail_together("cannot read %s", path);
    const size_t size = (size_t)ftell(in), points = size / f->width / f->n;
    unsigned char *raw = app_allocate(size, 1);
    rewind(in);
    if (points == 0 || fread(raw, 1, size, in) != size)
        app_fail_together("cannot read %s, or it is too small", path);
    fclose(in);
    f->points = (bytes / size + 1) * points;
    for (int k = 0; k < 2; k++)
        f->data[k] = app_allocate(app_multiply(f->points, f->n), f->width);
    for (size_t i = 0; i < f->points; i++)
        for (size_t c = 0; c < f->n; c++) {
            const size_t point = i % points;
            const double factor = 1 + (double)(i / points) * 1e-3;
            const unsigned char *x =
                raw + (mixed ? point * f->n + c : c * points + point) * f->width;
            put(f, 0, i * f->n + c, x, factor);
            put(f, 1, c * f->points + i, x, factor);
        }
    free(raw);
}

/* One file; blocks: one behind the other. */
static void measure(const struct field *f, int blocks, const char *path, double best[2])
{
    char components[20];
    MPI_Info info;
    MPI_File file;
    int rank;
    const int count = (int)app_multiply(f->points, f->n);
    unsigned char *got = app_allocate((size_t)count, f->width);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const MPI_Offset at = (MPI_Offset)rank * count * (MPI_Offset)f->width;
    snprintf(components, sizeof components, "%zu%s", f->n, blocks ? ":slow" : "");
    MPI_Info_create(&info);
    MPI_Info_set(info, "zmpi_components", components);
    app_delete_file(MPI_COMM_WORLD, path);
    memset(got, 1, (size_t)count * f->width);
    app_check_io(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file),
                 "MPI_File_open", path);
    double start = processor_seconds();
    app_check_io(
        MPI_File_write_at_all(file, at, f->data[blocks], count, f->type, MPI_STATUS_IGNORE),
        "MPI_File_write_at_all", path);
    MPI_File_sync(file);
    best[0] = fmin(best[0], processor_seconds() - start);
    start = processor_seconds();
    app_check_io(MPI_File_read_at_all(file, at, got, count, f->type, MPI_STATUS_IGNORE),
                 "MPI_File_read_at_all", path);
    best[1] = fmin(best[1], processor_seconds() - start);
    MPI_File_close(&file);
    MPI_Info_free(&info);
    app_delete_file(MPI_COMM_WORLD, path);
    free(got);
}

int main(int argc, char **argv)
{
    int n, megabytes, repetitions, rank;
    double best[4] = {INFINITY, INFINITY, INFINITY, INFINITY}, all[4];
    app_set_name("interleaved");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 8 || app_parse_int(argv[3], 2, &n) || app_parse_int(argv[5], 1, &megabytes) ||
        app_parse_int(argv[6], 1, &repetitions) || megabytes > 1000)
        app_fail_together("usage: FIELD f32|f64 N mixed|blocks MBYTES REPETITIONS FILE");
    const int is_double = strcmp(argv[2], "f64") == 0;
    struct field f = {
        .width = is_double ? 8 : 4, .n = (size_t)n, .type = is_double ? MPI_DOUBLE : MPI_FLOAT};
    load(&f, argv[1], strcmp(argv[4], "mixed") == 0, (size_t)megabytes * 1000000);
    for (int k = 0; k < 2 * repetitions; k++)
        measure(&f, k % 2, argv[7], best + 2 * (k % 2));
    MPI_Reduce(best, all, 4, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%g %g %g %g\n", all[0], all[1], all[2], all[3]);
    free(f.data[0]);
    free(f.data[1]);
    MPI_Finalize();
    return 0;
}

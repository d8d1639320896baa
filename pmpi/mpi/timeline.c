/* timeline.c - see timeline.h. */
#include "mpi/timeline.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "mpi/runtime.h"

enum { BINS = 1000 };
#define NARROWEST 1e-3 /* seconds; half a second of a program fits as it is */

/* Plain doubles: they are summed over all processes. */
struct bins {
    double calls[BINS], bytes[ZTIMELINES][BINS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct bins *kept; /* NULL: nothing is */
static double began, width = NARROWEST;

void ztimeline_begin(void)
{
    if (zruntime_options()->report[0])
        kept = calloc(1, sizeof *kept);
    began = zmpi_seconds();
}

/* Two bins become one. */
static void halve(double bin[BINS])
{
    for (int i = 0; i < BINS / 2; i++)
        bin[i] = bin[2 * i] + bin[2 * i + 1];
    memset(bin + BINS / 2, 0, BINS / 2 * sizeof *bin);
}

static void widen(void)
{
    width *= 2;
    halve(kept->calls);
    for (int i = 0; i < ZTIMELINES; i++)
        halve(kept->bytes[i]);
}

/* Evenly from one time to the other, both since `began`. */
static void spread(double bin[BINS], double from, double to, double bytes)
{
    const int first = (int)(from / width), last = (int)(to / width);
    for (int i = first; i <= last; i++) {
        const double begin = fmax(from, i * width), end = fmin(to, (i + 1) * width);
        bin[i] += first == last ? bytes : bytes * fmax(end - begin, 0) / (to - from);
    }
}

void ztimeline_call(enum ztimeline what, double start, double bytes)
{
    if (!kept)
        return;
    const double to = fmax(zmpi_seconds() - began, 0), from = fmin(fmax(start - began, 0), to);
    pthread_mutex_lock(&lock);
    while (to >= width * BINS)
        widen();
    kept->calls[(int)(from / width)]++;
    spread(kept->bytes[what], from, to, bytes);
    pthread_mutex_unlock(&lock);
}

double ztimeline_start(void)
{
    return kept ? zmpi_seconds() : 0;
}

void ztimeline_plain(enum ztimeline what, double start, int rc, MPI_Count count,
                     MPI_Datatype datatype)
{
    int size = 0;
    if (kept && rc == MPI_SUCCESS && count >= 0 && !PMPI_Type_size(datatype, &size) && size >= 0)
        ztimeline_call(what, start, (double)count * size);
}

void ztimeline_sum(void)
{
    int mine = kept != NULL, all = 0, rank = -1;
    double widest = width;
    if (!zruntime_options()->report[0] ||
        PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) || !all ||
        PMPI_Allreduce(&width, &widest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD))
        return;
    pthread_mutex_lock(&lock);
    while (width < widest)
        widen();
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(rank == 0 ? MPI_IN_PLACE : (void *)kept, rank == 0 ? kept : NULL,
                (int)(sizeof *kept / sizeof(double)), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    pthread_mutex_unlock(&lock);
}

static void print(FILE *out, const char *name, const double bin[BINS], int bins)
{
    fprintf(out, ", \"%s\": [", name);
    for (int i = 0; i < bins; i++)
        fprintf(out, "%s%.0f", i ? ", " : "", bin[i]);
    fputc(']', out);
}

void ztimeline_print_json(FILE *out)
{
    static const char *const name[ZTIMELINES] = {"bytes_written", "bytes_read", "bytes_sent",
                                                 "bytes_written_plain", "bytes_read_plain"};
    int bins = 0;
    for (int i = 0; kept && i < BINS; i++)
        for (int k = 0; k < ZTIMELINES; k++)
            if (kept->calls[i] > 0 || kept->bytes[k][i] > 0)
                bins = i + 1;
    if (bins == 0)
        return;
    fprintf(out, "  \"timeline\": {\"seconds_of_a_bin\": %.9g", width);
    print(out, "calls", kept->calls, bins);
    for (int i = 0; i < ZTIMELINES; i++)
        print(out, name[i], kept->bytes[i], bins);
    fputs("},\n", out);
}

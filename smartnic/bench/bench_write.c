/*
 * bench_write.c - what a write call costs an MPI program: the time until it returns, until
 * everything is in the file, and the process's own processor time. scripts/bench/bench_nic.sh runs
 * it with libzmpi.so preloaded.
 *
 *     bench_write FILE CALLS MILLISECONDS BYTES...      BYTES of each rank, MILLISECONDS between
 * calls
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

static int by_time(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Writes one file: calls of all ranks, a pause after each, close. */
static void row(const char *path, int calls, int pause, size_t bytes, bool quiet)
{
    int rank, ranks;
    MPI_File file;
    float *data = malloc(bytes);
    double *time = malloc((size_t)calls * sizeof *time);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!data || !time)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fill(data, bytes / 4);
    if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                      &file))
        MPI_Abort(MPI_COMM_WORLD, 1);
    const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double inside = 0;
    for (int i = 0; i < calls; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = seconds(CLOCK_MONOTONIC);
        const MPI_Offset at = ((MPI_Offset)i * ranks + rank) * (MPI_Offset)bytes;
        if (MPI_File_write_at_all(file, at, data, (int)(bytes / 4), MPI_FLOAT, MPI_STATUS_IGNORE))
            MPI_Abort(MPI_COMM_WORLD, 1);
        time[i] = seconds(CLOCK_MONOTONIC) - begin;
        inside += time[i];
        usleep((useconds_t)pause * 1000);
    }
    const double begin = seconds(CLOCK_MONOTONIC);
    MPI_File_close(&file);
    inside += seconds(CLOCK_MONOTONIC) - begin;
    const double all = (double)bytes * calls / 1e9;
    qsort(time, (size_t)calls, sizeof *time, by_time);
    if (rank == 0 && !quiet)
        printf("%12zu %12.2f %12.2f %12.3f\n", bytes, 1e3 * time[calls / 2], 1e3 * inside / calls,
               (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / all);
    MPI_File_delete(path, MPI_INFO_NULL);
    free(data);
    free(time);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 5)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0)
        printf("       bytes   ms, a call  ms, with all  host, s/GB\n");
    for (int i = 4; i < argc; i++) {
        row(argv[1], 2, 100, (size_t)atoll(argv[i]), true); /* what is done once */
        row(argv[1], atoi(argv[2]), atoi(argv[3]), (size_t)atoll(argv[i]), false);
    }
    MPI_Finalize();
    return 0;
}

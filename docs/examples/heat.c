/* heat.c - an MPI program that knows nothing of zmpi: hot spots that spread in a cube of 96^3
 * points, three snapshots. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 96, SPOTS = 5, SNAPSHOTS = 3 };

static double place(int spot, int axis)
{
    return fmod((spot + 1) * (0.754877666 + 0.1 * axis), 1) * N;
}

static float temperature(int z, int y, int x, int step)
{
    double sum = 280;
    for (int i = 0; i < SPOTS; i++) {
        const double width = 60 + 20 * i + 200 * step;
        const double dz = z - place(i, 0), dy = y - place(i, 1), dx = x - place(i, 2);
        sum += 40 * exp(-(dz * dz + dy * dy + dx * dx) / width) * pow(60 / width, 0.25);
    }
    return (float)(sum + 0.02 * sin(13 * x + 78 * y + 38 * z)); /* and some noise */
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int begin = N * rank / ranks, planes = N * (rank + 1) / ranks - begin;
    float *value = malloc((size_t)planes * N * N * sizeof *value);
    for (int step = 0; value && step < SNAPSHOTS; step++) {
        for (int i = 0; i < planes * N * N; i++)
            value[i] = temperature(begin + i / (N * N), i / N % N, i % N, step);
        char name[64];
        snprintf(name, sizeof name, "%s%d.bin", argc > 1 ? argv[1] : "heat", step);
        MPI_File file;
        MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                      &file);
        MPI_File_write_at_all(file, (MPI_Offset)begin * N * N * 4, value, planes * N * N, MPI_FLOAT,
                              MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
    free(value);
    MPI_Finalize();
    return 0;
}

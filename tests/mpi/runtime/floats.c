/*
 * floats.c - a program that traps floating-point exceptions, as gfortran -ffpe-trap does, writes,
 * reads and gathers data with NaN, infinities and fill values. It is not stopped, finds its traps
 * as they were, and no flags that it did not raise.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always ZMPI_LOG=info
 * zmpi-test: huffman RANKS 2 ENV ZMPI_ERROR_BOUND=ratio=6 ZMPI_CODEC=huffman ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always
 */
#define _GNU_SOURCE // feenableexcept
#include "check.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>

enum { N = 40000, TRAPS = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };

static const char path[] = "floats.z";

static float value(int i)
{
    static const float special[] = {NAN, INFINITY, 1e30F, -1e38F};
    return i % 101 == 7 ? special[i / 101 % 4] : (float)(i % 1000) * 1e-3F;
}

/* Integers, so that nothing here traps. */
static void compare(const float *is, const float *should)
{
    for (int i = 0; i < N; i++)
        if (i % 101 == 7)
            CHECK(memcmp(is + i, should + i, sizeof *is) == 0);
        else
            CHECK(fabsf(is[i] - should[i]) < 0.3F);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_File file;
    float *data = malloc(N * sizeof *data), *back = malloc(N * sizeof *back), *all = NULL;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    all = malloc((size_t)ranks * N * sizeof *all);
    CHECK(data && back && all);
    for (int i = 0; i < N; i++)
        data[i] = value(i);
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(TRAPS);
    const int traps = fegetexcept();

    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    OK(MPI_File_write_at_all(file, (MPI_Offset)rank * N * 4, data, N, MPI_FLOAT,
                             MPI_STATUS_IGNORE));
    OK(MPI_File_write_at(file, (MPI_Offset)(ranks + rank) * N * 4, data, N, MPI_FLOAT,
                         MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    OK(MPI_File_read_at_all(file, (MPI_Offset)rank * N * 4, back, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    compare(back, data);
    OK(MPI_File_read_at(file, (MPI_Offset)(ranks + rank) * N * 4, back, N, MPI_FLOAT,
                        MPI_STATUS_IGNORE));
    compare(back, data);
    OK(MPI_File_close(&file));
    OK(MPI_Gather(data, N, MPI_FLOAT, all, N, MPI_FLOAT, 0, MPI_COMM_WORLD));
    for (int r = 0; r < ranks && rank == 0; r++)
        compare(all + (size_t)r * N, data);

    CHECK(fegetexcept() == traps);
    CHECK(fetestexcept(TRAPS) == 0);
    OK(MPI_Finalize());
    free(data);
    free(back);
    free(all);
    return 0;
}

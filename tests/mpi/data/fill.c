/*
 * fill.c - fill values of any size, which not all ranks have alike: one has nothing else, one a
 * few, one none. In collective and independent writes and in MPI_Gather they come back exactly, and
 * the field beside them within its bound.
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always
 */
#include "check.h"

#include <math.h>

enum { N = 60000 };

static const char path[] = "fill.z";
static int rank, ranks;

/* Rank 0: stretches; 1: nothing else; 2: five of them; 3: none. */
static double value(int r, int i, double fill)
{
    const double x = 0.5 + 0.5 * sin(1e-3 * (i + 100 * r)) * cos(2e-2 * i);
    if (r % 4 == 1 || (r % 4 == 0 && i / 500 % 3 == 0) || (r % 4 == 2 && i % 12000 == 11))
        return fill;
    return x;
}

static void fill_in(float *dst, int r, double fill)
{
    for (int i = 0; i < N; i++)
        dst[i] = (float)value(r, i, fill);
}

static void compare(const float *is, int r, double fill)
{
    for (int i = 0; i < N; i++) {
        const double x = (double)(float)value(r, i, fill), y = (double)is[i];
        const bool kept = fabs(x) > 1;
        CHECK_SAY(kept ? x == y : fabs(x - y) <= 1e-3, "rank %d's element %d is %g, not %g", r, i,
                  y, x);
    }
}

static void file(double fill, bool collective)
{
    float *data = check_alloc(N * 4), *back = check_alloc(N * 4);
    MPI_File f;
    check_say("%g, %s", fill, collective ? "collective" : "independent");
    fill_in(data, rank, fill);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    const MPI_Offset at = (MPI_Offset)rank * N * 4;
    if (collective)
        OK(MPI_File_write_at_all(f, at, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    else
        OK(MPI_File_write_at(f, at, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    check_sync(f, MPI_COMM_WORLD);
    OK(MPI_File_read_at(f, at, back, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    /* Alone, a rank that has nothing else, or a few, cannot tell. */
    if (collective || rank % 4 == 0 || rank % 4 == 3)
        compare(back, rank, fill);
    check_remove(path, MPI_COMM_WORLD);
    free(data);
    free(back);
}

static void gather(double fill)
{
    float *data = check_alloc(N * 4), *all = check_alloc((size_t)ranks * N * 4);
    check_say("%g, MPI_Gather", fill);
    fill_in(data, rank, fill);
    OK(MPI_Gather(data, N, MPI_FLOAT, all, N, MPI_FLOAT, 0, MPI_COMM_WORLD));
    for (int r = 0; r < ranks && rank == 0; r++)
        compare(all + (size_t)r * N, r, fill);
    free(data);
    free(all);
}

int main(int argc, char **argv)
{
    static const double fills[] = {-9999, 9999, 1e15, -32768};
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
        file(fills[i], true);
        file(fills[i], false);
        gather(fills[i]);
    }
    OK(MPI_Finalize());
    return 0;
}

/*
 * staged_cells.c - a solver's state by steps, as NPB's BT-IO writes it: each rank has a cell in
 * every layer of cells, along a diagonal, and writes them row by row by independent calls. The
 * variables have ranges alike, so only their agreement tells them. Taken apart, with the planes
 * that the rows lie in, they are smaller, and every value is within the bound.
 *
 * zmpi-test: RANKS 1,4
 */
#include "check.h"

#include <math.h>

enum { N = 5, STEPS = 9, FEW = 4, LARGE = 32, MOST = LARGE * N };

static const char path[] = "staged_cells.z";
static const double bound = 1e-6;
static int rank, side, cells, steps; /* side: points of the grid's edge; cells: along it */

static double value(int c, int x, int y, int z, int step)
{
    const double u = (double)x / side, v = (double)y / side, w = (double)z / side;
    return 10 * sin(1.3 * c + 2 * u + 0.05 * step) * cos(3 * v + c) * (1 + w * w) +
           0.01 * sin(40 * u + 31 * v + 23 * w + 7 * c);
}

/* Where the rank's cell k begins, in points. */
static void cell_at(int k, int at[3])
{
    const int size = side / cells;
    at[0] = (rank % cells + k) % cells * size;
    at[1] = (rank / cells + cells - k) % cells * size;
    at[2] = k * size;
}

static MPI_Offset row_at(const int at[3], int y, int z, int step)
{
    const MPI_Offset plane = (MPI_Offset)side * side;
    return 8 * N * (at[0] + (MPI_Offset)side * (at[1] + y) + plane * (at[2] + z + side * step));
}

static MPI_File open_file(int mode, const char *components)
{
    MPI_Info info;
    MPI_File f;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_error_bound", "abs=1e-6"));
    OK(MPI_Info_set(info, "zmpi_components", components));
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &f));
    OK(MPI_Info_free(&info));
    return f;
}

static void fill_row(const int at[3], int y, int z, int step, double *data)
{
    for (int x = 0; x < side / cells; x++)
        for (int c = 0; c < N; c++)
            data[x * N + c] = value(c, at[0] + x, at[1] + y, at[2] + z, step);
}

static void check_row(const double *is, const double *was)
{
    for (int i = 0; i < side / cells * N; i++)
        CHECK_SAY(fabs(is[i] - was[i]) <= bound, "%.17g for %.17g", is[i], was[i]);
}

static void each_row(MPI_File f, bool writes)
{
    const int size = side / cells;
    double data[MOST], read[MOST];
    int at[3];
    for (int step = 0; step < steps; step++)
        for (int k = 0; k < cells; k++)
            for (int row = 0; row < size * size; row++) {
                const int y = row % size, z = row / size;
                cell_at(k, at);
                fill_row(at, y, z, step, data);
                const MPI_Offset place = row_at(at, y, z, step);
                if (writes) {
                    OK(MPI_File_write_at(f, place, data, size * N, MPI_DOUBLE, MPI_STATUS_IGNORE));
                    continue;
                }
                OK(MPI_File_read_at(f, place, read, size * N, MPI_DOUBLE, MPI_STATUS_IGNORE));
                check_row(read, data);
            }
}

/* Returns the file's size on disk. */
static long long round_trip(const char *components)
{
    MPI_File f = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE, components);
    each_row(f, true);
    OK(MPI_File_close(&f));
    f = open_file(MPI_MODE_RDONLY, components);
    each_row(f, false);
    OK(MPI_File_close(&f));
    const long long size = check_disk_size(path);
    check_remove(path, MPI_COMM_WORLD);
    return size;
}

/* Without being taken apart the state takes at least so many times as much. */
static void check_sizes(double least)
{
    const long long found = round_trip("auto"), given = round_trip("5"), one = round_trip("1");
    check_say("%d points: %lld bytes, 5 variables told %lld, one array %lld", side, found, given,
              one);
    CHECK(found == given);
    CHECK(least * (double)found < (double)one);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    cells = check_ranks(MPI_COMM_WORLD) == 4 ? 2 : 1;
    for (side = 12 * cells, steps = STEPS; side <= 24; side += 2 * cells)
        check_sizes(1.2);
    if (cells > 1) { /* a batch holds a part of a cell, and mostly begins inside a plane */
        side = LARGE * cells;
        steps = FEW;
        check_sizes(1.5);
    }
    OK(MPI_Finalize());
    return 0;
}

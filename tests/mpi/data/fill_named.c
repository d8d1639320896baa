/*
 * fill_named.c - fill values that the user names, among the other values: exact on all ranks, and
 * no part of the range, in collective and independent writes, small ones that are held back, and in
 * MPI_Gather; and of components, each with its own range. A hint names others for a file.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_FILL=0,-1 ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVE_MODE=always
 */
#include "check.h"

#include <math.h>

enum { N = 60000, ROW = 500 };

enum way { TOGETHER, ALONE, ROWS, HINT, PAIRS };

static const char path[] = "fill_named.z";
static int rank, ranks;

static double fill_of(enum way way, int i)
{
    return way == HINT ? 290.5 : i / 7000 % 2 ? 0 : -1;
}

/* 250 to 310; rank 1 has nothing but fill values, rank 2 few. */
static bool is_fill(int r, int i)
{
    return r % 3 == 1 || (r % 3 == 0 && (i / 500 % 3 == 0 || i % 89 == 0)) ||
           (r % 3 == 2 && i % 12000 == 11);
}

static double value(int r, int i, enum way way)
{
    return is_fill(r, i) ? fill_of(way, i)
                         : 280 + 20 * sin(1e-3 * (i + 100 * r)) + 10 * cos(2e-2 * i);
}

static void compare(const double *is, int r, enum way way)
{
    for (int i = 0; i < N; i++) {
        const double x = value(r, i, way), y = is[i];
        CHECK_SAY(is_fill(r, i) ? x == y : fabs(x - y) <= 0.06,
                  "rank %d's element %d is %g, not %g", r, i, y, x);
    }
}

static void write_to(MPI_File f, enum way way, const double *data)
{
    const MPI_Offset at = (MPI_Offset)rank * N * 8;
    if (way == ALONE)
        OK(MPI_File_write_at(f, at, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    else if (way != ROWS)
        OK(MPI_File_write_at_all(f, at, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    for (int i = 0; way == ROWS && i < N; i += ROW)
        OK(MPI_File_write_at(f, at + (MPI_Offset)i * 8, data + i, ROW, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
}

static void file(enum way way)
{
    double *data = check_alloc(N * 8), *back = check_alloc(N * 8);
    MPI_Info info = MPI_INFO_NULL;
    MPI_File f;
    check_say("way %d", way);
    for (int i = 0; i < N; i++)
        data[i] = value(rank, i, way);
    if (way == HINT || way == PAIRS)
        OK(MPI_Info_create(&info));
    if (way == HINT)
        OK(MPI_Info_set(info, "zmpi_fill", "290.5,nan"));
    if (way == PAIRS)
        OK(MPI_Info_set(info, "zmpi_components", "2"));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f));
    if (info != MPI_INFO_NULL)
        OK(MPI_Info_free(&info));
    write_to(f, way, data);
    check_sync(f, MPI_COMM_WORLD);
    OK(MPI_File_read_at(f, (MPI_Offset)rank * N * 8, back, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    compare(back, rank, way);
    check_remove(path, MPI_COMM_WORLD);
    free(data);
    free(back);
}

static void gather(void)
{
    double *data = check_alloc(N * 8), *all = check_alloc((size_t)ranks * N * 8);
    check_say("MPI_Gather");
    for (int i = 0; i < N; i++)
        data[i] = value(rank, i, TOGETHER);
    OK(MPI_Gather(data, N, MPI_DOUBLE, all, N, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    for (int r = 0; r < ranks && rank == 0; r++)
        compare(all + (size_t)r * N, r, TOGETHER);
    free(data);
    free(all);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    for (int way = TOGETHER; way <= PAIRS; way++)
        file((enum way)way);
    gather();
    OK(MPI_Finalize());
    return 0;
}

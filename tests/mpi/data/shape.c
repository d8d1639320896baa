/*
 * shape.c - what nothing tells the shape of gets one from its data: a slab by MPI_File_write_at is
 * as small as by a subarray view.
 *
 * zmpi-test: RANKS 1,2,4
 */
#include "check.h"

#include <math.h>

enum { NZ = 8, NY = 60, NX = 150, SLAB = NZ * NY * NX };

static const char path[] = "shape.z";
static int rank, ranks;

static MPI_File open_file(int mode, const char *shape)
{
    MPI_Info info;
    MPI_File f;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_error_bound", "abs=1e-3"));
    if (shape)
        OK(MPI_Info_set(info, "zmpi_shape", shape));
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, info, &f));
    OK(MPI_Info_free(&info));
    return f;
}

static double value(int slab, int i)
{
    const int z = slab * NZ + i / (NY * NX), y = i / NX % NY, x = i % NX;
    return 10 * sin(0.05 * x + 0.1 * z) * cos(0.07 * y) +
           0.01 * check_unit((uint64_t)slab, (uint64_t)i);
}

/* Three slabs of each rank, as large in the file as this comes to. */
static MPI_Offset write_all(const char *shape, bool together)
{
    double *data = check_alloc(SLAB * 8), *back = check_alloc(SLAB * 8);
    MPI_File f = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE, shape);
    for (int step = 0; step < 3; step++) {
        const int slab = step * ranks + rank;
        const MPI_Offset at = (MPI_Offset)slab * SLAB * 8;
        for (int i = 0; i < SLAB; i++)
            data[i] = value(slab, i);
        if (together)
            OK(MPI_File_write_at_all(f, at, data, SLAB, MPI_DOUBLE, MPI_STATUS_IGNORE));
        else
            OK(MPI_File_write_at(f, at, data, SLAB, MPI_DOUBLE, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&f));
    f = open_file(MPI_MODE_RDONLY, NULL);
    for (int step = 0; step < 3; step++) {
        const int slab = step * ranks + rank;
        OK(MPI_File_read_at(f, (MPI_Offset)slab * SLAB * 8, back, SLAB, MPI_DOUBLE,
                            MPI_STATUS_IGNORE));
        for (int i = 0; i < SLAB; i++)
            CHECK(fabs(back[i] - value(slab, i)) <= 1e-3);
    }
    OK(MPI_File_close(&f));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    const MPI_Offset size = (MPI_Offset)check_disk_size(path);
    check_remove(path, MPI_COMM_WORLD);
    free(data);
    free(back);
    return size;
}

int main(int argc, char **argv)
{
    char row[40];
    OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(row, sizeof row, "1x1x%d", (int)SLAB);
    for (int together = 0; together < 2; together++) {
        const MPI_Offset found = write_all(NULL, together), given = write_all("8x60x150", together),
                         flat = write_all(row, together);
        check_say("%s: %lld bytes, %lld by the true shape, %lld as rows",
                  together ? "together" : "alone", (long long)found, (long long)given,
                  (long long)flat);
        CHECK(found < flat * 9 / 10);
        CHECK(found < given * 101 / 100 + 512);
    }
    OK(MPI_Finalize());
    return 0;
}

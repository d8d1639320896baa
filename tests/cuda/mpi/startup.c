/*
 * startup.c - when the driver is started, and on which GPU host buffers end up: in a program that
 * does not use any by itself.
 *
 * usage: startup asleep|started    (must the driver be, after MPI_Init?)
 */
#include "device_buffer.h"

#include <cuda.h>
#include <emulator.h>

enum { N = 20000 };

static void write_file(const float *data, int rank)
{
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, "startup.z", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                     &f));
    OK(MPI_File_write_at_all(f, (MPI_Offset)rank * N * 4, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
}

int main(int argc, char **argv)
{
    static float data[N];
    int rank;
    CHECK(argc == 2);
    const bool started = strcmp(argv[1], "started") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK_EQUAL(zmpi_emu_started() != 0, started);
    CHECK_EQUAL(zmpi_emu_contexts(), 0);
    for (int i = 0; i < N; i++)
        data[i] = (float)(i % 100 + rank) + 0.1F * (float)(i % 7);
    write_file(data, rank);
    CHECK_EQUAL(zmpi_emu_started() != 0, started);
    CHECK_EQUAL(zmpi_emu_contexts(), started);
    if (started) {
        unsigned flags;
        int active = 0;
        CHECK(cuDevicePrimaryCtxGetState(rank % 2, &flags, &active) == CUDA_SUCCESS);
        CHECK(active);
    }
    MPI_Finalize();
    return 0;
}

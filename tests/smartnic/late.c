/*
 * late.c - a daemon hears of a place when the client has given up and has begun the file again.
 *
 *     nic_late FILE PID      PID is the daemon's
 */
#define _GNU_SOURCE
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { COUNT = 1 << 20 };

static float data[COUNT];

static int write_waves(MPI_File file, double step)
{
    for (int i = 0; i < COUNT; i++)
        data[i] = (float)sin(step * i);
    return MPI_File_write_at_all(file, 0, data, COUNT, MPI_FLOAT, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Init(&argc, &argv);
    const pid_t daemon = (pid_t)atol(argv[2]);
    int failed = MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY,
                               MPI_INFO_NULL, &file);
    failed |= write_waves(file, 1e-3);
    sleep(1); /* it has compressed them */
    kill(daemon, SIGSTOP);
    failed |= MPI_File_sync(file);
    failed |= MPI_File_set_size(file, 0);
    failed |= write_waves(file, 3e-3);
    failed |= MPI_File_sync(file);
    kill(daemon, SIGCONT);
    sleep(1);
    failed |= MPI_File_close(&file);
    MPI_Finalize();
    return failed != MPI_SUCCESS;
}

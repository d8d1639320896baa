/* startup.c - a whole program: what cli/no_memory.py takes memory from, wherever it is. It says
 * what MPI calls return, and whether what it wrote is there. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 20000 };

int main(int argc, char **argv)
{
    static double data[COUNT], all[4 * COUNT];
    MPI_File file;
    int rank, ranks;
    if (MPI_Init(&argc, &argv))
        return 3;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < COUNT; i++)
        data[i] = rank + i % 100;
    int failed =
        MPI_Gather(data, COUNT, MPI_DOUBLE, all, COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD) != 0;
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                      &file)) {
        failed = 1;
    } else {
        const MPI_Offset at = (MPI_Offset)rank * (MPI_Offset)sizeof data;
        failed |= MPI_File_write_at_all(file, at, data, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE) != 0;
        failed |= MPI_File_close(&file) != 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", failed ? "failed" : "written");
    MPI_Finalize();
    return 0;
}

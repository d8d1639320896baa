/*
 * mpi.c FILE - an MPI program that writes a file in many ways: collective, independent, small and
 * large, in blocks of a 3-D array.
 */
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

enum { N = 64, PLANE = N * N, SMALL = 100 };

static void check(int error)
{
    if (error != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, error);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_File file;
    MPI_Datatype block;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    float *data = malloc(sizeof(float) * N * PLANE);
    if (argc != 2 || !data)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < N * PLANE; i++)
        data[i] =
            (float)(sin(0.02 * (i % PLANE)) + 0.1 * (i / PLANE) + rank + 1e-4 * (i * 7919 % 101));
    int sizes[3] = {N, N, N * ranks}, sub[3] = {N, N, N}, at[3] = {0, 0, N * rank};
    check(MPI_Type_create_subarray(3, sizes, sub, at, MPI_ORDER_C, MPI_FLOAT, &block));
    check(MPI_Type_commit(&block));
    check(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                        &file));
    check(MPI_File_set_view(file, 0, MPI_FLOAT, block, "native", MPI_INFO_NULL));
    check(MPI_File_write_all(file, data, N * PLANE, MPI_FLOAT, MPI_STATUS_IGNORE));
    const MPI_Offset whole = (MPI_Offset)sizeof(float) * N * PLANE * ranks;
    check(MPI_File_set_view(file, whole, MPI_FLOAT, MPI_FLOAT, "native", MPI_INFO_NULL));
    for (int i = 0; i < 20; i++)
        check(MPI_File_write_at(file, (MPI_Offset)(i * ranks + rank) * SMALL, data + i * SMALL,
                                SMALL, MPI_FLOAT, MPI_STATUS_IGNORE));
    check(MPI_File_sync(file));
    check(MPI_File_write_at_all(file, (MPI_Offset)(20 * ranks) * SMALL + (MPI_Offset)rank * PLANE,
                                data, PLANE, MPI_FLOAT, MPI_STATUS_IGNORE));
    check(MPI_File_close(&file));
    MPI_Type_free(&block);
    free(data);
    MPI_Finalize();
    return 0;
}

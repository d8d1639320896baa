/* module.c - what an interpreter loads: the only thing in the process that is linked to MPI. */
#include "../mpi/check.h"

int run(int argc, char **argv);

int run(int argc, char **argv)
{
    static const char path[] = "late.z";
    double mine[1000], back[1000];
    MPI_File file;
    MPI_Datatype pairs;
    MPI_Init(&argc, &argv);
    int rank = check_rank(MPI_COMM_WORLD);
    for (int i = 0; i < 1000; i++)
        mine[i] = i + rank;
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    OK(MPI_Type_contiguous(2, MPI_DOUBLE, &pairs));
    OK(MPI_Type_commit(&pairs));
    OK(MPI_File_set_view(file, rank * 8000, MPI_DOUBLE, pairs, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, mine, 1000, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, 0, back, 500, pairs, MPI_STATUS_IGNORE));
    CHECK_BYTES(back, mine, sizeof mine);
    OK(MPI_Type_free(&pairs));
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(check_is_container(path));
    CHECK(check_disk_size(path) < 8000 * check_ranks(MPI_COMM_WORLD));
    return MPI_Finalize();
}

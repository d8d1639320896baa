/*
 * goes_on.c - opens a container that a power failure left, writes behind all that was in it, and
 * closes it, for tests/cli/power.py. Status 0 also where MPI_File_open refuses it.
 *
 *     goes_on FILE
 */
#include "../../mpi/check.h"

#include "model.h"

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Init(&argc, &argv);
    CHECK(argc == 2);
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR, MPI_INFO_NULL, &file) ==
        MPI_SUCCESS) {
        static const uint64_t value[3] = {1, 2, 3};
        OK(MPI_File_write_at(file, GOES_ON, value, 3, MPI_INT64_T, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
    }
    MPI_Finalize();
    return 0;
}

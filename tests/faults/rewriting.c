/*
 * rewriting.c - writes the whole of a file that may be there already, and dies while it
 * synchronises or closes it, for tests/cli/kill_trim.py; it is no test by itself.
 *
 *     rewriting FILE SESSION ACT CALLS AT
 *
 * Rank 0 dies in system call number AT of these two on the file (shim.h; ACT 0: nobody does).
 * Element i of the file is SESSION 2^32 + i, times an odd number: so that exact streams are as long
 * as what they hold.
 */
#include "../mpi/check.h"

#include "shim.h"

enum { ELEMENTS = 60000 };

int main(int argc, char **argv)
{
    MPI_File file;
    static uint64_t value[ELEMENTS];
    MPI_Init(&argc, &argv);
    CHECK(argc == 6);
    const int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    const int from = ELEMENTS * rank / ranks, to = ELEMENTS * (rank + 1) / ranks;
    const char *slash = strrchr(argv[1], '/');
    const struct fault fault = {.file = slash ? slash + 1 : argv[1],
                                .act = (enum fault_act)atoi(argv[3]),
                                .calls = atoi(argv[4]),
                                .at = atol(argv[5])};
    for (int i = from; i < to; i++)
        value[i] = ((uint64_t)atol(argv[2]) << 32 | (uint64_t)i) * 0x9E3779B97F4A7C15U;
    OK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                     &file));
    OK(MPI_File_write_at_all(file, (MPI_Offset)from * 8, value + from, to - from, MPI_DOUBLE,
                             MPI_STATUS_IGNORE));
    if (rank == 0 && fault.act != FAULT_NONE)
        fault_set(&fault);
    OK(MPI_File_sync(file));
    OK(MPI_File_close(&file));
    fault_set(NULL);
    MPI_Finalize();
    return 0;
}

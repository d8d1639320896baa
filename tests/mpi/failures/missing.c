/*
 * missing.c - a file that is not there, opened without MPI_MODE_CREATE: the error of the MPI
 * library, by the handler that the program has set for files that are not open; with MPICH an error
 * of ours, too.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=lossless
 */
#include "check.h"

static int called;

static void handler(MPI_File *file, int *error, ...)
{
    (void)file, (void)error;
    called++;
}

int main(int argc, char **argv)
{
    static const int modes[] = {MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR};
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000
    const int returned = MPI_SUCCESS; /* where a handler of the program's was called */
#else
    const int returned = MPI_ERR_NO_SUCH_FILE;
#endif
    MPI_Errhandler own;
    MPI_File file;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_File_create_errhandler(handler, &own));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, own));
    for (int i = 0; i < 3; i++) {
        check_say("mode %d", modes[i]);
        called = 0;
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "missing.out", modes[i], MPI_INFO_NULL, &file),
                    returned);
        CHECK_EQUAL(called, 1);
        CHECK_EQUAL(check_disk_size("missing.out"), -1);
    }
    check_say("an error of ours");
    MPI_Info info;
    called = 0;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "zmpi_error_bound", "abs=-1"));
    CHECK_CLASS(
        MPI_File_open(MPI_COMM_WORLD, "missing.out", MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file),
        MPI_ERR_INFO_VALUE);
#ifndef OPEN_MPI // whose MPI_File_call_errhandler does not take MPI_FILE_NULL
    CHECK_EQUAL(called, 1);
#endif
    OK(MPI_Info_free(&info));
    OK(MPI_Errhandler_free(&own));
    OK(MPI_Finalize());
}

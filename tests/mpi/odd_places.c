/*
 * odd_places.c - containers whose names are as long as names can be, and ones that the system gives
 * the number of stderr, which the program has closed: what libzmpi.so says does not go into them.
 *
 * zmpi-test: RANKS 1,2 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=debug ZMPI_REPORT_TEXT=on
 */
#include "check.h"

enum { COUNT = 5000 };

static double data[COUNT], is[COUNT];

/* By the shared file pointer too, which has a file of its own. */
static void round_trip(const char *path)
{
    MPI_File file;
    const int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    const MPI_Offset at = (MPI_Offset)rank * (MPI_Offset)sizeof data;
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    OK(MPI_File_write_at_all(file, at, data, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
    /* About which a line is written. */
    CHECK_CLASS(MPI_File_read_at(file, 0, is, -1, MPI_DOUBLE, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    OK(MPI_File_seek_shared(file, ranks * (MPI_Offset)sizeof data, MPI_SEEK_SET));
    OK(MPI_File_write_shared(file, data, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int k = 0; k < 2 * ranks; k++) {
        const MPI_Offset from = (MPI_Offset)k * (MPI_Offset)sizeof data;
        OK(MPI_File_read_at(file, from, is, COUNT, MPI_DOUBLE, MPI_STATUS_IGNORE));
        CHECK_BYTES(is, data, sizeof data);
    }
    OK(MPI_File_close(&file));
    check_remove(path, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    char name[256];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < COUNT; i++)
        data[i] = i % 1000 * 0.125;
    check_say("a long name");
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    /* OMPIO makes a file beside it for its own shared pointer. */
    if (!getenv("OMPI_MCA_io") || strcmp(getenv("OMPI_MCA_io"), "ompio") != 0)
        round_trip(name);
    round_trip("a name with 'quotes', \"more\", \\ and \n in it");
    check_say("stderr is closed");
    close(STDIN_FILENO);
    close(STDERR_FILENO);
    round_trip("instead_of_stderr.z");
    MPI_Finalize();
    return 0;
}

/*
 * mpi_bytes.c - READ WRITE: reads a container of 100,000 floats that another machine wrote, and
 * writes the same numbers to a new one; for scripts/test_s390x.sh mpi.
 *
 * zmpi-test: RANKS 2 ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_FILES=*
 */
#include "check.h"

#include <math.h>

enum { ALL = 100000 };

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Init(&argc, &argv);
    CHECK_EQUAL(argc, 3);
    const int rank = check_rank(MPI_COMM_WORLD), n = ALL / check_ranks(MPI_COMM_WORLD);
    float *x = check_alloc((size_t)n * sizeof *x);
    OK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_read_at_all(file, (MPI_Offset)rank * n * 4, x, n, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    for (int i = 0; i < n; i++) {
        const long long k = (long long)rank * n + i;
        const double is = (double)(k * k % 10007) / 1024;
        CHECK(fabs(x[i] - is) <= 1e-3);
        x[i] = (float)is;
    }
    check_remove(argv[2], MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL,
                     &file));
    OK(MPI_File_write_at_all(file, (MPI_Offset)rank * n * 4, x, n, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    free(x);
    MPI_Finalize();
    return 0;
}

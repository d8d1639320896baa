/*
 * failing.c - calls of CUDA fail while files are written and data gathered (ZMPI_EMU_FAIL tells
 * which): the data are right, or, where the device cannot even be read any more, the calls say that
 * they failed. Host buffers are never lost.
 *
 * usage: failing host|device right|refused
 */
#include "device_buffer.h"

#include <math.h>

enum { N = 9001 };

static int rank, ranks;
static bool refused; /* must the calls fail? */

static void check_bound(const float *is, const float *should, const char *what)
{
    for (int i = 0; i < N; i++)
        CHECK_SAY(fabs((double)is[i] - (double)should[i]) <= 0.0021, "%s: element %d is %g, not %g",
                  what, i, (double)is[i], (double)should[i]);
}

static void file(const struct buffer *b, const float *data)
{
    MPI_File f;
    float *is = check_alloc(N * sizeof *is);
    OK(MPI_File_open(MPI_COMM_WORLD, "failing.z", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                     &f));
    MPI_Offset at = (MPI_Offset)rank * N * 4;
    int rc = MPI_File_write_at_all(f, at, b->at, N, MPI_FLOAT, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS) {
        OK(MPI_File_read_at(f, at, is, N, MPI_FLOAT, MPI_STATUS_IGNORE));
        check_bound(is, data, "file");
    }
    CHECK_EQUAL(rc != MPI_SUCCESS, refused);
    OK(MPI_File_close(&f));
    free(is);
}

static void gather(const struct buffer *b, const float *data)
{
    float *all = check_alloc((size_t)(N * ranks) * sizeof *all);
    int rc = MPI_Gather(b->at, N, MPI_FLOAT, all, N, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (rank == 0 && rc == MPI_SUCCESS)
        check_bound(all, data, "gather");
    CHECK_EQUAL(rc != MPI_SUCCESS, refused);
    free(all);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    float *data = check_alloc(N * sizeof *data);
    for (int i = 0; i < N; i++)
        data[i] = (float)sin(0.01 * i + rank);
    CHECK(argc == 3);
    refused = strcmp(argv[2], "refused") == 0;
    struct buffer b = buffer_make(N * sizeof *data, strcmp(argv[1], "device") == 0);
    buffer_set(&b, data);
    file(&b, data);
    gather(&b, data);
    MPI_Finalize();
    return 0;
}

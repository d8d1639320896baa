/*
 * failing.c - calls of CUDA fail while files are written and data gathered (ZMPI_EMU_FAIL tells
 * which): what is in the file and what is gathered is what host buffers give, or the call says that
 * it failed, when the device cannot even be read any more. Host buffers are never lost.
 *
 * usage: failing host|device    prints "right" or "refused" for a file and for a gather
 */
#include "device_buffer.h"

#include <math.h>

enum { N = 9001 };

static int rank, ranks;

static void check_bound(const float *is, const float *should, const char *what)
{
    for (int i = 0; i < N; i++)
        CHECK_SAY(fabs((double)is[i] - (double)should[i]) <= 0.001, "%s: element %d is %g, not %g",
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
    CHECK(b->device || rc == MPI_SUCCESS);
    OK(MPI_File_close(&f));
    printf("file %s\n", rc ? "refused" : "right");
    free(is);
}

static void gather(const struct buffer *b, const float *data)
{
    float *all = check_alloc((size_t)(N * ranks) * sizeof *all);
    int rc = MPI_Gather(b->at, N, MPI_FLOAT, all, N, MPI_FLOAT, 0, MPI_COMM_WORLD);
    if (rank == 0 && rc == MPI_SUCCESS)
        check_bound(all, data, "gather");
    CHECK(b->device || rc == MPI_SUCCESS);
    printf("gather %s\n", rc ? "refused" : "right");
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
    bool device = argc > 1 && strcmp(argv[1], "device") == 0;
    struct buffer b = {NULL, N * sizeof *data, device};
    /* A GPU that is broken from the first call on gives no memory: there is nothing to test. */
    if (device && (cudaMalloc(&b.at, b.bytes) != cudaSuccess ||
                   cudaMemcpy(b.at, data, b.bytes, cudaMemcpyHostToDevice) != cudaSuccess)) {
        puts("nothing");
        MPI_Finalize();
        return 0;
    }
    if (!device)
        b.at = data;
    file(&b, data);
    gather(&b, data);
    MPI_Finalize();
    return 0;
}

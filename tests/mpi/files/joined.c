/*
 * joined.c - a file of two containers, one behind the other: who reads it gets the first, and who
 * wants to write gets an error and changes nothing.
 *
 * zmpi-test: RANKS 1,2 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet
 */
#include "check.h"

enum { N = 5000 };

static const char path[] = "joined.z";

static void write_file(const char *name, float first)
{
    float data[N];
    int rank;
    MPI_File f;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        data[i] = first + (float)i;
    OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f));
    OK(MPI_File_write_at_all(f, (MPI_Offset)rank * N * 4, data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
}

static void append(const char *to, const char *from)
{
    char buffer[4096];
    size_t n;
    FILE *in = fopen(from, "rb"), *out = fopen(to, "ab");
    CHECK(in && out);
    while ((n = fread(buffer, 1, sizeof buffer, in)) > 0)
        CHECK(fwrite(buffer, 1, n, out) == n);
    fclose(in);
    CHECK(fclose(out) == 0);
}

int main(int argc, char **argv)
{
    float back[N];
    int rank;
    MPI_File f;
    MPI_Offset size;
    OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    write_file(path, 0.5F);
    write_file("second.z", 9.5F);
    if (rank == 0)
        append(path, "second.z");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    const long long before = check_disk_size(path);

    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    OK(MPI_File_read_at_all(f, (MPI_Offset)rank * N * 4, back, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    CHECK(back[0] == 0.5F && back[N - 1] == 0.5F + (float)(N - 1));
    OK(MPI_File_get_size(f, &size));
    OK(MPI_File_close(&f));

    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &f), MPI_ERR_IO);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY, MPI_INFO_NULL, &f),
                MPI_ERR_IO);
    CHECK_EQUAL(check_disk_size(path), before);
    check_remove(path, MPI_COMM_WORLD);
    check_remove("second.z", MPI_COMM_WORLD);
    OK(MPI_Finalize());
    return 0;
}

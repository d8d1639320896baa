/*
 * unsupported.c - calls that a compressed file does not offer yet: each returns
 * MPI_ERR_UNSUPPORTED_DATAREP through the file's error handler and leaves the file as it is.
 *
 * zmpi-test: RANKS 1,2,3,4 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet
 * zmpi-test: logged RANKS 1 ENV ZMPI_ERROR_BOUND=lossless
 */
#include "check.h"

enum { N = 1000 };

static const char path[] = "unsupported.z";
static int calls;
static int last;

static void handler(MPI_File *file, int *code, ...)
{
    (void)file;
    calls++;
    MPI_Error_class(*code, &last);
}

#define REFUSED(call)                                                                              \
    do {                                                                                           \
        const int before = calls;                                                                  \
        CHECK_CLASS(call, MPI_ERR_UNSUPPORTED_DATAREP);                                            \
        CHECK_EQUAL(calls, before + 1);                                                            \
        CHECK_EQUAL(last, MPI_ERR_UNSUPPORTED_DATAREP);                                            \
    } while (0)

static void refused(MPI_File file)
{
    REFUSED(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
}

/* A plain file beside it has them all, and its own error handler. */
static void plain_file(int *buffer)
{
    MPI_File file;
    MPI_Request request;
    const int before = calls;
    check_say("plain file");
    check_remove("unsupported.h5", MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, "unsupported.h5", MPI_MODE_RDWR | MPI_MODE_CREATE,
                     MPI_INFO_NULL, &file));
    OK(MPI_File_iwrite_at(file, 0, buffer, N, MPI_INT, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    OK(MPI_File_write_at_all_begin(file, 0, buffer, N, MPI_INT));
    OK(MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    CHECK_EQUAL(calls, before);
    CHECK_EQUAL(check_disk_size("unsupported.h5"), N * (long long)sizeof *buffer);
    check_remove("unsupported.h5", MPI_COMM_WORLD);
}

static unsigned char *disk(size_t *size)
{
    int fd = open(path, O_RDONLY);
    *size = (size_t)check_disk_size(path);
    unsigned char *bytes = check_alloc(*size);
    CHECK(fd >= 0 && read(fd, bytes, *size) == (ssize_t)*size);
    close(fd);
    return bytes;
}

int main(int argc, char **argv)
{
    int buffer[N], back[N];
    MPI_File file;
    MPI_Errhandler errhandler;
    size_t size, size_after;
    MPI_Init(&argc, &argv);
    int rank = check_rank(MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        buffer[i] = rank * N + i;
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    MPI_File_create_errhandler(handler, &errhandler);
    OK(MPI_File_set_errhandler(file, errhandler));
    OK(MPI_File_set_view(file, rank * (MPI_Offset)sizeof buffer, MPI_INT, MPI_INT, "native",
                         MPI_INFO_NULL));
    OK(MPI_File_write_all(file, buffer, N, MPI_INT, MPI_STATUS_IGNORE));
    check_sync(file, MPI_COMM_WORLD);
    CHECK(check_is_container(path));
    unsigned char *before = disk(&size);
    MPI_Barrier(MPI_COMM_WORLD);

    memset(back, 0x55, sizeof back);
    refused(file);
    for (int i = 0; i < N; i++)
        CHECK_EQUAL(back[i], 0x55555555);
    MPI_Offset position;
    OK(MPI_File_get_position(file, &position));
    CHECK_EQUAL(position, N);
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned char *after = disk(&size_after);
    CHECK_EQUAL(size_after, size);
    CHECK_BYTES(after, before, size);
    OK(MPI_File_read_at(file, 0, back, N, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_BYTES(back, buffer, sizeof back);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_close(&file));
    MPI_Errhandler_free(&errhandler);

    plain_file(buffer);
    free(before);
    free(after);
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

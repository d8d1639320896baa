/*
 * other_writers.c - programs that write a file by MPI-IO and by other means: what they have open
 * while they open it through MPI-IO stays plain, and nobody reads numbers from a container of which
 * the first bytes were written over, or never reached the disk. What a program without zmpi wrote
 * over a container, beyond any header, is read as the plain file that it is.
 *
 * zmpi-test: RANKS 1,3 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_REPORT_TEXT=off
 */
#include "check.h"

enum { N = 5000 };

static int rank, ranks;
static float data[N], back[N];

static MPI_File open_file(const char *path, int mode)
{
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
    return file;
}

static MPI_Offset place(size_t head)
{
    return (MPI_Offset)head + rank * (MPI_Offset)sizeof data;
}

static void write_body(const char *path, size_t head)
{
    MPI_File file = open_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    OK(MPI_File_write_at_all(file, place(head), data, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
}

static void check_body(const char *path, size_t head)
{
    MPI_File file = open_file(path, MPI_MODE_RDONLY);
    OK(MPI_File_read_at_all(file, place(head), back, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    CHECK_BYTES(back, data, sizeof data);
    OK(MPI_File_close(&file));
}

/* The last rank's header is in its buffer until it closes the file. */
static void header_first(const char *mode, bool container)
{
    static const char path[] = "other_writers.out", header[] = "header of a Fortran file";
    char got[sizeof header];
    FILE *file = NULL;
    check_say("%s", mode);
    if (rank == ranks - 1) {
        fclose(fopen(path, "w"));
        file = fopen(path, mode);
        CHECK(file != NULL);
        if (!container)
            CHECK(fwrite(header, 1, sizeof header, file) == sizeof header);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    write_body(path, sizeof header);
    if (file)
        CHECK(fclose(file) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(check_is_container(path) == container);
    check_body(path, sizeof header);
    if (file && !container) {
        file = fopen(path, "r");
        CHECK(file && fread(got, 1, sizeof got, file) == sizeof got);
        CHECK_BYTES(got, header, sizeof got);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A header of `size` bytes that is written over a container. */
static void header_last(size_t size)
{
    static const char path[] = "other_writers.z", header[2000] = "header";
    check_say("%zu bytes", size);
    write_body(path, size);
    check_body(path, size);
    if (rank == 0) {
        FILE *file = fopen(path, "r+");
        CHECK(file && fwrite(header, 1, size, file) == size && fclose(file) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int write = 0; write < 2; write++) {
        MPI_File file;
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, write ? MPI_MODE_RDWR : MPI_MODE_RDONLY,
                                  MPI_INFO_NULL, &file),
                    MPI_ERR_IO);
    }
    if (rank == 0)
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The machine stopped while the file was written, and its first page never reached the disk. */
static void page_lost(void)
{
    static const char path[] = "other_writers.z", left[] = "left.z";
    static float noise[N];
    check_say("lost page");
    MPI_File file = open_file(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (uint64_t i = 0; i < N; i++)
        noise[i] = (float)(check_mix(i, (uint64_t)rank) >> 40);
    for (int i = 0; i < 3; i++)
        OK(MPI_File_write_at_all(file, (MPI_Offset)i * ranks * (MPI_Offset)sizeof noise + place(0),
                                 noise, N, MPI_FLOAT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        const size_t page = 4096, size = (size_t)check_disk_size(path);
        unsigned char *bytes = check_alloc(size);
        FILE *in = fopen(path, "r"), *out = fopen(left, "w");
        CHECK(in && out && fread(bytes, 1, size, in) == size);
        memset(bytes, 0, page);
        CHECK(fwrite(bytes, 1, size, out) == size && fclose(out) == 0);
        fclose(in);
        free(bytes);
    }
    OK(MPI_File_close(&file));
    for (int write = 0; write < 2; write++)
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, left, write ? MPI_MODE_RDWR : MPI_MODE_RDONLY,
                                  MPI_INFO_NULL, &file),
                    MPI_ERR_IO);
    MPI_Barrier(MPI_COMM_WORLD);
    check_remove(path, MPI_COMM_WORLD);
    check_remove(left, MPI_COMM_WORLD);
}

/* A program without zmpi wrote `size` bytes over a container of noise. */
static void plain_last(size_t size, bool is_plain, size_t head)
{
    enum { WIDE = 60000, CALLS = 4 };
    static const char path[] = "other_writers.z";
    static float noise[WIDE], other[WIDE];
    check_say("%zu bytes over one that begins at %zu", size, head);
    for (uint64_t i = 0; i < WIDE; i++) {
        noise[i] = (float)(check_mix(i, (uint64_t)rank) >> 40);
        other[i] = (float)i;
    }
    MPI_File file = open_file(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (int i = 0; i < CALLS; i++)
        OK(MPI_File_write_at_all(file,
                                 (MPI_Offset)head + (i * ranks + rank) * (MPI_Offset)sizeof noise,
                                 noise, WIDE, MPI_FLOAT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    if (rank == 0) {
        FILE *over = fopen(path, "r+");
        CHECK(over && fwrite(other, 1, size, over) == size && fclose(over) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int write = 0; write < 2; write++) {
        const int mode = write ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
        if (!is_plain) {
            CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file),
                        MPI_ERR_IO);
            continue;
        }
        file = open_file(path, mode);
        memset(noise, 0, sizeof noise);
        OK(MPI_File_read_at_all(file, 0, noise, (int)(size / sizeof *noise), MPI_FLOAT,
                                MPI_STATUS_IGNORE));
        CHECK_BYTES(noise, other, size);
        OK(MPI_File_close(&file));
    }
    check_remove(path, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < N; i++)
        data[i] = (float)(rank * N + i);
    check_remove("other_writers.z", MPI_COMM_WORLD); /* of a run that failed */
    header_first("r+", false);
    header_first("r", true);
    header_last(100);
    header_last(400);
    header_last(2000);
    page_lost();
    plain_last(240000, true, 0);       /* the first record's head and more */
    plain_last(240000, false, 240000); /* it may be the header of the container's data */
    plain_last(60000, false, 0);       /* no more than a header has */
    OK(MPI_Finalize());
}

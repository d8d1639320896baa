/*
 * list_damage.c - a megabyte is synchronised, then single values are written at its begin, within
 * and at its end: one record with a list over all of it. Whatever byte of that record is damaged,
 * the rest of the megabyte is read.
 *
 * With an argument it only writes that file, for tests/cli/damage/list_damage.py.
 *
 * zmpi-test: RANKS 1 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet
 */
#include "check.h"

enum { N = 131072, HEAD = 64, VALUES = 3 };

static const int place[VALUES] = {0, 10000, N - 1};

static double value_of(int i)
{
    return 1.5 * i;
}

static double later(int i)
{
    return -7.25 - i;
}

static void write_file(const char *path)
{
    double *data = check_alloc(N * sizeof *data);
    MPI_File f;
    for (int i = 0; i < N; i++)
        data[i] = value_of(i);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
    OK(MPI_File_write_at_all(f, 0, data, N, MPI_DOUBLE, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(f));
    for (int i = 0; i < VALUES; i++) {
        const double v = later(place[i]);
        OK(MPI_File_write_at(f, (MPI_Offset)place[i] * 8, &v, 1, MPI_DOUBLE, MPI_STATUS_IGNORE));
    }
    OK(MPI_File_close(&f));
    free(data);
}

/* The whole file. */
static unsigned char *load(const char *path, size_t *size)
{
    unsigned char *bytes;
    FILE *f = fopen(path, "rb");
    CHECK(f);
    *size = (size_t)check_disk_size(path);
    bytes = check_alloc(*size);
    CHECK(fread(bytes, 1, *size, f) == *size);
    fclose(f);
    return bytes;
}

static void flip(const char *path, long at)
{
    unsigned char byte;
    FILE *f = fopen(path, "r+b");
    CHECK(f);
    CHECK(fseek(f, at, SEEK_SET) == 0 && fread(&byte, 1, 1, f) == 1);
    byte ^= 1;
    CHECK(fseek(f, at, SEEK_SET) == 0 && fwrite(&byte, 1, 1, f) == 1);
    CHECK(fclose(f) == 0);
}

/* The record with the list. */
static long find_list(const unsigned char *bytes, size_t size)
{
    for (size_t at = 512; at + HEAD <= size; at += 8)
        if (memcmp(bytes + at, "ZREC", 4) == 0 && bytes[at + 6] == 0xff && bytes[at + 7] == 0xff)
            return (long)at;
    CHECK(!"no record with a list");
    return 0;
}

static long word(const unsigned char *bytes)
{
    return (long)bytes[0] | (long)bytes[1] << 8 | (long)bytes[2] << 16 | (long)bytes[3] << 24;
}

/* lost: the three values may be refused; all others are right. Returns how many were. */
static int check_reads(const char *path, bool lost)
{
    MPI_File f;
    int refused = 0;
    double *data = check_alloc(N * sizeof *data), v;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
    for (int i = 0; i < VALUES; i++) {
        const MPI_Offset at = (MPI_Offset)place[i] * 8;
        const int rc = MPI_File_read_at(f, at, &v, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
        CHECK(rc == MPI_SUCCESS ? v == later(place[i]) : lost); // NOLINT: exact on purpose
        refused += rc != MPI_SUCCESS;
    }
    for (int i = 0; i + 1 < VALUES; i++) { /* between them */
        const int first = place[i] + 1, n = place[i + 1] - first;
        OK(MPI_File_read_at(f, (MPI_Offset)first * 8, data, n, MPI_DOUBLE, MPI_STATUS_IGNORE));
        for (int k = 0; k < n; k++)
            CHECK(data[k] == value_of(first + k)); // NOLINT: exact on purpose
    }
    OK(MPI_File_close(&f));
    free(data);
    return refused;
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    const char *path = argc > 1 ? argv[1] : "list_damage.z";
    write_file(path);
    if (argc == 1) {
        size_t size;
        unsigned char *bytes = load(path, &size);
        const long at = find_list(bytes, size);
        const long head = HEAD + (word(bytes + at + 48) + 7) / 8 * 8;
        const long record = head + (word(bytes + at + 40) + 7) / 8 * 8;
        CHECK_EQUAL(check_reads(path, false), 0);
        for (long i = 0; i < record + head; i++) {
            check_say("byte %ld of the record at %ld", i, at);
            flip(path, at + i);
            const int refused = check_reads(path, i >= head && i < record);
            CHECK(refused == 0 || refused == VALUES);
            flip(path, at + i);
        }
        check_say("the record, but for the copy");
        for (long i = 0; i < record; i++)
            flip(path, at + i);
        CHECK_EQUAL(check_reads(path, true), VALUES);
        free(bytes);
    }
    OK(MPI_Finalize());
    return 0;
}

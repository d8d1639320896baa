/*
 * overhead.c - exact files of noise are hardly larger than plain ones, however they are written: at
 * most 1 % and 64 KiB.
 *
 * zmpi-test: RANKS 1,2,4 ENV ZMPI_ERROR_BOUND=lossless ZMPI_STAGING=1M
 */
#include "check.h"

#include <string.h>

static const char path[] = "overhead.z";
static int rank, ranks;

/* What is written at a place depends on nothing else. */
static void fill(unsigned char *data, MPI_Offset from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (unsigned char)(check_mix(7, (uint64_t)from + i) >> 56);
}

static void put(MPI_File file, MPI_Offset at, size_t size, bool together)
{
    unsigned char data[1 << 20];
    fill(data, at, size);
    OK((together ? MPI_File_write_at_all : MPI_File_write_at)(file, at, data, (int)size, MPI_BYTE,
                                                              MPI_STATUS_IGNORE));
}

static void get(MPI_File file, MPI_Offset at, size_t size)
{
    unsigned char data[1 << 20], got[1 << 20];
    fill(data, at, size);
    OK(MPI_File_read_at(file, at, got, (int)size, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_BYTES(got, data, size);
}

/* ---- ways to write ---- */

static void large(MPI_File file)
{
    for (int k = 0; k < 9; k++)
        put(file, ((MPI_Offset)k * ranks + rank) * 300000, 300000, false);
}

static void rank_0_alone(MPI_File file)
{
    for (int k = 0; k < 12 && rank == 0; k++)
        put(file, (MPI_Offset)k * 300000, 300000, false);
}

static void tiny(MPI_File file)
{
    for (int k = 0; k < 20000; k++)
        put(file, (MPI_Offset)(rank * 20000 + k) * 8, 8, false);
}

static void interleaved(MPI_File file)
{
    for (int k = 0; k < 20000; k++)
        put(file, (MPI_Offset)(k * ranks + rank) * 24, 24, false);
}

static void shuffled(MPI_File file)
{
    for (int k = 0; k < 10000; k++)
        put(file, (MPI_Offset)(k * 7919 % 10000 * ranks + rank) * 300, 300, false);
}

/* Single bytes and short runs, with holes between. */
static void scattered(MPI_File file)
{
    MPI_Offset at = (MPI_Offset)rank * 400000;
    for (int k = 0; k < 20000; k++) {
        size_t length = check_mix(1, (uint64_t)k) % 9 + 1;
        put(file, at, length, false);
        at += (MPI_Offset)(length + check_mix(2, (uint64_t)k) % 9);
    }
}

static void read_at_once(MPI_File file)
{
    for (int k = 0; k < 3000; k++) {
        put(file, (MPI_Offset)(rank * 3000 + k) * 16, 16, false);
        get(file, (MPI_Offset)(rank * 3000 + k / 2) * 16, 16);
    }
}

static void overwritten(MPI_File file)
{
    for (int k = 0; k < 5000; k++) {
        put(file, (MPI_Offset)rank * 600 + k % 7 * 50, 57 + (size_t)k % 40, false);
        put(file, (MPI_Offset)rank * 600, 8, false);
    }
}

static void together(MPI_File file)
{
    for (int k = 0; k < 500; k++)
        put(file, (MPI_Offset)(k * ranks + rank) * 40, 40, true);
}

/* ---- */

static void check(const char *name, void (*write)(MPI_File), int amode)
{
    MPI_File file;
    MPI_Offset size;
    check_say("%s", name);
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, amode | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    write(file);
    OK(MPI_File_close(&file));
    CHECK(check_is_container(path));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    OK(MPI_File_get_size(file, &size));
    long long stored = check_disk_size(path);
    CHECK_SAY(stored <= size + size / 100 + 65536, "%lld bytes as %lld", (long long)size, stored);
    unsigned char *got = check_alloc((size_t)size), want;
    OK(MPI_File_read_at_all(file, 0, got, (int)size, MPI_BYTE, MPI_STATUS_IGNORE));
    for (MPI_Offset i = 0; i < size; i++) {
        fill(&want, i, 1);
        CHECK_SAY(got[i] == want || (got[i] == 0 && write == scattered) ||
                      (write == overwritten && i % 600 >= 396),
                  "byte %lld is %d", (long long)i, got[i]);
    }
    free(got);
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    for (int both = 0; both < 2; both++) {
        int amode = both ? MPI_MODE_RDWR : MPI_MODE_WRONLY;
        check("large", large, amode);
        check("rank 0 alone", rank_0_alone, amode);
        check("tiny", tiny, amode);
        check("interleaved", interleaved, amode);
        check("shuffled", shuffled, amode);
        check("scattered", scattered, amode);
        check("overwritten", overwritten, amode);
    }
    check("read at once", read_at_once, MPI_MODE_RDWR);
    check("together", together, MPI_MODE_WRONLY);
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

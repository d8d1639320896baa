/*
 * offload_write.c - ZMPI_NIC_WRITE without a SmartNIC: what the process compresses itself of
 * collective writes to a write-only file is there, whatever independent writes come before the next
 * collective call. And a file that is made empty begins anew.
 *
 * zmpi-test: RANKS 1,2,3 ENV ZMPI_ERROR_BOUND=lossless ZMPI_NIC_WRITE=on ZMPI_DEVICE=cpu ZMPI_STAGING=1M
 */
#include "check.h"

#include <stdlib.h>

enum { TOGETHER = 5 << 20, ALONE = 2 << 20 }; /* bytes of each rank */

static const char path[] = "offload_write.z";
static int rank, ranks;

static MPI_Offset place_of(bool together)
{
    return together ? (MPI_Offset)rank * TOGETHER : (MPI_Offset)ranks * TOGETHER + rank * ALONE;
}

static unsigned char *data_of(uint64_t seed, bool together)
{
    const size_t size = together ? TOGETHER : ALONE;
    unsigned char *data = malloc(size);
    CHECK(data != NULL);
    for (size_t i = 0; i < size; i += 8) {
        const uint64_t x = check_mix(seed, (uint64_t)place_of(together) + i);
        memcpy(data + i, &x, 8);
    }
    return data;
}

static void write_all(MPI_File file, uint64_t seed)
{
    unsigned char *both = data_of(seed, true), *own = data_of(seed, false);
    OK(MPI_File_write_at_all(file, place_of(true), both, TOGETHER, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_write_at(file, place_of(false), own, ALONE, MPI_BYTE, MPI_STATUS_IGNORE));
    free(both);
    free(own);
}

static void read_all(uint64_t seed)
{
    MPI_File file;
    unsigned char *got = malloc(TOGETHER);
    CHECK(got != NULL);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int together = 0; together < 2; together++) {
        const int size = together ? TOGETHER : ALONE;
        unsigned char *data = data_of(seed, together);
        OK(MPI_File_read_at(file, place_of(together), got, size, MPI_BYTE, MPI_STATUS_IGNORE));
        CHECK_BYTES(got, data, (size_t)size);
        free(data);
    }
    OK(MPI_File_close(&file));
    free(got);
}

int main(int argc, char **argv)
{
    MPI_File file;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                     &file));
    write_all(file, 1);
    OK(MPI_File_sync(file));
    read_all(1);
    OK(MPI_File_set_size(file, 0));
    write_all(file, 2);
    OK(MPI_File_close(&file));
    read_all(2);
    OK(MPI_Finalize());
    return 0;
}

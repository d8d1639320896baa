/*
 * rounds.c - writes of several pieces, of which one is written while the next is coded: different
 * numbers of pieces on the ranks, and a failure among them, which the call itself must report.
 *
 * zmpi-test: collective RANKS 1,3 ARGS collective ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet
 * zmpi-test: independent RANKS 1,3 ARGS independent ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_STAGING=4M
 */
#include "check.h"

#include <signal.h>
#include <sys/resource.h>

#define MIB ((size_t)1 << 20)

static const char path[] = "rounds.z";
static bool collective;
static int rank, ranks;

/* Four pieces of a collective call on rank 0, fewer on the others. */
static int words_of(int owner)
{
    return (int)((50 - 14 * (size_t)owner) * MIB / 8);
}

/* Noise: nothing makes it smaller. */
static void fill(uint64_t *data, int owner, int version)
{
    for (int i = 0; i < words_of(owner); i++)
        data[i] = check_mix((uint64_t)(2 * owner + version), (uint64_t)i);
}

static int write_from(MPI_File file, MPI_Offset base, const uint64_t *data)
{
    const MPI_Offset at = base + (MPI_Offset)((size_t)rank * 50 * MIB);
    return collective
               ? MPI_File_write_at_all(file, at, data, words_of(rank), MPI_INT64_T,
                                       MPI_STATUS_IGNORE)
               : MPI_File_write_at(file, at, data, words_of(rank), MPI_INT64_T, MPI_STATUS_IGNORE);
}

/* All ranks' first version is there. */
static void check_first(MPI_File file)
{
    uint64_t *is = check_alloc(50 * MIB), *should = check_alloc(50 * MIB);
    for (int r = 0; r < ranks; r++) {
        check_say("written by rank %d", r);
        fill(should, r, 0);
        OK(MPI_File_read_at_all(file, (MPI_Offset)((size_t)r * 50 * MIB), is, words_of(r),
                                MPI_INT64_T, MPI_STATUS_IGNORE));
        CHECK_BYTES(is, should, (size_t)words_of(r) * sizeof *is);
    }
    free(is);
    free(should);
}

/* The file cannot grow by all that: the call that wrote must say so, on some rank at least. What
 * was written before stays, since this goes behind it. */
static void write_too_much(MPI_File file, uint64_t *data)
{
    struct rlimit limit;
    int worst;
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = (rlim_t)check_disk_size(path) + 20 * MIB;
    MPI_Barrier(MPI_COMM_WORLD);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    fill(data, rank, 1);
    int error = write_from(file, (MPI_Offset)((size_t)ranks * 50 * MIB), data) != MPI_SUCCESS;
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
    MPI_Allreduce(&error, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(worst);
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    collective = argc < 2 || strcmp(argv[1], "collective") == 0;
    uint64_t *data = check_alloc(50 * MIB);
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    fill(data, rank, 0);
    OK(write_from(file, 0, data));
    check_sync(file, MPI_COMM_WORLD);
    check_first(file);
    OK(MPI_File_close(&file));

    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    write_too_much(file, data);
    MPI_File_close(&file);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    check_first(file);
    OK(MPI_File_close(&file));
    free(data);
    check_remove(path, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

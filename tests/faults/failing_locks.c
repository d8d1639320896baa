/*
 * failing_locks.c - one rank's locks cannot be had any more: it gets an error for what it writes by
 * itself, and nothing that was written without one is lost. Places that two ranks take by turns
 * must not be taken by one that does not know whether it is its turn. A lock that is interrupted is
 * tried again. Atomic mode without locks is refused.
 *
 * zmpi-test: RANKS 2,3 ENV ZMPI_ERROR_BOUND=lossless ZMPI_LOG=quiet ZMPI_STAGING=1M ZMPI_REPORT_TEXT=off
 */
#include "../mpi/check.h"

#include <errno.h>

#include "shim.h"

enum { ROUNDS = 60, COUNT = 12000 };

static int rank, ranks;

static void fill(uint64_t *data, int owner, int round)
{
    for (int i = 0; i < COUNT; i++)
        data[i] = check_mix((uint64_t)(owner * ROUNDS + round), (uint64_t)i);
}

static MPI_Offset place(int owner, int round)
{
    return ((MPI_Offset)round * ranks + owner) * COUNT * (MPI_Offset)sizeof(uint64_t);
}

static void check_rounds(const char *path, int owner, const int *written)
{
    uint64_t is[COUNT], should[COUNT];
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    for (int round = 0; round < ROUNDS; round++) {
        if (!written[round])
            continue;
        fill(should, owner, round);
        OK(MPI_File_read_at(file, place(owner, round), is, COUNT, MPI_INT64_T, MPI_STATUS_IGNORE));
        CHECK_BYTES(is, should, sizeof is);
    }
    OK(MPI_File_close(&file));
}

/* What is promised was followed by nothing but successes of all ranks, up to the end. */
static void run(const char *path, int error, bool expected)
{
    const struct fault fault = {path, FAULT_LOCK, FAULT_ERROR, error, 1, error == EINTR ? 40 : 0,
                                0,    NULL};
    static int written[ROUNDS];
    uint64_t data[COUNT];
    MPI_File file;
    int failed = 0, any;
    check_say("%s", strerror(error));
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    if (rank == ranks - 1)
        fault_set(&fault);
    for (int round = 0; round < ROUNDS; round++) {
        fill(data, rank, round);
        int rc = MPI_File_write_at(file, place(rank, round), data, COUNT, MPI_INT64_T,
                                   MPI_STATUS_IGNORE);
        /* The error is that of all that was held back. */
        if (rc)
            memset(written, 0, sizeof written);
        written[round] = !rc;
        failed += rc != MPI_SUCCESS;
    }
    fault_set(NULL);
    /* Every time that what is held back is to go to the file. */
    if (expected && rank == ranks - 1)
        CHECK_SAY(failed > 2, "%d writes failed", failed);
    failed += MPI_File_close(&file) != MPI_SUCCESS;
    MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK_EQUAL(any > 0, expected);
    for (int owner = 0; owner < ranks; owner++) {
        int all[ROUNDS];
        memcpy(all, written, sizeof all);
        MPI_Bcast(all, ROUNDS, MPI_INT, owner, MPI_COMM_WORLD);
        check_rounds(path, owner, all);
    }
}

/* All ranks are told, and go on without. */
static void atomic_mode(const char *path)
{
    const struct fault fault = {path, FAULT_LOCK, FAULT_ERROR, ENOLCK, 1, 0, 0, NULL};
    MPI_File file;
    int atomic = -1, value = rank;
    check_say("atomic mode");
    check_remove(path, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    if (rank == 0)
        fault_set(&fault);
    CHECK(MPI_File_set_atomicity(file, 1) != MPI_SUCCESS);
    fault_set(NULL);
    OK(MPI_File_get_atomicity(file, &atomic));
    CHECK_EQUAL(atomic, 0);
    OK(MPI_File_write_at_all(file, rank * 4, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    run("locks.z", EINTR, false);
    run("locks.z", ENOLCK, true);
    run("locks.z", EIO, true);
    atomic_mode("locks.z");
    check_remove("locks.z", MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

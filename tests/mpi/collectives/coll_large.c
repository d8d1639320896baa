/*
 * coll_large.c - blocks of more than 2^31 bytes, and a rank without memory for messages.
 *
 * zmpi-test: RANKS 2 ANYIO TIMEOUT 400 ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_COLLECTIVES=gather,scatter,allgather,bcast,alltoall ZMPI_COLLECTIVE_MODE=always
 */
#include "check.h"

#include <malloc.h>
#include <math.h>
#include <sys/resource.h>

enum { ROW = 4096, ROWS = 65539 }; /* 2^31 + 98304 bytes */

static int rank, ranks;

static double value(size_t i)
{
    return (double)(i % (3 * ROW)) * 0.5 + (double)(i >> 20);
}

/* What a program sends may be one row again and again. */
static void large_gather(double *all)
{
    MPI_Datatype row, rows;
    double *one = check_alloc(ROW * sizeof *one);
    int n = rank ? ROWS : 0, counts[2] = {0, ROWS}, places[2] = {0, 0};
    MPI_Type_contiguous(ROW, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    MPI_Type_create_hvector(ROWS, 1, 0, row, &rows);
    MPI_Type_commit(&rows);
    for (int i = 0; i < ROW; i++)
        one[i] = sin(i * 0.01);
    check_say("gatherv of %d rows", n);
    if (rank == 0)
        OK(MPI_Gatherv(NULL, 0, row, all, counts, places, row, 0, MPI_COMM_WORLD));
    else
        OK(MPI_Gatherv(one, 1, rows, NULL, NULL, NULL, row, 0, MPI_COMM_WORLD));
    for (size_t i = 0; i < (size_t)ROW * ROWS && rank == 0; i++)
        CHECK_SAY(fabs(all[i] - one[i % ROW]) <= 1e-3, "element %zu is %g", i, all[i]);
    MPI_Type_free(&row);
    MPI_Type_free(&rows);
    free(one);
}

static void large_bcast(double *all)
{
    MPI_Datatype row;
    MPI_Type_contiguous(ROW, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    check_say("bcast of %d rows", ROWS);
    for (size_t i = 0; i < (size_t)ROW * ROWS; i++)
        all[i] = rank ? 0 : value(i);
    OK(MPI_Bcast(all, ROWS, row, 0, MPI_COMM_WORLD));
    for (size_t i = 0; i < (size_t)ROW * ROWS && rank; i++)
        CHECK_SAY(all[i] == value(i), "element %zu is %g", i, all[i]);
    MPI_Type_free(&row);
}

/* One rank may not have more memory than it has: then all send raw, and go on. */
static void no_memory(int poor)
{
    enum { N = 1 << 20 };
    struct rlimit old, now;
    double *mine = check_alloc(N * sizeof *mine);
    double *all = check_alloc((size_t)(N * ranks) * sizeof *all);
    int changed[2] = {0, 0};
    check_say("rank %d without memory", poor);
    for (int i = 0; i < N; i++)
        mine[i] = sin(i * 0.01 + rank);
    getrlimit(RLIMIT_AS, &old);
    for (int k = 0; k < 2; k++) {
        now = (struct rlimit){1 << 20, old.rlim_max};
        memset(all, 0, (size_t)(N * ranks) * sizeof *all);
        CHECK_EQUAL(setrlimit(RLIMIT_AS, rank == poor && k == 0 ? &now : &old), 0);
        OK(MPI_Allgather(mine, N, MPI_DOUBLE, all, N, MPI_DOUBLE, MPI_COMM_WORLD));
        CHECK_EQUAL(setrlimit(RLIMIT_AS, &old), 0);
        for (int i = 0; i < N * ranks; i++) {
            double off = fabs(all[i] - sin(i % N * 0.01 + i / N));
            CHECK_SAY(off <= 1e-3, "element %d is off by %g", i, off);
            changed[k] += off > 1e-12;
        }
    }
    CHECK_EQUAL(changed[0], 0);
    CHECK(changed[1] > N / 2);
    free(mine);
    free(all);
}

int main(int argc, char **argv)
{
#ifdef __SANITIZE_ADDRESS__ /* takes minutes, and has memory of its own that cannot be limited */
    return 77;
#endif
    MPI_Init(&argc, &argv);
    mallopt(M_MMAP_THRESHOLD, 1 << 16); /* what is freed is given back, and not kept for later */
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    double *all = check_alloc((size_t)ROW * ROWS * sizeof *all);
    large_gather(all);
    large_bcast(all);
    free(all);
    for (int r = 0; r < ranks; r++)
        no_memory(r);
    MPI_Finalize();
    return 0;
}

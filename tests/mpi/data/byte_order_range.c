/*
 * byte_order_range.c - numbers in the other byte order, which are sent exactly, are not in the
 * value range that the other ranks' bound is relative to.
 *
 * zmpi-test: RANKS 2,3 ENV ZMPI_ERROR_BOUND=rel=1e-3 ZMPI_COLLECTIVES=allgather ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_PIECE=64K ZMPI_REPORT_TEXT=off
 */
#include <math.h>

#include "check.h"

enum { N = 20000 };

static double data[N];

/* Of the last rank turned around: their exponents are the last bits of mantissas. */
static void fill(int rank, bool swapped)
{
    for (int i = 0; i < N; i++) {
        uint64_t word;
        data[i] = sin((double)(rank * N + i) * 1e-3) + 2;
        memcpy(&word, &data[i], sizeof word);
        word = swapped ? __builtin_bswap64(word) : word;
        memcpy(&data[i], &word, sizeof word);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    double *all = check_alloc((size_t)ranks * sizeof data);
    fill(rank, rank == ranks - 1);
    OK(MPI_Allgather(data, N, MPI_DOUBLE, all, N, MPI_DOUBLE, MPI_COMM_WORLD));
    for (int r = 0; r < ranks; r++) {
        check_say("of rank %d", r);
        fill(r, r == ranks - 1);
        if (r == ranks - 1)
            CHECK_BYTES(all + (size_t)r * N, data, sizeof data);
        for (int i = 0; i < N && r < ranks - 1; i++)
            CHECK(fabs(all[(size_t)r * N + (size_t)i] - data[i]) <= 2e-3);
    }
    free(all);
    MPI_Finalize();
    return 0;
}

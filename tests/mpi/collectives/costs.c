/*
 * costs.c - many gathers of floats, within a bound: tests/cli/costs.sh delays what zmpi sends, or
 * what the MPI library sends, and looks for the line that says that compression costs time. By
 * itself: values are within the bound.
 *
 *     costs [CALLS]
 *
 * zmpi-test: RANKS 2 ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_COLLECTIVE_MIN=1K ZMPI_REPORT_TEXT=off
 */
#include "check.h"

#include <math.h>

enum { N = 20000, MOST_RANKS = 4 };

static float mine[N], got[MOST_RANKS * N];

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int rank = check_rank(MPI_COMM_WORLD), ranks = check_ranks(MPI_COMM_WORLD);
    const int calls = argc > 1 ? atoi(argv[1]) : 3;
    CHECK(ranks <= MOST_RANKS);
    for (int i = 0; i < N; i++)
        mine[i] = sinf((float)i * 1e-3F) + (float)rank;
    for (int k = 0; k < calls; k++)
        OK(MPI_Gather(mine, N, MPI_FLOAT, got, N, MPI_FLOAT, 0, MPI_COMM_WORLD));
    for (int i = 0; rank == 0 && i < ranks * N; i++)
        CHECK(fabsf(got[i] - mine[i % N] - (float)(i / N)) <= 1.01e-3F);
    MPI_Finalize();
    return 0;
}

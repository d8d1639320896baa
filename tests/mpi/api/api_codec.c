/*
 * api_codec.c - ZMPI_CODEC=auto in every collective: right data, whichever encoder it takes, and it
 * takes both. Small blocks often, since the one that seems slower is tried after some hundred
 * calls.
 *
 * zmpi-test: RANKS 2,3 ANYIO ENV ZMPI_ERROR_BOUND=abs=0.01 ZMPI_CODEC=auto ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_MIN=1K ZMPI_COLLECTIVES=gather,scatter,allgather,bcast_lossy,alltoall
 */
#include "check.h"

#include <math.h>
#include <zmpi.h>

enum { N = 4096, MOST_RANKS = 3, CALLS = 3000 };

static float mine[MOST_RANKS * N], got[MOST_RANKS * N];
static int rank, ranks, counts[MOST_RANKS], places[MOST_RANKS];

static float value(int from, int to, int i)
{
    return (float)(3 * from + to + sin((from + 2) * i * 0.01));
}

/* What `from` sends is for all of `to`, unless each gets its own. */
static void fill(bool each)
{
    for (int to = 0; to < ranks; to++)
        for (int i = 0; i < N; i++)
            mine[to * N + i] = value(rank, each ? to : 0, i);
    memset(got, 0, sizeof got);
}

static void check_from(int from, int to, const float *data)
{
    for (int i = 0; i < N; i++)
        CHECK_SAY(fabsf(data[i] - value(from, to, i)) <= 0.01001F, "from %d to %d: value %d is %g",
                  from, to, i, data[i]);
}

static void check_all(bool each)
{
    for (int from = 0; from < ranks; from++)
        check_from(from, each ? rank : 0, got + from * N);
}

/* One call, its data checked. The root is 0. */
static void call(int op, MPI_Comm comm)
{
    const bool each = op == 2 || op == 3 || op >= 7;
    fill(each);
    if (op == 0)
        OK(MPI_Gather(mine, N, MPI_FLOAT, got, N, MPI_FLOAT, 0, comm));
    else if (op == 1)
        OK(MPI_Gatherv(mine, N, MPI_FLOAT, got, counts, places, MPI_FLOAT, 0, comm));
    else if (op == 2)
        OK(MPI_Scatter(mine, N, MPI_FLOAT, got, N, MPI_FLOAT, 0, comm));
    else if (op == 3)
        OK(MPI_Scatterv(mine, counts, places, MPI_FLOAT, got, N, MPI_FLOAT, 0, comm));
    else if (op == 4)
        OK(MPI_Allgather(mine, N, MPI_FLOAT, got, N, MPI_FLOAT, comm));
    else if (op == 5)
        OK(MPI_Allgatherv(mine, N, MPI_FLOAT, got, counts, places, MPI_FLOAT, comm));
    else if (op == 6)
        OK(MPI_Bcast(mine, N, MPI_FLOAT, 0, comm));
    else if (op == 7)
        OK(MPI_Alltoall(mine, N, MPI_FLOAT, got, N, MPI_FLOAT, comm));
    else
        OK(MPI_Alltoallv(mine, counts, places, MPI_FLOAT, got, counts, places, MPI_FLOAT, comm));
    if (op <= 1 && rank == 0)
        check_all(false);
    else if (op == 2 || op == 3)
        check_from(0, rank, got);
    else if (op == 6)
        check_from(0, 0, mine);
    else if (op > 3)
        check_all(each);
}

/* Bytes that all ranks have sent. */
static double sent(MPI_Comm comm)
{
    struct zmpi_comm_stats s = {0};
    double sum;
    zmpi_comm_get_stats(comm, &s); /* there are none yet before the first call */
    sum = (double)s.bytes_sent;
    OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm));
    return sum;
}

/* The same data give the same messages, unless they are coded otherwise. */
static void both_encoders(int op)
{
    MPI_Comm comm;
    double size, first = 0, before;
    int calls = 0;
    check_say("operation %d", op);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    before = sent(comm);
    do {
        call(op, comm);
        size = sent(comm) - before;
        before += size;
        CHECK(size > 0);
        if (calls++ == 0)
            first = size;
    } while (fabs(size - first) < 1 && calls < CALLS);
    CHECK_SAY(calls < CALLS, "one encoder in %d calls", calls);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    CHECK(ranks <= MOST_RANKS);
    for (int i = 0; i < ranks; i++) {
        counts[i] = N;
        places[i] = i * N;
    }
    for (int op = 0; op < 9; op++)
        both_encoders(op);
    MPI_Finalize();
    return 0;
}

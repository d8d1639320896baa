/*
 * coll_nodes.c - among nodes, where `measured` may send raw or by either encoder: right data any
 * way, and all ranks go the same, also after a call that failed on one of them only.
 *
 * zmpi-test: RANKS 2,3 ANYIO PRELOAD damage_nodes TIMEOUT 60 ENV ZMPI_ERROR_BOUND=abs=0.01 ZMPI_CODEC=auto ZMPI_COLLECTIVE_MODE=measured ZMPI_COLLECTIVE_MIN=1K
 */
#define _GNU_SOURCE // RTLD_DEFAULT
#include <dlfcn.h>
#include <math.h>

#include "check.h"

enum { N = 700, MOST_RANKS = 3, CALLS = 100 };

static float mine[N], got[MOST_RANKS * N];
static int rank, ranks;

/* Half as many bytes compressed: raw is worth a trial. */
static float value(int from, int i)
{
    return (float)(1000 * check_unit(1 + (uint64_t)from, (uint64_t)i));
}

/* So many calls; returns how many failed here. */
static int gather(MPI_Comm comm, int calls)
{
    int failed = 0;
    for (int k = 0; k < calls; k++) {
        memset(got, 0x7f, sizeof got);
        failed += MPI_Gather(mine, N, MPI_FLOAT, got, N, MPI_FLOAT, 0, comm) != MPI_SUCCESS;
        for (int i = 0; rank == 0 && i < ranks * N; i++)
            CHECK_SAY(fabsf(got[i] - value(i / N, i % N)) <= 0.01004F, "call %d: value %d is %g", k,
                      i, got[i]);
    }
    return failed;
}

int main(int argc, char **argv)
{
    int (*count_gathers)(bool);
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    *(void **)&count_gathers = dlsym(RTLD_DEFAULT, "count_gathers");
    CHECK(count_gathers);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rank = check_rank(comm);
    ranks = check_ranks(comm);
    CHECK(ranks <= MOST_RANKS);
    for (int i = 0; i < N; i++)
        mine[i] = value(rank, i);

    /* Compressed until a raw one is tried: where it looks slow after some tens of thousands. */
    int calls = 0, failed = 0, raw = count_gathers(rank == 1);
    for (; raw == 0 && calls < 1000 * CALLS; calls++) {
        failed += gather(comm, 1);
        raw = count_gathers(rank == 1);
    }
    CHECK_SAY(calls > 1 && raw > 0, "%d raw of %d calls", raw, calls);
    failed += gather(comm, CALLS);
    CHECK_EQUAL(failed, rank == 1 ? count_gathers(false) : 0);
    count_gathers(false);
    CHECK_EQUAL(gather(comm, 10 * CALLS), 0);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

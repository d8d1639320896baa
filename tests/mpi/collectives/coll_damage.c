/*
 * coll_damage.c - messages that are damaged on their way: MPI_ERR_OTHER where they arrive, nothing
 * of them in the program's memory, and nobody waits for anybody.
 *
 * zmpi-test: RANKS 2,3,4 ANYIO PRELOAD damage_isend ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_COLLECTIVES=gather,scatter,allgather,bcast_lossy,alltoall ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_MIN=1 ZMPI_COLLECTIVE_PIECE=8K ZMPI_LOG=quiet
 */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <math.h>

enum { N = 20000, OPS = 5, GAP = -77 };

static const char *const names[OPS] = {"gather", "scatter", "allgather", "bcast", "alltoall"};
static MPI_Comm comm;
static int rank, ranks;
static float *mine, *all;

static float value(int r, int i)
{
    return (float)r + sinf((float)i * 0.01F);
}

/* Rank 0 is the root. What comes to this rank is in `all`, N from each rank, or from the root. */
static int call(int op)
{
    switch (op) {
    case 0:
        return MPI_Gather(mine, N, MPI_FLOAT, all, N, MPI_FLOAT, 0, comm);
    case 1:
        return MPI_Scatter(mine, N, MPI_FLOAT, all, N, MPI_FLOAT, 0, comm);
    case 2:
        return MPI_Allgather(mine, N, MPI_FLOAT, all, N, MPI_FLOAT, comm);
    case 3:
        return MPI_Bcast(rank ? all : mine, N, MPI_FLOAT, 0, comm);
    default:
        return MPI_Alltoall(mine, N, MPI_FLOAT, all, N, MPI_FLOAT, comm);
    }
}

static bool receives(int op)
{
    return op == 0 ? rank == 0 : op == 3 ? rank > 0 : true;
}

/* Every value is right or was not touched. Returns how many were not. */
static int look(int op)
{
    int missing = 0, blocks = op == 1 || op == 3 ? 1 : ranks;
    if (!receives(op))
        return 0;
    for (int i = 0; i < blocks * N; i++) {
        int from = op == 1 || op == 3 ? 0 : i / N;
        bool right = fabsf(all[i] - value(from, i % N)) <= 1e-3F;
        CHECK_SAY(right || all[i] == GAP, "%g came for %g", all[i], value(from, i % N));
        missing += !right;
    }
    return missing;
}

static void prepare(void)
{
    for (int i = 0; i < N * ranks; i++) {
        mine[i] = value(rank, i % N);
        all[i] = GAP;
    }
}

/* Returns whether there was such a message. */
static bool one(void (*damage)(int, long), int op, int sender, int message, long byte)
{
    int class = MPI_SUCCESS, errors = 0, failed;
    check_say("%s, message %d of rank %d, byte %ld", names[op], message, sender, byte);
    prepare();
    damage(rank == sender ? message : -1, byte);
    int rc = call(op);
    damage(-1, 0);
    if (rc)
        MPI_Error_class(rc, &class);
    CHECK(class == MPI_SUCCESS || class == MPI_ERR_OTHER);
    int missing = look(op);
    CHECK_SAY(!receives(op) || !missing == !rc, "%d values are missing and %d was returned",
              missing, rc);
    failed = rc != 0;
    OK(MPI_Allreduce(&failed, &errors, 1, MPI_INT, MPI_SUM, comm));

    prepare();
    check_say("%s after one that was damaged", names[op]);
    OK(call(op));
    CHECK_EQUAL(look(op), 0);
    return errors > 0;
}

static bool sends(int op, int r)
{
    return op == 0 ? r > 0 : op == 1 || op == 3 ? r == 0 : true;
}

int main(int argc, char **argv)
{
    static const long bytes[10] = {0, 5, 9, 17, 25, 33, 41, 64, 100, -1};
    void (*damage)(int, long);
    MPI_Init(&argc, &argv);
    *(void **)&damage = dlsym(RTLD_DEFAULT, "damage_message");
    CHECK(damage);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rank = check_rank(comm);
    ranks = check_ranks(comm);
    mine = check_alloc((size_t)(N * ranks) * sizeof *mine);
    all = check_alloc((size_t)(N * ranks) * sizeof *all);
    for (int op = 0; op < OPS; op++)
        for (int sender = 0; sender < ranks; sender++)
            for (int k = 0; k < 10 && sends(op, sender); k++)
                if (!sends(op, ranks - 1) || (k + sender) % ranks == 0) /* the others do the rest */
                    CHECK(one(damage, op, sender, k, bytes[k]));
    free(mine);
    free(all);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}

/*
 * coll_special.c - collectives at the edges: MPI_BOTTOM, intercommunicators, communicators of one
 * rank and many short-lived ones, data that are not floats or do not compress, some ranks with
 * nothing, nonblocking forms and reductions beside them, and errors that MPI itself must find.
 *
 * zmpi-test: RANKS 1,2,3,4 ANYIO ARGS sizes ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_COLLECTIVES=gather,scatter,allgather,bcast,alltoall ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_MIN=1 ZMPI_COLLECTIVE_PIECE=4K
 * zmpi-test: auto RANKS 2,3 ANYIO ENV ZMPI_ERROR_BOUND=abs=1e-3 ZMPI_COLLECTIVES=gather,scatter,allgather,bcast,alltoall
 */
#include "check.h"

#include <math.h>

enum { N = 3000 };

static int rank, ranks;

static float value(int r, int i)
{
    return (float)r + sinf((float)i * 0.01F);
}

/* Addresses are in the datatypes; the buffer is MPI_BOTTOM. */
static MPI_Datatype absolute(const float *data, int n)
{
    MPI_Datatype t;
    MPI_Aint at;
    int length = n;
    MPI_Get_address(data, &at);
    MPI_Type_create_hindexed(1, &length, &at, MPI_FLOAT, &t);
    MPI_Type_commit(&t);
    return t;
}

static void bottom(void)
{
    float *mine = check_alloc(N * sizeof *mine);
    float *all = check_alloc((size_t)(N * ranks) * sizeof *all);
    MPI_Datatype from = absolute(mine, N), to = absolute(all, N * ranks);
    check_say("MPI_BOTTOM");
    for (int i = 0; i < N; i++)
        mine[i] = value(rank, i);
    OK(MPI_Allgather(MPI_BOTTOM, 1, from, all, N, MPI_FLOAT, MPI_COMM_WORLD));
    for (int i = 0; i < N * ranks; i++)
        CHECK(fabsf(all[i] - value(i / N, i % N)) <= 1e-3F);
    if (rank == 0)
        for (int i = 0; i < N * ranks; i++)
            all[i] = value(5, i);
    OK(MPI_Bcast(MPI_BOTTOM, 1, to, 0, MPI_COMM_WORLD));
    for (int i = 0; i < N * ranks; i++)
        CHECK(all[i] == value(5, i));
    MPI_Type_free(&from);
    MPI_Type_free(&to);
    free(mine);
    free(all);
}

/* Random bytes do not compress; integers and mixed structs are exact; NaN is kept. */
static void exact_data(void)
{
    static const float special[] = {NAN, INFINITY, -INFINITY, -0.0F, 1e20F, 9.96921e36F};
    uint64_t *random = check_alloc(N * sizeof *random);
    uint64_t *all = check_alloc((size_t)(N * ranks) * sizeof *all);
    float floats[6], *back = check_alloc((size_t)ranks * sizeof floats);
    check_say("exact data");
    for (int root = 0; root < ranks; root++) {
        for (int i = 0; i < N; i++)
            random[i] = check_mix((uint64_t)rank, (uint64_t)i);
        OK(MPI_Gather(random, N, MPI_UINT64_T, all, N, MPI_UINT64_T, root, MPI_COMM_WORLD));
        for (int i = 0; i < N * ranks && rank == root; i++)
            CHECK(all[i] == check_mix((uint64_t)(i / N), (uint64_t)(i % N)));
        memset(random, 0, N * sizeof *random);
        OK(MPI_Scatter(all, 8 * N, MPI_BYTE, random, 8 * N, MPI_BYTE, root, MPI_COMM_WORLD));
        for (int i = 0; i < N; i++)
            CHECK(random[i] == check_mix((uint64_t)rank, (uint64_t)i));
    }
    memcpy(floats, special, sizeof floats);
    OK(MPI_Allgather(floats, 6, MPI_FLOAT, back, 6, MPI_FLOAT, MPI_COMM_WORLD));
    for (int r = 0; r < ranks; r++)
        CHECK_BYTES(back + (size_t)r * 6, special, sizeof special);
    free(random);
    free(all);
    free(back);
}

/* One rank gives noise, one zeros, one a smooth field: each says itself how it is coded. */
static void unlike_ranks(void)
{
    float *mine = check_alloc(8 * N * sizeof *mine);
    float *all = check_alloc((size_t)(8 * N * ranks) * sizeof *all);
    check_say("unlike ranks");
    for (int i = 0; i < 8 * N; i++)
        mine[i] = rank % 3 == 0   ? (float)check_unit(0, (uint64_t)i) * 1e30F
                  : rank % 3 == 1 ? 0
                                  : value(rank, i);
    OK(MPI_Allgather(mine, 8 * N, MPI_FLOAT, all, 8 * N, MPI_FLOAT, MPI_COMM_WORLD));
    for (int i = 0; i < 8 * N * ranks; i++) {
        int r = i / (8 * N), k = i % (8 * N);
        float want = r % 3 == 0   ? (float)check_unit(0, (uint64_t)k) * 1e30F
                     : r % 3 == 1 ? 0
                                  : value(r, k);
        CHECK(fabsf(all[i] - want) <= 1e-3F);
    }
    free(mine);
    free(all);
}

/* Both groups of an intercommunicator: not ours, and must pass. */
static void between_groups(void)
{
    MPI_Comm half, inter;
    int others, mine[N], *all, root = rank % 2 ? 0 : rank ? MPI_PROC_NULL : MPI_ROOT;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &inter);
    MPI_Comm_remote_size(inter, &others);
    all = check_alloc((size_t)(others * N) * sizeof *all);
    check_say("intercommunicator");
    for (int i = 0; i < N; i++)
        mine[i] = rank * N + i;
    OK(MPI_Gather(mine, N, MPI_INT, all, N, MPI_INT, root, inter));
    for (int i = 0; rank == 0 && i < others * N; i++)
        CHECK_EQUAL(all[i], (2 * (i / N) + 1) * N + i % N);
    OK(MPI_Allgather(mine, N, MPI_INT, all, N, MPI_INT, inter));
    for (int i = 0; i < others * N; i++)
        CHECK_EQUAL(all[i], (2 * (i / N) + (rank + 1) % 2) * N + i % N);
    OK(MPI_Bcast(mine, N, MPI_INT, root, inter));
    for (int i = 0; rank % 2 && i < N; i++)
        CHECK_EQUAL(mine[i], i);
    free(all);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* What is cached goes with its communicator: on two ranks, more of them than MPICH has room for at
 * once. */
static void many_communicators(void)
{
    float *mine = check_alloc(N * sizeof *mine);
    float *all = check_alloc((size_t)(N * ranks) * sizeof *all);
    check_say("many communicators");
    for (int i = 0; i < N; i++)
        mine[i] = value(rank, i);
    for (int k = 0; k < (ranks == 2 ? 2100 : 50); k++) {
        MPI_Comm comm;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        OK(MPI_Gather(mine, N, MPI_FLOAT, all, N, MPI_FLOAT, k % ranks, comm));
        for (int i = 0; rank == k % ranks && i < N * ranks; i += 97)
            CHECK(fabsf(all[i] - value(i / N, i % N)) <= 1e-3F);
        OK(MPI_Comm_free(&comm));
    }
    free(mine);
    free(all);
}

/* The program's attributes are its own. */
static void attributes(void)
{
    float mine[N] = {0}, *all = check_alloc((size_t)ranks * sizeof mine);
    int key;
    MPI_Comm comm;
    check_say("attributes");
    OK(MPI_Comm_create_keyval(check_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_attr(comm, key, &key));
    OK(MPI_Gather(mine, N, MPI_FLOAT, all, N, MPI_FLOAT, 0, comm));
    CHECK_EQUAL(check_copied, 0);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free_keyval(&key));
    free(all);
}

/* A collective that is under way beside ours, and point-to-point messages of all tags. */
static void beside_others(void)
{
    float *mine = check_alloc(8 * N * sizeof *mine), sum = 0, one = 1;
    float *all = check_alloc((size_t)(8 * N * ranks) * sizeof *all);
    float *other = check_alloc((size_t)(8 * N * ranks) * sizeof *other);
    MPI_Request request[2];
    MPI_Status status[2];
    int got = -1;
    check_say("beside others");
    for (int i = 0; i < 8 * N; i++)
        mine[i] = value(rank, i);
    OK(MPI_Iallgather(mine, 8 * N, MPI_FLOAT, other, 8 * N, MPI_FLOAT, MPI_COMM_WORLD,
                      &request[0]));
    OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request[1]));
    OK(MPI_Gather(mine, 8 * N, MPI_FLOAT, all, 8 * N, MPI_FLOAT, 0, MPI_COMM_WORLD));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Send(&rank, 1, MPI_INT, (rank + 1) % ranks, 101, MPI_COMM_WORLD));
    OK(MPI_Waitall(2, request, status));
    CHECK_EQUAL(got, (rank + ranks - 1) % ranks);
    CHECK(sum == (float)ranks);
    for (int i = 0; i < 8 * N * ranks; i++) {
        CHECK(other[i] == value(i / (8 * N), i % (8 * N)));
        CHECK(rank || fabsf(all[i] - other[i]) <= 1e-3F);
    }
    free(mine);
    free(all);
    free(other);
}

/* MPI finds these, on all ranks, and says so once. */
static void wrong_arguments(void)
{
    float data[N] = {0}, *all = check_alloc((size_t)(N * ranks) * sizeof *all);
    MPI_Comm comm;
    check_say("wrong arguments");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPI_Gather(data, N, MPI_FLOAT, all, N, MPI_FLOAT, ranks, comm), MPI_ERR_ROOT);
    CHECK_CLASS(MPI_Gather(data, -1, MPI_FLOAT, all, -1, MPI_FLOAT, 0, comm), MPI_ERR_COUNT);
    CHECK_CLASS(MPI_Bcast(data, N, MPI_DATATYPE_NULL, 0, comm), MPI_ERR_TYPE);
    OK(MPI_Bcast(data, N, MPI_FLOAT, 0, comm));
    MPI_Comm_free(&comm);
    free(all);
}

/* ---- one rank sends more, or less, than is asked for ---- */

/* MPICH ends a program whose message is longer than the room for it. */
#ifndef OPEN_MPI
static const bool message_too_long_is_fatal = true;
#else
static const bool message_too_long_is_fatal = false;
#endif

static int class_of(int rc)
{
    int error_class = MPI_SUCCESS;
    MPI_Error_class(rc, &error_class);
    return error_class;
}

/* The last rank gives `sent` where rank 0 wants `wanted` floats: an error there, and nothing behind
 * what it wanted; what the others give is right. */
static void unlike_sizes(MPI_Comm comm, int sent, int wanted)
{
    enum { GAP = -77 };
    float *mine = check_alloc(2 * N * sizeof *mine),
          *all = check_alloc((size_t)(2 * N * ranks) * 4);
    int counts[64], places[64];
    check_say("%d floats for %d", sent, wanted);
    for (int i = 0; i < 2 * N; i++)
        mine[i] = value(rank, i);
    for (int i = 0; i < 2 * N * ranks; i++)
        all[i] = GAP;
    for (int r = 0; r < ranks; r++) {
        counts[r] = r == ranks - 1 ? wanted : N;
        places[r] = r * 2 * N;
    }
    int rc = MPI_Gatherv(mine, rank == ranks - 1 ? sent : N, MPI_FLOAT, all, counts, places,
                         MPI_FLOAT, 0, comm);
    CHECK_EQUAL(class_of(rc), rank            ? MPI_SUCCESS
                              : sent > wanted ? MPI_ERR_TRUNCATE
                                              : MPI_ERR_OTHER);
    for (int i = 0; rank == 0 && i < 2 * N * ranks; i++) {
        const int r = i / (2 * N), k = i % (2 * N);
        const bool right = fabsf(all[i] - value(r, k)) <= 1e-3F;
        CHECK(k < counts[r] ? right || (r == ranks - 1 && all[i] == GAP) : all[i] == GAP);
    }
    free(mine);
    free(all);
}

/* The root has more than the others want: an error on all of these, whoever passes it on. */
static void too_much(MPI_Comm comm, bool all_send)
{
    float mine[20], *all = check_alloc((size_t)ranks * sizeof mine);
    const int wanted = rank ? 10 : 20;
    check_say("%s of too much", all_send ? "allgather" : "broadcast");
    for (int i = 0; i < 20; i++)
        mine[i] = rank ? -1 : value(0, i);
    for (int i = 0; i < 20 * ranks; i++)
        all[i] = -1;
    if (all_send) {
        const int rc = MPI_Allgather(mine, wanted, MPI_FLOAT, all, wanted, MPI_FLOAT, comm);
        CHECK(class_of(rc) == MPI_ERR_TRUNCATE || class_of(rc) == MPI_ERR_OTHER);
        for (int i = wanted * ranks; i < 20 * ranks; i++)
            CHECK(all[i] == -1);
    } else {
        const int rc = MPI_Bcast(mine, wanted, MPI_FLOAT, 0, comm);
        CHECK(rank ? class_of(rc) == MPI_ERR_TRUNCATE || class_of(rc) == MPI_ERR_OTHER : !rc);
        for (int i = 10; i < 20; i++)
            CHECK(mine[i] == (rank ? -1 : value(0, i)));
    }
    free(all);
}

static void all_unlike_sizes(void)
{
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    unlike_sizes(comm, N + 1, N);
    unlike_sizes(comm, 2 * N, N);
    if (!message_too_long_is_fatal) {
        unlike_sizes(comm, 2 * N, 10);
        too_much(comm, false);
        too_much(comm, true);
    }
    unlike_sizes(comm, N - 1, N);
    unlike_sizes(comm, 10, N);
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    rank = check_rank(MPI_COMM_WORLD);
    ranks = check_ranks(MPI_COMM_WORLD);
    bottom();
    exact_data();
    unlike_ranks();
    if (ranks > 1)
        between_groups();
    many_communicators();
    attributes();
    beside_others();
    wrong_arguments();
    if (ranks > 1 && argc > 1)
        all_unlike_sizes();
    MPI_Finalize();
    return 0;
}

/*
 * coll_meet.c - the first collectives on communicators of different ranks, by several threads at
 * once. What is kept of each is made then, with communicators of our own; Open MPI makes one after
 * the other, and which is next is each process's own choice: some never were.
 *
 * zmpi-test: RANKS 3 ANYIO TIMEOUT 120 ENV ZMPI_ERROR_BOUND=lossless ZMPI_COLLECTIVE_MODE=always ZMPI_COLLECTIVE_MIN=1
 */
#include "check.h"

#include <pthread.h>

enum { ROUNDS = 60, CALLS = 6, N = 64 };

static int rank;
static MPI_Comm all, others, pair; /* others: again all, for the second thread */

static void gather(MPI_Comm comm)
{
    int data[N], back[3 * N];
    for (int i = 0; i < N; i++)
        data[i] = rank * N + i;
    for (int k = 0; k < CALLS; k++) {
        OK(MPI_Gather(data, N, MPI_INT, back, N, MPI_INT, 0, comm));
        for (int i = 0; i < N && check_rank(comm) == 0; i++)
            CHECK_EQUAL(back[i], i);
    }
}

static void *second(void *nothing)
{
    (void)nothing;
    gather(others);
    return NULL;
}

/* Ranks 0 and 2 meet on a communicator of two, rank 1 is there before them on that of all. */
int main(int argc, char **argv)
{
    pthread_t thread;
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        return 77;
    rank = check_rank(MPI_COMM_WORLD);
    for (int k = 0; k < ROUNDS; k++) {
        check_say("round %d", k);
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
        MPI_Comm_dup(MPI_COMM_WORLD, &others);
        MPI_Comm_split(MPI_COMM_WORLD, rank == 1, 0, &pair);
        CHECK(pthread_create(&thread, NULL, second, NULL) == 0);
        if (rank != 1)
            gather(pair);
        gather(all);
        pthread_join(thread, NULL);
        MPI_Comm_free(&all);
        MPI_Comm_free(&others);
        MPI_Comm_free(&pair);
    }
    MPI_Finalize();
    return 0;
}

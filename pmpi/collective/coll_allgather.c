/*
 * coll_allgather.c - MPI_Allgather and MPI_Allgatherv, around a ring: each rank's data are
 * compressed once. All ranks end with the same bytes: a rank takes its own data as the others get
 * them.
 */
#include <stdlib.h>

#include "collective/coll.h"
#include "mpi/runtime.h"
#include "wrappers.h"

static bool make_blocks(const struct zcall *c, struct zblock *block, const struct zside *recv)
{
    for (int i = 0; block && i < c->state->ranks; i++)
        zside_block(recv, i, &c->state->options, &block[i]);
    return block;
}

/* send: NULL if in place. */
static bool allgather(struct zcall *c, struct zside *send, struct zside *recv)
{
    int rank = c->state->rank, ranks = c->state->ranks;
    struct zblock *block = calloc((size_t)ranks, sizeof *block), own;
    bool ready = zside_make(recv) && (!send || zside_make(send)) && make_blocks(c, block, recv);
    if (ready && send)
        zside_block(send, 0, &c->state->options, &own);
    else if (ready)
        own = block[rank];
    struct zrelay r = {.block = block,
                       .own = &own,
                       .origins = ranks,
                       .bytes = c->bytes,
                       .from = (rank - 1 + ranks) % ranks,
                       .to = {(rank + 1) % ranks},
                       .to_count = 1};
    bool done = zrelay_run(c, &r, ready);
    free(block);
    zside_free(recv);
    if (send)
        zside_free(send);
    return done;
}

int zw_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct zcall c;
    bool in_place = sendbuf == MPI_IN_PLACE;
    struct zside send = zside_of(sendbuf, sendcount, sendtype);
    struct zside recv = zside_of(recvbuf, recvcount, recvtype);
    uint64_t bytes = zside_bytes(recvcount, recvtype);
    if (zcall_begin(&c, ZOP_ALLGATHER, 0, comm, true, bytes, bytes, in_place ? NULL : &send) &&
        allgather(&c, in_place ? NULL : &send, &recv))
        return zcall_end(&c, MPI_SUCCESS);
    return zcall_end(
        &c, PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

/* The size of the largest block: all ranks know all sizes. */
static uint64_t largest(const int counts[], MPI_Datatype datatype, MPI_Comm comm)
{
    int ranks, most = 0, inter;
    if (!zruntime_agreed() || comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) ||
        inter || PMPI_Comm_size(comm, &ranks))
        return 0;
    for (int i = 0; i < ranks; i++)
        most = counts[i] > most ? counts[i] : most;
    return zside_bytes(most, datatype);
}

int zw_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct zcall c;
    bool in_place = sendbuf == MPI_IN_PLACE;
    struct zside send = zside_of(sendbuf, sendcount, sendtype);
    struct zside recv = zside_of_v(recvbuf, recvcounts, displs, recvtype);
    uint64_t given = in_place ? 0 : zside_bytes(sendcount, sendtype);
    if (zcall_begin(&c, ZOP_ALLGATHERV, 0, comm, true, largest(recvcounts, recvtype, comm), given,
                    in_place ? NULL : &send) &&
        allgather(&c, in_place ? NULL : &send, &recv))
        return zcall_end(&c, MPI_SUCCESS);
    return zcall_end(&c, PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                         recvtype, comm));
}

/*
 * coll_allgather.c - MPI_Allgather and MPI_Allgatherv, around a ring. Each rank's data are
 * compressed once. All ranks end with the same bytes, since a rank takes its own data as the others
 * get them.
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

/* Returns the size of the largest block; all ranks know all sizes. */
static uint64_t largest(const struct zside *recv, MPI_Comm comm)
{
    int ranks, inter;
    MPI_Count most = 0;
    if (!zruntime_agreed() || comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) ||
        inter || PMPI_Comm_size(comm, &ranks))
        return 0;
    for (int i = 0; i < ranks; i++)
        most = zside_count(recv, i) > most ? zside_count(recv, i) : most;
    return zside_bytes(most, recv->datatype);
}

bool zc_allgather(struct zcall *c, struct zside *send, struct zside *recv, int root, MPI_Comm comm)
{
    struct zside *sent = send->buf == MPI_IN_PLACE ? NULL : send;
    const uint64_t bytes = zside_bytes(recv->count, recv->datatype);
    return zcall_begin(c, ZOP_ALLGATHER, root, comm, true, bytes, bytes, sent) &&
           allgather(c, sent, recv);
}

bool zc_allgatherv(struct zcall *c, struct zside *send, struct zside *recv, int root, MPI_Comm comm)
{
    struct zside *sent = send->buf == MPI_IN_PLACE ? NULL : send;
    const uint64_t given = sent ? zside_bytes(sent->count, sent->datatype) : 0;
    return zcall_begin(c, ZOP_ALLGATHERV, root, comm, true, largest(recv, comm), given, sent) &&
           allgather(c, sent, recv);
}

/*
 * coll_gather.c - MPI_Gather and MPI_Gatherv (CEAZ 2.3, 3.3).
 *
 * Receive arguments count only on the root (MPI 3.1, 5.5). If the root sends in place, they also
 * describe what it sends.
 */
#include "collective/coll.h"
#include "wrappers.h"

/* A root that sends in place sends what it would receive from itself. */
static bool gather(struct zcall *c, enum zop op, struct zside *send, struct zside *recv, int root,
                   MPI_Comm comm, uint64_t bytes, uint64_t given)
{
    struct zside *sent = send->buf == MPI_IN_PLACE ? NULL : send;
    return zcall_begin(c, op, root, comm, op == ZOP_GATHER, bytes, given, sent) &&
           zlanes_run(c, sent, c->state->rank == root ? recv : NULL);
}

bool zc_gather(struct zcall *c, struct zside *send, struct zside *recv, int root, MPI_Comm comm)
{
    const struct zside *known = send->buf == MPI_IN_PLACE ? recv : send;
    const uint64_t bytes = zside_bytes(known->count, known->datatype);
    return gather(c, ZOP_GATHER, send, recv, root, comm, bytes, bytes);
}

bool zc_gatherv(struct zcall *c, struct zside *send, struct zside *recv, int root, MPI_Comm comm)
{
    const bool in_place = send->buf == MPI_IN_PLACE;
    const uint64_t given = in_place ? 0 : zside_bytes(send->count, send->datatype);
    return gather(c, ZOP_GATHERV, send, recv, root, comm, 0, given);
}

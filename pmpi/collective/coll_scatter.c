/*
 * coll_scatter.c - MPI_Scatter and MPI_Scatterv. Only a root's send arguments mean anything; if it
 * receives in place, its block stays where it is.
 */
#include "collective/coll.h"
#include "wrappers.h"

static bool scatter(struct zcall *c, enum zop op, struct zside *send, struct zside *recv, int root,
                    MPI_Comm comm, uint64_t bytes, uint64_t given)
{
    struct zside *received = recv->buf == MPI_IN_PLACE ? NULL : recv;
    return zcall_begin(c, op, root, comm, op == ZOP_SCATTER, bytes, given, send) &&
           zlanes_run(c, c->state->rank == root ? send : NULL, received);
}

bool zc_scatter(struct zcall *c, struct zside *send, struct zside *recv, int root, MPI_Comm comm)
{
    const struct zside *known = recv->buf == MPI_IN_PLACE ? send : recv;
    const uint64_t bytes = zside_bytes(known->count, known->datatype);
    return scatter(c, ZOP_SCATTER, send, recv, root, comm, bytes, bytes);
}

bool zc_scatterv(struct zcall *c, struct zside *send, struct zside *recv, int root, MPI_Comm comm)
{
    const bool in_place = recv->buf == MPI_IN_PLACE;
    const uint64_t given = in_place ? 0 : zside_bytes(recv->count, recv->datatype);
    return scatter(c, ZOP_SCATTERV, send, recv, root, comm, 0, given);
}

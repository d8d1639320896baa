/* coll_alltoall.c - MPI_Alltoall and MPI_Alltoallv. In place, the receive arguments say what is
 * sent. */
#include "collective/coll.h"
#include "wrappers.h"

static bool alltoall(struct zcall *c, enum zop op, struct zside *send, struct zside *recv,
                     MPI_Comm comm, uint64_t bytes)
{
    const bool in_place = send->buf == MPI_IN_PLACE;
    return zcall_begin(c, op, 0, comm, op == ZOP_ALLTOALL, bytes, bytes, in_place ? recv : send) &&
           zlanes_run(c, in_place ? NULL : send, recv);
}

bool zc_alltoall(struct zcall *c, struct zside *send, struct zside *recv, int root, MPI_Comm comm)
{
    (void)root;
    const struct zside *known = send->buf == MPI_IN_PLACE ? recv : send;
    return alltoall(c, ZOP_ALLTOALL, send, recv, comm, zside_bytes(known->count, known->datatype));
}

bool zc_alltoallv(struct zcall *c, struct zside *send, struct zside *recv, int root, MPI_Comm comm)
{
    (void)root;
    return alltoall(c, ZOP_ALLTOALLV, send, recv, comm, 0);
}

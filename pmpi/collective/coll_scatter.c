/*
 * coll_scatter.c - MPI_Scatter and MPI_Scatterv. Only a root's send arguments mean anything; it may
 * receive in place, which leaves its block where it is.
 */
#include "collective/coll.h"
#include "wrappers.h"

int zw_scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct zcall c;
    bool in_place = recvbuf == MPI_IN_PLACE;
    struct zside send = zside_of(sendbuf, sendcount, sendtype);
    struct zside recv = zside_of(recvbuf, recvcount, recvtype);
    uint64_t bytes = in_place ? zside_bytes(sendcount, sendtype) : zside_bytes(recvcount, recvtype);
    if (zcall_begin(&c, ZOP_SCATTER, root, comm, true, bytes, bytes, &send) &&
        zlanes_run(&c, c.state->rank == root ? &send : NULL, in_place ? NULL : &recv))
        return zcall_end(&c, MPI_SUCCESS);
    return zcall_end(
        &c, PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

int zw_scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                int root, MPI_Comm comm)
{
    struct zcall c;
    bool in_place = recvbuf == MPI_IN_PLACE;
    struct zside send = zside_of_v(sendbuf, sendcounts, displs, sendtype);
    struct zside recv = zside_of(recvbuf, recvcount, recvtype);
    uint64_t given = in_place ? 0 : zside_bytes(recvcount, recvtype);
    if (zcall_begin(&c, ZOP_SCATTERV, root, comm, false, 0, given, &send) &&
        zlanes_run(&c, c.state->rank == root ? &send : NULL, in_place ? NULL : &recv))
        return zcall_end(&c, MPI_SUCCESS);
    return zcall_end(&c, PMPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                                       recvtype, root, comm));
}

/*
 * coll_gather.c - MPI_Gather and MPI_Gatherv (CEAZ 2.3, 3.3).
 *
 * The root may send in place: its receive arguments say the same then. Otherwise only a root's
 * receive arguments mean anything (MPI 3.1, 5.5).
 */
#include "collective/coll.h"
#include "wrappers.h"

int zw_gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
              int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct zcall c;
    bool in_place = sendbuf == MPI_IN_PLACE;
    struct zside send = zside_of(sendbuf, sendcount, sendtype);
    struct zside recv = zside_of(recvbuf, recvcount, recvtype);
    uint64_t bytes = in_place ? zside_bytes(recvcount, recvtype) : zside_bytes(sendcount, sendtype);
    if (zcall_begin(&c, ZOP_GATHER, root, comm, true, bytes, bytes, in_place ? NULL : &send) &&
        zlanes_run(&c, in_place ? NULL : &send, c.state->rank == root ? &recv : NULL))
        return zcall_end(&c, MPI_SUCCESS);
    return zcall_end(
        &c, PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

int zw_gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
               MPI_Comm comm)
{
    struct zcall c;
    bool in_place = sendbuf == MPI_IN_PLACE;
    struct zside send = zside_of(sendbuf, sendcount, sendtype);
    struct zside recv = zside_of_v(recvbuf, recvcounts, displs, recvtype);
    uint64_t given = in_place ? 0 : zside_bytes(sendcount, sendtype);
    if (zcall_begin(&c, ZOP_GATHERV, root, comm, false, 0, given, in_place ? NULL : &send) &&
        zlanes_run(&c, in_place ? NULL : &send, c.state->rank == root ? &recv : NULL))
        return zcall_end(&c, MPI_SUCCESS);
    return zcall_end(&c, PMPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                      recvtype, root, comm));
}

/* coll_alltoall.c - MPI_Alltoall and MPI_Alltoallv. In place, the receive arguments say what is
 * sent. */
#include "collective/coll.h"
#include "wrappers.h"

int zw_alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct zcall c;
    bool in_place = sendbuf == MPI_IN_PLACE;
    struct zside send = zside_of(sendbuf, sendcount, sendtype);
    struct zside recv = zside_of(recvbuf, recvcount, recvtype);
    uint64_t bytes = in_place ? zside_bytes(recvcount, recvtype) : zside_bytes(sendcount, sendtype);
    if (zcall_begin(&c, ZOP_ALLTOALL, 0, comm, true, bytes, bytes, in_place ? &recv : &send) &&
        zlanes_run(&c, in_place ? NULL : &send, &recv))
        return zcall_end(&c, MPI_SUCCESS);
    return zcall_end(
        &c, PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

int zw_alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                 MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[],
                 MPI_Datatype recvtype, MPI_Comm comm)
{
    struct zcall c;
    bool in_place = sendbuf == MPI_IN_PLACE;
    struct zside send = zside_of_v(sendbuf, sendcounts, sdispls, sendtype);
    struct zside recv = zside_of_v(recvbuf, recvcounts, rdispls, recvtype);
    if (zcall_begin(&c, ZOP_ALLTOALLV, 0, comm, false, 0, 0, in_place ? &recv : &send) &&
        zlanes_run(&c, in_place ? NULL : &send, &recv))
        return zcall_end(&c, MPI_SUCCESS);
    return zcall_end(&c, PMPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                        rdispls, recvtype, comm));
}

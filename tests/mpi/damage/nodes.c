/*
 * nodes.c - stands between libzmpi and MPI: every rank is on a node of its own, and MPI_Gather may
 * fail on one of them: a library that coll_nodes.c is run with.
 */
#include <mpi.h>
#include <stdbool.h>

__attribute__((visibility("default"))) int count_gathers(bool then_fail);

static bool fail;
static int gathers;

/* Those that came here so far; whether the next ones say that they failed. */
int count_gathers(bool then_fail)
{
    fail = then_fail;
    return gathers;
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made)
{
    int rank;
    (void)type, (void)info;
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Comm_split(comm, rank, key, made);
}

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    int rc = PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    gathers++;
    return fail ? MPI_ERR_OTHER : rc;
}

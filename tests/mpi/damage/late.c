/*
 * late.c - stands between libzmpi and MPI, and makes messages or whole collectives late, as much as
 * ZMPI_TEST_LATE says: a library that same.c and costs.c are run with. 0: nothing; odd: large
 * messages, which is what zmpi sends; even: the MPI library's own collectives. From 1000 on:
 * messages by so many microseconds, and collectives by those of ZMPI_TEST_LATE_RAW.
 */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGE = 200, EACH = 1000, MOST = 3000 /* microseconds */ };

static unsigned number(const char *name)
{
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

static void wait_for(unsigned odd)
{
    static _Thread_local unsigned state;
    static _Thread_local int rank = -1;
    const unsigned seed = number("ZMPI_TEST_LATE");
    if (seed >= EACH)
        usleep(odd ? seed : number("ZMPI_TEST_LATE_RAW"));
    if (!seed || seed >= EACH || seed % 2 != odd)
        return;
    if (rank < 0) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        state = 1000003 * seed + 7919 * (unsigned)rank;
    }
    state = 1664525 * state + 1013904223;
    usleep((state >> 8) % MOST);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (count > LARGE)
        wait_for(1);
    return PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
}

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    wait_for(0);
    return PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    wait_for(0);
    return PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    wait_for(0);
    return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    wait_for(0);
    return PMPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    wait_for(0);
    return PMPI_Bcast(buffer, count, datatype, root, comm);
}

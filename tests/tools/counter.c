/* counter.c - a profiling tool as the MPI standard means it (3.1, 14.2): counts what passes and
 * hands it to PMPI. Built twice, to stand in front of libzmpi.so and behind it. */
#include <mpi.h>
#include <string.h>

#define PASTE(a, b)      a##b
#define PASTE_NAME(a, b) PASTE(a, b)

enum { OPEN, CLOSE, WRITE_AT, WRITE_AT_ALL, READ_AT_ALL, GATHER, ALLREDUCE, COUNTED };
static const char *const name[COUNTED] = {
    "MPI_File_open",        "MPI_File_close", "MPI_File_write_at", "MPI_File_write_at_all",
    "MPI_File_read_at_all", "MPI_Gather",     "MPI_Allreduce"};
static int count[COUNTED];

/* TOOL_count(function): how often it was called. */
int PASTE_NAME(TOOL, _count)(const char *function);
int PASTE_NAME(TOOL, _count)(const char *function)
{
    for (int i = 0; i < COUNTED; i++)
        if (strcmp(name[i], function) == 0)
            return count[i];
    return -1;
}

/* Some end with the call, which compilers make a jump; some look at the result. */
int MPI_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
    int rc = PMPI_File_open(comm, filename, amode, info, fh);
    count[OPEN] += rc == MPI_SUCCESS;
    return rc;
}

int MPI_File_close(MPI_File *fh)
{
    count[CLOSE]++;
    return PMPI_File_close(fh);
}

int MPI_File_write_at(MPI_File fh, MPI_Offset offset, const void *buf, int n, MPI_Datatype datatype,
                      MPI_Status *status)
{
    count[WRITE_AT]++;
    return PMPI_File_write_at(fh, offset, buf, n, datatype, status);
}

int MPI_File_write_at_all(MPI_File fh, MPI_Offset offset, const void *buf, int n,
                          MPI_Datatype datatype, MPI_Status *status)
{
    int rc = PMPI_File_write_at_all(fh, offset, buf, n, datatype, status);
    count[WRITE_AT_ALL] += rc == MPI_SUCCESS;
    return rc;
}

int MPI_File_read_at_all(MPI_File fh, MPI_Offset offset, void *buf, int n, MPI_Datatype datatype,
                         MPI_Status *status)
{
    count[READ_AT_ALL]++;
    return PMPI_File_read_at_all(fh, offset, buf, n, datatype, status);
}

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    count[GATHER]++;
    return PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int n, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm)
{
    count[ALLREDUCE]++;
    return PMPI_Allreduce(sendbuf, recvbuf, n, datatype, op, comm);
}

/*
 * isend.c - stands between libzmpi and MPI, and damages a message after its checksum was made: a
 * library that coll_damage.c is run with.
 */
#include <mpi.h>

/* The message after `skip` others is damaged at this byte, counted from the end if it is negative.
 */
static int skip = -1;
static long where;

__attribute__((visibility("default"))) void damage_message(int after, long byte);

void damage_message(int after, long byte)
{
    skip = after;
    where = byte;
}

int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    if (skip >= 0 && datatype == MPI_BYTE && skip-- == 0)
        ((unsigned char *)buf)[where < 0 ? count + where : where % count] ^= 0x10;
    return PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
}

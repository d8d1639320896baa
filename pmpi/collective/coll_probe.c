/*
 * coll_probe.c - how long a call's data would take raw, where the fixed rule never sends them raw:
 * only that tells whether compression costs time. (The times of compressed messages do not: what
 * the codec does not hide of the network, and the other way round, is not known.) So many bytes,
 * of no meaning, go the way of the MPI library.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collective/coll_auto.h"
#include "mpi/runtime.h"

enum {
    MOST_MEMORY = 64 << 20,
    ALIKE = 16 /* blocks of so many times the size take as long for a byte */
};

/* mine: n bytes; all, others: n bytes for each rank. */
static int send_raw(const struct zcall *c, unsigned char *mine, unsigned char *all,
                    unsigned char *others, int n)
{
    const MPI_Comm comm = c->state->comm;
    switch (c->op) {
    case ZOP_GATHER:
    case ZOP_GATHERV:
        return PMPI_Gather(mine, n, MPI_BYTE, all, n, MPI_BYTE, c->root, comm);
    case ZOP_SCATTER:
    case ZOP_SCATTERV:
        return PMPI_Scatter(all, n, MPI_BYTE, mine, n, MPI_BYTE, c->root, comm);
    case ZOP_ALLGATHER:
    case ZOP_ALLGATHERV:
        return PMPI_Allgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, comm);
    case ZOP_ALLTOALL:
    case ZOP_ALLTOALLV:
        return PMPI_Alltoall(all, n, MPI_BYTE, others, n, MPI_BYTE, comm);
    default:
        return PMPI_Bcast(mine, n, MPI_BYTE, c->root, comm);
    }
}

/* The largest of all ranks; infinite if one of them has failed. */
static double largest(const struct zcomm *s, double mine)
{
    double all = mine;
    return PMPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, s->comm) ? INFINITY : all;
}

void zprobe_raw(const struct zcall *c, struct zmeasured *m)
{
    const struct zcomm *s = c->state;
    const size_t ranks = (size_t)s->ranks, most = MOST_MEMORY / (2 * ranks + 1);
    const size_t n = c->bytes < most ? (size_t)c->bytes : most, room = (2 * ranks + 1) * n;
    unsigned char *memory = n >= c->bytes / ALIKE && n > 0 ? malloc(room) : NULL;
    double seconds = INFINITY;
    if (memory)
        memset(memory, 0, room);
    if (isfinite(largest(s, memory ? 0 : INFINITY))) { /* all ranks come here together */
        const double start = zmpi_seconds();
        const int rc = send_raw(c, memory, memory + n, memory + n + ranks * n, (int)n);
        seconds = largest(s, rc ? INFINITY : zmpi_seconds() - start);
    }
    free(memory);
    zauto_timed_raw(m, seconds / (double)n);
}

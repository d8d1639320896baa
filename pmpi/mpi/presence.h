/*
 * presence.h - do the other processes have this library in front of their MPI? zmpi must know that
 * before it sends anything: a process without the library would match the message with its own
 * calls.
 */
#ifndef ZMPI_PRESENCE_H
#define ZMPI_PRESENCE_H

#include <stdbool.h>

/* Before PMPI_Init: puts into the launcher's store that this process has the library. */
void zpresence_announce(void);
/* After PMPI_Init: a rank of MPI_COMM_WORLD without the library, or -1: all have it, or nobody can
 * tell. Collective over the ranks that have it; they send messages only to each other, and get the
 * same answer. */
int zpresence_missing(void);
/* After zpresence_missing has found a rank: do all ranks below this one lack the library too? (If
 * this one seems to lack it: all others?) Local. */
bool zpresence_is_first(void);

#endif

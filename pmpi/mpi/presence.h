/*
 * presence.h - do the other processes have this library in front of their MPI? zmpi must know that
 * before it sends anything: a process without the library would match the message with its own
 * calls.
 */
#ifndef ZMPI_PRESENCE_H
#define ZMPI_PRESENCE_H

#include <stdbool.h>

/* Before PMPI_Init: says to the launcher that this process has it. */
void zpresence_announce(void);
/* After it: a rank of MPI_COMM_WORLD that has not, or -1: all have it, or nobody can tell.
 * Collective over the ranks that have it: the same is said to all of them, in messages to those
 * alone. */
int zpresence_missing(void);
/* After zpresence_missing has found one: has no rank below this one the library either? Local. */
bool zpresence_is_first(void);

#endif

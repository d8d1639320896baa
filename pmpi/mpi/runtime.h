/* runtime.h - settings of the job, and what MPI_Init has found out (pmpi/init.c). */
#ifndef ZMPI_RUNTIME_H
#define ZMPI_RUNTIME_H

#include <mpi.h>
#include <stdbool.h>

#include "next_mpi.h"
#include "options/options.h"

/* ZMPI_OFF: the library does nothing, as if it were not there. */
bool zruntime_off(void);
/* MPI_Init begins; how many seconds ago that was, 0 if it did not. */
void zruntime_begin(void);
double zruntime_seconds(void);
const struct zmpi_options *zruntime_options(void);
bool zruntime_agreed(void); /* do all ranks of MPI_COMM_WORLD have the same settings? */
/* Collective, at MPI_Init: all ranks take rank 0's settings. A wrong one on any of them ends the
 * program. */
void zruntime_agree(int rank);
/* In its place where some ranks lack the library: sends nothing to anybody. */
void zruntime_stay_out(int rank);
/* Do all processes of a communicator have this library, so that zmpi may send them messages? Those
 * of another MPI_COMM_WORLD may lack it. The same answer on all of them; local. */
bool zruntime_all_have_it(MPI_Comm comm);
/* A new file is written without a bound: logs, once, how to set one. Programs that only read get no
 * line. */
void zruntime_no_bound(void);
/* For calls of zmpi.h that do nothing because the MPI library is in front of us: says so once. */
void zruntime_unseen(const char *call);
/* Logs once that a hint or a rule names a device that is not there. */
void zruntime_check_device(const struct zmpi_options *o, const char *path);
/* Threads that this process may compress with: the setting, else its share of the node's cores. At
 * least 1. */
int zruntime_threads(const struct zmpi_options *o);
/* Collective: do all ranks say yes? Also false if messages are impossible. */
bool zruntime_all(MPI_Comm comm, bool mine);
/* Collective: a communicator of our own with the same ranks, which returns errors. MPI_Comm_dup
 * would call the program's functions that copy its attributes. */
int zruntime_comm(MPI_Comm program, MPI_Comm *comm);

#endif

/* policy.h - settings from MPI_Info hints. */
#ifndef ZMPI_POLICY_H
#define ZMPI_POLICY_H

#include <mpi.h>

#include "next_mpi.h"
#include "options/options.h"

int zpolicy_hints(struct zmpi_options *o, MPI_Info info, char message[256]);
/* Says so of the first hint in this process that there is not. */
void zpolicy_look_for_misspelt(MPI_Info info);
/* A hint for a plain file: logs, once, the first hint of ours in it. */
void zpolicy_passed_over(MPI_File fh, MPI_Info info);

#endif

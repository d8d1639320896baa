/*
 * ratio_places.h - the bounds by which the variables of a call were coded before, of all ranks: a
 * search for a ratio takes them again, so that data that were read change nothing (bound/ratio.h).
 */
#ifndef ZMPI_RATIO_PLACES_H
#define ZMPI_RATIO_PLACES_H

#include "bound/ratio.h"
#include "mpi/next.h"

/* The job of variable k, open unless all its values are alike. */
typedef void zplaces_job_fn(const void *context, int k, struct zmpi_job *job);

void zplaces_clear(int place[], int n);
/* A part of a variable tells `is`; all parts that tell something must tell the same. */
void zplaces_note(int *place, int is);
/* Of all ranks of comm (MPI_COMM_NULL: this one): if all of n variables have one, the search takes
 * them. */
int zplaces_share(struct zmpi_ratio_search *s, int place[], int n, zplaces_job_fn *job_of,
                  const void *context, MPI_Comm comm);

#endif

/* bound.h - questions about bounds, and about jobs with bounds. */
#ifndef ZMPI_BOUND_H
#define ZMPI_BOUND_H

#include "device.h"

/* May a bound of this mode have this value? */
bool zmpi_bound_is_valid(const struct zmpi_bound *bound);

/* The largest value of the element type that is not above the bound. */
double zmpi_bound_round(enum zmpi_type type, double bound);

/* Is the job one for a ratio whose bound is not known yet? */
bool zmpi_job_open(const struct zmpi_job *job);

#endif

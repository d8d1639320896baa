/* bound.h - questions about bounds, and about jobs with bounds. */
#ifndef ZMPI_BOUND_H
#define ZMPI_BOUND_H

#include "device.h"

/* Is the value one that its mode can have? */
bool zmpi_bound_is_valid(const struct zmpi_bound *bound);

/* Largest value of the element type that is not above the bound. */
double zmpi_bound_round(enum zmpi_type type, double bound);

/* Does the job, made for a ratio, still lack its bound? */
bool zmpi_job_open(const struct zmpi_job *job);

#endif

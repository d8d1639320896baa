/* interp_unit.h - the unit of encoder 3's integers (format.md 4.10). */
#ifndef ZMPI_INTERP_UNIT_H
#define ZMPI_INTERP_UNIT_H

#include "device.h"

/* The unit of a job's bound; or, where the bound follows the range, which decoding has changed a
 * little, that of a bound near it which the data were decoded by. *tells: decoded values tell their
 * integers again; else most are coarser themselves. */
double zmpi_interp_find_unit(const struct zmpi_job *job, const unsigned char *src, bool *tells);

#endif

/* interp_unit.h - the unit of encoder 3's integers (format.md 4.10). */
#ifndef ZMPI_INTERP_UNIT_H
#define ZMPI_INTERP_UNIT_H

#include "device.h"

/* The unit for a job's bound. If the bound follows the range, decoding has changed the range a
 * little: if the data were decoded with the unit of a bound near it, returns that unit. *tells:
 * decoded values give their integers back; else most values are too coarse for that. */
double zmpi_interp_find_unit(const struct zmpi_job *job, const unsigned char *src, bool *tells);

#endif

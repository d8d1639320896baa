/* interp_gain.h - whether a stream of encoder 3 is surely smaller than encoder 2's
 * (format.md 4.10).
 */
#ifndef ZMPI_INTERP_GAIN_H
#define ZMPI_INTERP_GAIN_H

#include "device.h"

/* Codes some of its chunks by encoder 2 as well. False: it may be larger, or it has too few
 * chunks. */
bool zmpi_interp_gains(const struct zmpi_job *job, const void *src, const void *stream,
                       size_t size);

#endif

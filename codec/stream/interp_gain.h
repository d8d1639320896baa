/* interp_gain.h - whether a stream of encoder 3 is surely smaller than encoder 2's
 * (format.md 4.10).
 */
#ifndef ZMPI_INTERP_GAIN_H
#define ZMPI_INTERP_GAIN_H

#include "device.h"

/* By some of its chunks, coded by encoder 2 as well. False: it may not be, or there are too few. */
bool zmpi_interp_gains(const struct zmpi_job *job, const void *src, const void *stream,
                       size_t size);

#endif

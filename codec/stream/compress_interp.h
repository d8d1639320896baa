/* compress_interp.h - an array to a stream by encoder 3 (format.md 1.5, 4.10). */
#ifndef ZMPI_COMPRESS_INTERP_H
#define ZMPI_COMPRESS_INTERP_H

#include "device.h"

/* *known: the data seem to be decoded from such a stream; coding them again then changes nothing.
 * ZMPI_ERR_UNSUPPORTED: the encoder does not code this type, bound or size of array. */
enum zmpi_status zmpi_interp_compress(const struct zmpi_job *job, unsigned char *dst,
                                      size_t capacity, const unsigned char *src, size_t *size,
                                      bool *known);

#endif

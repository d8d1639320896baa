/*
 * h5zmpi.h - the filter's parameters (cd_values): what a program gives, and what set_local adds.
 *
 *     mode, mantissa, exponent, encoder       rel=1e-3: 2, 1, 3
 *
 * The bound is mantissa * 10^-exponent; an exponent of 2^32 - n means -n. Missing parameters are 0.
 * No parameter at all means lossless, by fle.
 *
 * A chunk in the file is a stream. If there was no memory to compress it, it is the chunk itself.
 */
#ifndef ZMPI_H5ZMPI_H
#define ZMPI_H5ZMPI_H

#include "zmpi_codec.h"

/* From the range that HDF5 keeps for tests (256 to 511). */
#define H5ZMPI_ID 497

enum {
    H5ZMPI_MODE, /* enum zmpi_mode */
    H5ZMPI_MANTISSA,
    H5ZMPI_EXPONENT,
    H5ZMPI_ENCODER, /* enum zmpi_encoder; 0: fle */
    H5ZMPI_GIVEN,
    H5ZMPI_TYPE = H5ZMPI_GIVEN, /* enum zmpi_type */
    H5ZMPI_EXTENT,              /* of a chunk: z, y, x */
    H5ZMPI_COUNT = H5ZMPI_EXTENT + 3
};

/* Encoder 3 by Lorenzo, in struct zmpi_stream_info's family. */
enum { H5ZMPI_LORENZO = 2 };

/* Returns 0 if the parameters make no bound, or no encoder. */
int h5zmpi_bound(const unsigned values[H5ZMPI_GIVEN], struct zmpi_bound *bound);

/* libzmpi.so calls this while a thread writes a dataset: rel and psnr then use this range, which is
 * that of more data than one chunk. NULL: the chunk's own range again. */
__attribute__((visibility("default"))) void h5zmpi_set_range(const struct zmpi_range *range);

/* H5Z_func_t */
size_t h5zmpi_filter(unsigned flags, size_t count, const unsigned values[], size_t bytes,
                     size_t *buf_size, void **buf);

#endif

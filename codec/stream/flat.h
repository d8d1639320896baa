/*
 * flat.h - chunks that vary by less than the bound and so became constants: they keep the bound but
 * lose all detail.
 */
#ifndef ZMPI_FLAT_H
#define ZMPI_FLAT_H

#include "layout/stream.h"

/* About how many elements lie in chunks that are constants in the stream, and are none in the array
 * at src, in the host's memory: by samples of some of them. */
uint64_t zmpi_flat_count(const struct zmpi_stream *s, const void *src);

#endif

/*
 * raw_bytes.h - are bytes floats although their datatype does not say so, or floats of another
 * type?
 *
 * The same samples find wrong datatypes (element_type.h, byte_order.h). There a datatype counts
 * until the data contradict it; here bytes count as bytes until the data show floats.
 */
#ifndef ZMPI_RAW_BYTES_H
#define ZMPI_RAW_BYTES_H

#include <stdbool.h>
#include <stdint.h>

#include "zmpi_codec.h"

/* Fewer elements tell too little: records of integers and floats would pass for f64. */
enum { ZMPI_RAW_LEAST = 1024 };

/* Are all these bytes, which lie in the host's memory, elements of that float type? */
bool zmpi_raw_is(enum zmpi_type type, const void *src, uint64_t bytes);
/* Returns the one float type that the bytes look like; ZMPI_BYTES: none, or both. */
enum zmpi_type zmpi_raw_type(const void *src, uint64_t bytes);

/* The same for bytes in the other byte order. */
bool zmpi_raw_is_swapped(enum zmpi_type type, const void *src, uint64_t bytes);
enum zmpi_type zmpi_raw_type_swapped(const void *src, uint64_t bytes);

#endif

/*
 * element_type.h - are the elements of an array what their datatype says?
 *
 * Programs write f64 as MPI_FLOAT, f32, pixels and text as MPI_DOUBLE. A bound would destroy such
 * data. Samples tell what they are:
 * - Exponents of real data are near those of their neighbours; last bits of mantissas are noise. If
 *   f64 are taken for f32, every second word has noise in its exponent. If f32 are taken for f64,
 *   the lower half has no noise where that of f64 has.
 * - The halves of an element differ, unless they are two f32 in an f64, or small integers.
 * - Text is printable. Integers that cover their type have huge and tiny exponents side by side.
 */
#ifndef ZMPI_ELEMENT_TYPE_H
#define ZMPI_ELEMENT_TYPE_H

#include "zmpi_codec.h"

/* What the data look like. */
enum zmpi_looks {
    ZMPI_LOOKS_RIGHT, /* what the datatype says, or the samples tell nothing */
    ZMPI_LOOKS_F64,
    ZMPI_LOOKS_F32,
    ZMPI_LOOKS_INTEGERS,
    ZMPI_LOOKS_TEXT,
    ZMPI_LOOKS_NOISE, /* no numbers of this type */
};

/* Smaller arrays are only judged to be text or not. */
#define ZMPI_LOOKS_LEAST 64

/* Judges by samples of an array in the host's or a device's memory. */
enum zmpi_looks zmpi_looks_like(enum zmpi_type type, const void *src, size_t count);
/* The words that complete "the data look like". */
const char *zmpi_looks_name(enum zmpi_looks looks);

#endif

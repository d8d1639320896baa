/*
 * plain.h - the quick answer for most data: sampled words are plainly floats of their type, in this
 * machine's byte order. Exponents near one another and not far from 1 are neither noise nor
 * integers nor text; lower bytes that look different are a mantissa. All other data go to the
 * judges (element_type.h, byte_order.h). They would say the same of plain data.
 */
#ifndef ZMPI_PLAIN_H
#define ZMPI_PLAIN_H

#include "bound/sample.h"

/* Plain data have at least so many samples that tell something. */
enum { ZMPI_PLAIN_LEAST = 64 };

struct zmpi_plain {
    unsigned words;   /* sampled */
    unsigned telling; /* neither zero, nor a mark for missing data, nor the word before again */
    unsigned marks;
    int least, most; /* binary exponents of those that tell; 0 is that of 1 */
    bool is;
};

struct zmpi_plain zmpi_plain_look(const struct zmpi_taken *taken);

#endif

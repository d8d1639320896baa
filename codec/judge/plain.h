/*
 * plain.h - the quick answer that most data give: sampled words are plainly floats of their type,
 * in this machine's byte order. Exponents near one another and not far from 1 are neither noise nor
 * integers nor text; lower bytes that are nothing like them are a mantissa. Whatever is not plain
 * is for the judges (element_type.h, byte_order.h), which would say the same of what is.
 */
#ifndef ZMPI_PLAIN_H
#define ZMPI_PLAIN_H

#include "bound/sample.h"

struct zmpi_plain {
    unsigned words;   /* looked at */
    unsigned telling; /* neither zero, nor a mark for missing data, nor like the word before */
    unsigned marks;
    int least, most; /* binary exponents of those that tell; of 1: 0 */
    bool is;
};

/* Of rows that the host can read. */
struct zmpi_plain zmpi_plain_look(const struct zmpi_sample *s);

#endif

/*
 * measured.h - errors of a decoded stream against its original, by samples, for the report. The
 * bound holds for all values in any case.
 */
#ifndef ZMPI_MEASURED_H
#define ZMPI_MEASURED_H

#include "layout/stream.h"

/* Sums of errors, which may be added over streams. */
struct zmpi_measured {
    double largest; /* of |x - x'| */
    double squares; /* their sum */
    double count;   /* of the values that are numbers in both */
};

/* Adds the chunk in the middle of a stream of floats, decoded, and the array at src, in the host's
 * memory. Nothing is added where that cannot be done. */
void zmpi_measure(const struct zmpi_stream *s, const void *src, struct zmpi_measured *m);

#endif

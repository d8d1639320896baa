/*
 * errors.h - sums of the errors of decoded chunks, in whole numbers: threads and devices may add
 * them in any order (format.md 4.1, psnr).
 */
#ifndef ZMPI_ERRORS_H
#define ZMPI_ERRORS_H

#include "layout/chunk.h"

struct zmpi_errors {
    uint64_t squares; /* of |x - x'|, each rounded up to 1/2048 of the bound */
    uint64_t count;   /* of the elements with |x| < keep */
};

/* Adds the errors of a tile of f32 or f64 that was coded with errors below `bound`. decoded: the
 * tile's words, without gaps. */
void zmpi_errors_add(struct zmpi_errors *e, enum zmpi_type type, const struct zmpi_rows *tile,
                     const size_t extent[3], const unsigned char *decoded, double bound,
                     double keep);

/* Is their root mean square at most rmse? */
bool zmpi_errors_within(const struct zmpi_errors *e, double bound, double rmse);

#endif

/*
 * grids.h - which values an absolute bound may have made, each by itself. What encoders 1 and 2
 * decode are multiples of one of the bound's steps (format.md 4.4), what encoder 3 decodes are
 * multiples of its unit (4.10), or of a whole step of it. A few other values are such multiples by
 * chance.
 */
#ifndef ZMPI_GRIDS_H
#define ZMPI_GRIDS_H

#include "layout/chunk.h"

enum { ZMPI_GRID_UNIT = ZMPI_STEP_LEVELS, ZMPI_GRIDS };

struct zmpi_grids {
    enum zmpi_type type; /* ZMPI_F32, ZMPI_F64 */
    int levels;          /* of the first ZMPI_STEP_LEVELS steps */
    double unit;         /* of encoder 3; 0: none */
    /* The last one is the unit. Its limit is 0 if quantizing by it makes other values. */
    struct zmpi_step step[ZMPI_GRIDS];
};

/* May a step have made x? NaN exceeds every limit. */
static inline bool zmpi_step_reaches(const struct zmpi_step *l, double x)
{
    return x <= l->limit && x >= -l->limit;
}

/* The grids that x lies on, as bits. */
unsigned zmpi_grids_of(const struct zmpi_grids *g, double x);

#endif

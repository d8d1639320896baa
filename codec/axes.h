/* axes.h - the choice of the axes with a given kernel: a plug-in that has the scalar one alone does
 * not bring all others along. */
#ifndef ZMPI_AXES_H
#define ZMPI_AXES_H

#include "chunk.h"
#include "plan.h"

/* zmpi_plan_axes; the cost of blocks of the plan's width, whose kernels all tell the same. */
unsigned zmpi_plan_axes_by(zmpi_chunk_cost_fn *cost_of, const struct zmpi_plan *plan,
                           const struct zmpi_chunk_rule *rule, const unsigned char *src);

/* Is one of the sets in `mask` (bit 1 << axes) good here, too, as a few blocks see it? *axes: the
 * best of them. */
bool zmpi_plan_axes_among(zmpi_chunk_cost_fn *cost_of, const struct zmpi_plan *plan,
                          const struct zmpi_chunk_rule *rule, const unsigned char *src,
                          unsigned mask, unsigned *axes);

#endif

/*
 * axes.h - the choice of the axes with a given kernel, so that a plug-in which needs only the
 * scalar kernel links no other.
 */
#ifndef ZMPI_AXES_H
#define ZMPI_AXES_H

#include "layout/chunk.h"
#include "layout/plan.h"

/* zmpi_plan_axes; the cost of blocks of the plan's width, whose kernels all tell the same. */
unsigned zmpi_plan_axes_by(zmpi_chunk_cost_fn *cost_of, const struct zmpi_plan *plan,
                           const struct zmpi_chunk_rule *rule, const unsigned char *src);

/* What sampled blocks would cost under each set of axes. */
struct zmpi_axes_look {
    size_t blocks, counted; /* looked at; those that tell something */
    size_t cost[8];
};

/* At all blocks that choose, or at `most` in their place. */
void zmpi_axes_look_at(zmpi_chunk_cost_fn *cost_of, const struct zmpi_plan *plan,
                       const struct zmpi_chunk_rule *rule, const unsigned char *src, size_t most,
                       struct zmpi_axes_look *look);

/* A set of axes is a bit, 1 << axes. */
enum { ZMPI_AXES_ALL = 0xFF };

/* The cheapest of these sets, the first of equals. */
unsigned zmpi_axes_cheapest(const struct zmpi_axes_look *look, unsigned sets);
/* What a look at all blocks chooses. */
unsigned zmpi_axes_choice(const struct zmpi_axes_look *look);

#endif

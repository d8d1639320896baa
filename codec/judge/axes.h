/*
 * axes.h - the choice of the axes with a given kernel, so that a plug-in which needs only the
 * scalar kernel links no other.
 */
#ifndef ZMPI_AXES_H
#define ZMPI_AXES_H

#include "layout/chunk.h"
#include "layout/plan.h"

/* zmpi_plan_axes with a given function for the cost of a block of the plan's width. All kernels
 * give the same cost. */
unsigned zmpi_plan_axes_by(zmpi_chunk_cost_fn *cost_of, const struct zmpi_plan *plan,
                           const struct zmpi_chunk_rule *rule, const unsigned char *src);

/* What sampled blocks would cost under each set of axes. */
struct zmpi_axes_look {
    size_t blocks, counted; /* sampled; those of them that tell something */
    size_t cost[8];
};

/* Looks at all sampled blocks, or at no more than `most`. */
void zmpi_axes_look_at(zmpi_chunk_cost_fn *cost_of, const struct zmpi_plan *plan,
                       const struct zmpi_chunk_rule *rule, const unsigned char *src, size_t most,
                       struct zmpi_axes_look *look);

/* A set of axes is a bit, 1 << axes. */
enum { ZMPI_AXES_ALL = 0xFF };

/* Returns the cheapest of these sets, the first of equals. */
unsigned zmpi_axes_cheapest(const struct zmpi_axes_look *look, unsigned sets);
/* What a look at all blocks chooses. */
unsigned zmpi_axes_choice(const struct zmpi_axes_look *look);

#endif

/*
 * rewritten.h - arrays that were decoded, changed in part, and are coded again by the same bound:
 * chunks of HDF5 that a program writes piece by piece. A chunk may have one of three steps
 * (format.md 4.4), which its largest values decide. Values that one step made would move again if
 * the chunk now took another step, or by encoder 3, where they depend on their neighbours. Decoded
 * values lie on the grid of what made them (grids.h). So a tile takes one step, and values on
 * another grid are exceptions; by encoder 3 all that are on a grid and would move.
 */
#ifndef ZMPI_REWRITTEN_H
#define ZMPI_REWRITTEN_H

#include "device.h"
#include "layout/grids.h"

/* A tile, and which of its elements must not change. */
struct zmpi_rewritten {
    const struct zmpi_grids *grids;
    enum zmpi_type type;
    const size_t *extent;
    const struct zmpi_rows *rows;
    uint64_t fill[2];           /* bits of fill values, which are exceptions, too */
    int level;                  /* the step for this tile */
    bool mostly;                /* most elements are on another grid */
    struct zmpi_chunk_rule one; /* the rule with this step alone */
    /* This one and the next in turn stand for the elements that must not change: a block whose
     * exceptions are all alike has only one value. */
    uint64_t nan;
};

/* The grids that the values of a job may lie on, if parts of it were decoded. rule: of its bound.
 */
struct zmpi_grids zmpi_rewritten_grids(const struct zmpi_job *job,
                                       const struct zmpi_chunk_rule *rule);
/* Is more than an eighth of an array on these grids, by samples? For the size alone. */
bool zmpi_rewritten_is(const struct zmpi_job *job, const void *src);
/* Chooses the step, of the rule's, by which the fewest elements are exceptions. */
struct zmpi_rewritten zmpi_rewritten_tile(const struct zmpi_grids *grids,
                                          const struct zmpi_chunk_rule *rule,
                                          const size_t extent[3], const struct zmpi_rows *rows,
                                          const struct zmpi_fills *fills);
/* Copies the tile to words, without gaps, with NaN in place of the elements that must not
 * change. */
void zmpi_rewritten_hide(struct zmpi_rewritten *r, unsigned char *words);
/* Puts them into a chunk of encoder 1 that was made of such a copy. False: that is impossible,
 * since the chunk is not stored as exceptions and integers. */
bool zmpi_rewritten_show(const struct zmpi_rewritten *r, unsigned char *chunk, size_t size);

#endif

/*
 * rewritten.h - arrays that were decoded, changed in part, and are coded again by the same bound:
 * chunks of HDF5 that a program writes piece by piece. A chunk may have one of three steps
 * (format.md 4.4), which its largest values decide. Values that one step made would move again if
 * the chunk now took another step. Decoded values are multiples of the step that made them. So a
 * tile takes one step, and multiples of another step are exceptions. A few new values are such
 * multiples by chance.
 */
#ifndef ZMPI_REWRITTEN_H
#define ZMPI_REWRITTEN_H

#include "device.h"
#include "layout/chunk.h"

/* A tile, and which of its elements must not change. */
struct zmpi_rewritten {
    const struct zmpi_chunk_rule *rule; /* with all steps */
    enum zmpi_type type;
    const size_t *extent;
    const struct zmpi_rows *rows;
    uint64_t fill[2];           /* bits of fill values, which are exceptions, too */
    int level;                  /* the step for this tile */
    struct zmpi_chunk_rule one; /* the rule with this step alone */
    uint64_t nan;               /* stands for the elements that must not change */
};

/* Chooses the step by which the fewest elements are exceptions. */
struct zmpi_rewritten zmpi_rewritten_tile(const struct zmpi_chunk_rule *rule, enum zmpi_type type,
                                          const size_t extent[3], const struct zmpi_rows *rows,
                                          const struct zmpi_fills *fills);
/* Copies the tile to words, without gaps, with NaN in place of the elements that must not
 * change. */
void zmpi_rewritten_hide(struct zmpi_rewritten *r, unsigned char *words);
/* Puts them into a chunk of encoder 1 that was made of such a copy. False: that is impossible,
 * since the chunk is not stored as exceptions and integers. */
bool zmpi_rewritten_show(const struct zmpi_rewritten *r, unsigned char *chunk, size_t size);

#endif

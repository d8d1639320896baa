/* plan_rows.h - where the chunks of an array lie in it. */
#ifndef ZMPI_PLAN_ROWS_H
#define ZMPI_PLAN_ROWS_H

#include "layout/chunk.h"
#include "layout/plan.h"

/* Chunk k in the grid of chunks. */
static inline void zmpi_plan_place(const struct zmpi_plan *p, size_t k, size_t at[3])
{
    const size_t line = k / p->grid[2];
    at[0] = line / p->grid[1];
    at[1] = line % p->grid[1];
    at[2] = k % p->grid[2];
}

/* The rows of the chunk at this place, of the array at src; its clipped extents. */
static inline struct zmpi_rows zmpi_plan_rows(const struct zmpi_plan *p, const size_t at[3],
                                              const unsigned char *src, size_t extent[3])
{
    size_t first[3];
    for (int i = 0; i < 3; i++) {
        first[i] = at[i] * p->tile[i];
        size_t left = p->words[i] - first[i];
        extent[i] = left < p->tile[i] ? left : p->tile[i];
    }
    size_t word = (first[0] * p->words[1] + first[1]) * p->words[2] + first[2];
    return (struct zmpi_rows){
        .at = (unsigned char *)src + word * p->width, /* only read */
        .row = p->words[2] * p->width,
        .plane = p->words[1] * p->words[2] * p->width,
        .stream = p->bytes >= ZMPI_STREAM_BYTES,
    };
}

#endif

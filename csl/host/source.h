/* source.h - an array's chunks, and how they go to a wafer and come back. */
#ifndef ZMPI_CSL_SOURCE_H
#define ZMPI_CSL_SOURCE_H

#include "batch.h"
#include "layout/plan.h"

struct source {
    struct zmpi_plan plan;
    struct zmpi_chunk_rule rule;
    const unsigned char *src;
};

/* Where chunk k lies; its clipped extents. */
struct zmpi_rows source_tile(const struct source *s, size_t k, size_t extent[3]);

static inline size_t source_words(const size_t extent[3])
{
    return extent[0] * extent[1] * extent[2];
}

/* The job of a chunk, for compression. */
void source_job(const struct source *s, const size_t extent[3], uint32_t *job);

/* The two ways by which chunks come to PEs. */
struct mapping {
    size_t (*places)(const struct chip *chip); /* chunks at a time */
    /* Puts chunks k to k + n - 1 into the arrays that go to the PEs. */
    void (*fill)(const struct source *s, size_t k, size_t n, struct batch *b);
    /* Sends them, and fetches the batch's answers, lengths, masks, values and data; false:
     * chip->problem says why. */
    bool (*run)(struct chip *chip, struct batch *b);
};

/* One chunk for each PE; one for each pipeline of rows of PEs. */
extern const struct mapping mapping_pes, mapping_rows;

#endif

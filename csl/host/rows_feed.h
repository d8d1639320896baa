/*
 * rows_feed.h - a chunk for each pipeline of rows of PEs, whose blocks are streamed from the row's
 * first PE (CereSZ 4.2, 4.3), as many rounds at a time as its memory holds.
 */
#ifndef ZMPI_CSL_ROWS_FEED_H
#define ZMPI_CSL_ROWS_FEED_H

#include "batch.h"
#include "layout/stream.h"

/* Words of "job" in csl/kernels/rows.csl and rows_decompress.csl that both have. */
enum { ROW_ROUNDS, ROW_BASE = 4, ROW_BEGIN, ROW_AXES, ROW_X, ROW_Y, ROW_KEPT };

/* Where a batch is. */
struct row_feed {
    struct batch *b;
    size_t width, height, pipeline, pipelines; /* PEs; of a pipeline; pipelines of a row */
    size_t taken;                              /* chunks */
    size_t round, rounds;                      /* blocks of each chunk that are done; of all */
    size_t limit;                              /* words of a PE's data for blocks and results */
    uint32_t *job, *data;                      /* of PEs */
};

/* Chunks at a time. */
size_t row_feed_places(const struct chip *chip);
/* For the batch's first `taken` chunks, with jobs of `job_words`. False: no memory. Closing what
 * was not opened does nothing. */
bool row_feed_open(struct row_feed *f, const struct chip *chip, struct batch *b, size_t taken,
                   size_t job_words);
void row_feed_close(struct row_feed *f);

/* Words that a PE keeps of a tile's row and plane. */
static inline size_t row_feed_kept(unsigned axes, size_t row, size_t plane)
{
    return (axes & ZMPI_AXIS_Y ? row : 0) + (axes & ZMPI_AXIS_Z ? plane : 0);
}

/* Of the chunk, or none: nothing has been laid there. */
size_t row_feed_blocks(const struct row_feed *f, size_t chunk);
/* The chunk of a PE; the last PE of its pipeline. */
size_t row_feed_chunk(const struct row_feed *f, size_t pe);
size_t row_feed_last(const struct row_feed *f, size_t chunk);
/* What both ways tell a PE about its chunk, for the next `rounds`, or as many as its row has. */
void row_feed_job(const struct row_feed *f, size_t chunk, unsigned axes, int32_t base,
                  size_t rounds, uint32_t *job);

#endif

/*
 * rows_feed.h - one chunk for each pipeline of rows of PEs. Blocks stream from the row's first PE
 * (CereSZ 4.2, 4.3), as many rounds at a time as its memory holds.
 */
#ifndef ZMPI_CSL_ROWS_FEED_H
#define ZMPI_CSL_ROWS_FEED_H

#include "batch.h"
#include "layout/stream.h"

/* Words of "job" that csl/kernels/rows.csl and rows_decompress.csl have in common. */
enum { ROW_ROUNDS, ROW_BASE = 4, ROW_BEGIN, ROW_AXES, ROW_X, ROW_Y, ROW_KEPT };

/* The state of a batch. */
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
/* Begins with the batch's first `taken` chunks and jobs of `job_words`. False: no memory. It is
 * allowed to close what was not opened. */
bool row_feed_open(struct row_feed *f, const struct chip *chip, struct batch *b, size_t taken,
                   size_t job_words);
void row_feed_close(struct row_feed *f);

/* Words that a PE keeps of a tile's row and plane. */
static inline size_t row_feed_kept(unsigned axes, size_t row, size_t plane)
{
    return (axes & ZMPI_AXIS_Y ? row : 0) + (axes & ZMPI_AXIS_Z ? plane : 0);
}

/* Is there a chunk at this place? */
size_t row_feed_blocks(const struct row_feed *f, size_t chunk);
/* The chunk of a PE; the last PE of its pipeline. */
size_t row_feed_chunk(const struct row_feed *f, size_t pe);
size_t row_feed_last(const struct row_feed *f, size_t chunk);
/* Writes into a PE's job what both directions tell it about its chunk, for the next `rounds`
 * rounds, or as many as its row has. */
void row_feed_job(const struct row_feed *f, size_t chunk, unsigned axes, int32_t base,
                  size_t rounds, uint32_t *job);

#endif

/* rows_feed.c - brings chunks to pipelines: what coding and decoding share. */
#include "rows_feed.h"

#include <stdlib.h>
#include <string.h>

size_t row_feed_places(const struct chip *chip)
{
    return (size_t)chip->height * (chip->width / chip->pipeline);
}

size_t row_feed_blocks(const struct row_feed *f, size_t chunk)
{
    return (f->b->job[chunk * CHIP_JOB + JOB_COUNT] + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
}

size_t row_feed_chunk(const struct row_feed *f, size_t pe)
{
    return pe / f->width * f->pipelines + pe % f->width / f->pipeline;
}

size_t row_feed_last(const struct row_feed *f, size_t chunk)
{
    const size_t row = chunk / f->pipelines, number = chunk % f->pipelines;
    return row * f->width + (number + 1) * f->pipeline - 1;
}

bool row_feed_open(struct row_feed *f, const struct chip *chip, struct batch *b, size_t taken,
                   size_t job_words)
{
    *f = (struct row_feed){.b = b,
                           .width = chip->width,
                           .height = chip->height,
                           .pipeline = chip->pipeline,
                           .pipelines = chip->width / chip->pipeline,
                           .taken = taken,
                           .limit = CHIP_ROW};
    for (size_t chunk = 0; chunk < taken; chunk++) {
        const uint32_t *at = b->job + chunk * CHIP_JOB;
        const size_t kept = row_feed_kept(at[JOB_AXES], at[JOB_X], (size_t)at[JOB_X] * at[JOB_Y]);
        const size_t blocks = row_feed_blocks(f, chunk);
        f->limit = CHIP_ROW - kept < f->limit ? CHIP_ROW - kept : f->limit;
        f->rounds = blocks > f->rounds ? blocks : f->rounds;
    }
    f->job = calloc(b->pes * (job_words + CHIP_ROW), sizeof *f->job);
    f->data = f->job + b->pes * job_words;
    return f->job != NULL;
}

void row_feed_close(struct row_feed *f)
{
    free(f->job);
}

/* How many of the next rounds have blocks for a row: a row need not wait for the longest one. */
static size_t rounds_of_row(const struct row_feed *f, size_t row, size_t rounds)
{
    size_t end = f->round;
    for (size_t chunk = row * f->pipelines; chunk < (row + 1) * f->pipelines; chunk++)
        if (row_feed_blocks(f, chunk) > end)
            end = row_feed_blocks(f, chunk);
    return end - f->round < rounds ? end - f->round : rounds;
}

void row_feed_job(const struct row_feed *f, size_t chunk, unsigned axes, int32_t base,
                  size_t rounds, uint32_t *job)
{
    const uint32_t *from = f->b->job + chunk * CHIP_JOB;
    job[ROW_ROUNDS] = (uint32_t)rounds_of_row(f, chunk / f->pipelines, rounds);
    job[ROW_BASE] = (uint32_t)base;
    job[ROW_BEGIN] = f->round == 0;
    job[ROW_AXES] = axes;
    job[ROW_X] = axes == ZMPI_AXIS_X ? UINT16_MAX : from[JOB_X]; /* along x alone rows do not end */
    job[ROW_Y] = from[JOB_Y];
    job[ROW_KEPT] = (uint32_t)f->limit;
}

/* plan.h - the layout of a stream to be written: tiles, chunks, header (format.md 1.1, 4.3). For
 * every device that compresses. */
#ifndef ZMPI_PLAN_H
#define ZMPI_PLAN_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct zmpi_plan {
    enum zmpi_type type;
    int dimensions;
    size_t elements[3]; /* normalized extents, bytes for ZMPI_BYTES */
    size_t words[3];    /* the same in words */
    size_t tile[3];
    size_t grid[3];
    size_t width, bytes, chunks;
};

struct zmpi_chunk_rule;

enum zmpi_status zmpi_plan_make(const struct zmpi_array *array, struct zmpi_plan *plan);
/* Bytes of header and chunk table. */
size_t zmpi_plan_head(const struct zmpi_plan *plan);
/* Blocks to look at for the choice of axes (4.6), and the chunks that they are in. */
size_t zmpi_plan_samples(const struct zmpi_plan *plan, size_t *chunks);
/* What the job's bound allows a chunk; without axes. */
void zmpi_plan_rule(const struct zmpi_job *job, struct zmpi_chunk_rule *rule);
/* The axes of differences for the array at src (4.6). */
unsigned zmpi_plan_axes(const struct zmpi_plan *plan, const struct zmpi_chunk_rule *rule,
                        const unsigned char *src);
/* Write the header in front of the chunk table; `books` bytes of books (1.4) lie behind that. */
void zmpi_plan_header(const struct zmpi_plan *plan, const struct zmpi_job *job, size_t books,
                      size_t length, unsigned char *dst);

#ifdef __cplusplus
}
#endif
#endif

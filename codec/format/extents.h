/*
 * extents.h - which logical bytes of a file a piece of data covers.
 *
 * An extent is lo..hi-1 with regular structure (a nest of strided runs: contiguous, vector,
 * subarray) or an explicit list of runs. Runs never overlap and increase; the data belonging to
 * them lie one behind the other ("position" counts those bytes). Format: docs/format.md 2.2.
 */
#ifndef ZMPI_EXTENTS_H
#define ZMPI_EXTENTS_H

#include "zmpi_codec.h"
#include <stdbool.h>

#define ZMPI_EXTENT_LEVELS 4
#define ZMPI_EXTENT_LIST   0xFFFF

struct zmpi_run {
    uint64_t offset; /* logical byte */
    uint64_t length; /* bytes, > 0   */
};

struct zmpi_extent {
    uint64_t lo, hi;                     /* first byte, one past the last */
    uint64_t bytes;                      /* covered bytes */
    uint64_t run;                        /* bytes of one run, levels 0..4 */
    unsigned levels;                     /* 0: contiguous, 1..4: nest, ZMPI_EXTENT_LIST */
    uint64_t count[ZMPI_EXTENT_LEVELS];  /* innermost first, each >= 2 */
    uint64_t stride[ZMPI_EXTENT_LEVELS]; /* bytes */
    struct zmpi_run *list; /* levels == ZMPI_EXTENT_LIST: owned, malloc; else NULL. May be NULL for
                              a list not loaded yet. */
    size_t list_count;
    uint64_t *list_position; /* position in the data of each run of the list; lies in the list's
                                allocation */
};

void zmpi_extent_free(struct zmpi_extent *e); /* frees the list; safe on a zeroed struct */

/*
 * Describe n increasing, non-overlapping runs (adjacent ones may touch: they are merged) as
 * compactly as possible: contiguous, nest, or a copy as list. ZMPI_ERR_ARG if they overlap or
 * decrease or are empty; ZMPI_ERR_SIZE beyond 2^63-1.
 */
enum zmpi_status zmpi_extent_from_runs(struct zmpi_extent *e, const struct zmpi_run *runs,
                                       size_t n);

/* Number of runs, and run number i (0..count-1) with its position in the data. Lists must be
 * loaded. */
uint64_t zmpi_extent_runs(const struct zmpi_extent *e);
struct zmpi_run zmpi_extent_run(const struct zmpi_extent *e, uint64_t i, uint64_t *position);

/* Number of the first run whose end lies behind `offset` (= zmpi_extent_runs(e) if none). O(levels)
 * or O(log list). */
uint64_t zmpi_extent_seek(const struct zmpi_extent *e, uint64_t offset);

/* Extents bytes of a record for levels 1..4 (8 + 16*levels bytes), 0 for contiguous. Lists: see
 * zmpi_extent_list_encode. */
size_t zmpi_extent_nest_size(unsigned levels);
void zmpi_extent_nest_encode(const struct zmpi_extent *e, unsigned char *dst);
/* lo, hi, bytes, levels are set by the caller from the record header; checks everything
 * format.md 2.2 demands. */
enum zmpi_status zmpi_extent_nest_decode(struct zmpi_extent *e, const unsigned char *src,
                                         size_t size);

/* Set bytes and hi from lo, levels, run, counts and strides; levels 0..4. The same checks. */
enum zmpi_status zmpi_extent_close(struct zmpi_extent *e);

/* The list as a stream; *out is malloc'ed. */
enum zmpi_status zmpi_extent_list_encode(const struct zmpi_extent *e, unsigned char **out,
                                         size_t *size);
enum zmpi_status zmpi_extent_list_decode(struct zmpi_extent *e, const unsigned char *src,
                                         size_t size);

#endif

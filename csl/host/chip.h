/*
 * chip.h - the interface between the host and a processing element: exported arrays of 32-bit words
 * in csl/kernels. One PE codes one chunk (docs/format.md 1.2); the host makes streams of chunks.
 */
#ifndef ZMPI_CSL_CHIP_H
#define ZMPI_CSL_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CHIP_CHUNK = 8192, /* "data": words; elements there, packed planes back, and the opposite */
    CHIP_BLOCKS =
        CHIP_CHUNK /
        32, /* "lengths", length bytes, and "masks" of exceptions: a word for each block */
    CHIP_ROW = 10240,  /* "data" where pipelines get a chunk: blocks and results, and behind them */
    CHIP_KEPT = 8192,  /* what the tile's last row and plane have left, at most so many words */
    CHIP_VALUES = 512, /* "values" of exceptions: as in the chunk, without gaps */
    CHIP_JOB = 20,     /* "job" */
    CHIP_ANSWER = 8,   /* "answer" */
    CHIP_WIDEST = 23,  /* bits of a residual that PEs can code */
    CHIP_PIPELINE = 8  /* most PEs of a pipeline */
};

/* Words of a job. Without elements a PE does nothing. */
enum {
    JOB_COUNT,
    JOB_Z,
    JOB_Y,
    JOB_X,
    JOB_AXES,
    /* compression: number of levels, bound, and from JOB_LEVEL on the step, inverse and limit of
       each */
    JOB_LEVELS,
    JOB_BOUND,
    JOB_LEVEL = 8,
    /* decompression: step, base (a float), words of planes */
    JOB_STEP = 5,
    JOB_BASE,
    JOB_WORDS
};

/* Words of an answer. */
enum { ANSWER_STATUS, ANSWER_LEVEL, ANSWER_BASE, ANSWER_WORDS, ANSWER_VALUES, ANSWER_EXCEPTIONS };

/* Why a chunk is left to the host. */
enum { CHIP_CODED, CHIP_NOT_QUANTIZED, CHIP_TOO_MANY_VALUES, CHIP_TOO_WIDE };

/* A rectangle of PEs with one program. Every call is for all of them, but `to` for the first
 * `columns`: arrays have `elements` words for each, rows of PEs one behind the other. False: it
 * failed, and is of no more use; problem says why. */
struct chip {
    unsigned width, height;
    unsigned pipeline; /* PEs of a pipeline, if rows of them get a chunk; 0: each PE gets one */
    const char *problem;
    bool (*to)(struct chip *chip, const char *name, const uint32_t *src, unsigned columns,
               unsigned elements);
    bool (*from)(struct chip *chip, const char *name, uint32_t *dst, unsigned elements);
    bool (*launch)(struct chip *chip, const char *function);
};

/* How rows of PEs get chunks (csl/kernels/rows_layout.csl). */
struct chip_rows {
    unsigned pipeline; /* at most CHIP_PIPELINE PEs, of which the width is a multiple; 0: no rows */
    unsigned length;   /* of blocks, to plan for */
    bool decode;
};

static inline size_t chip_elements(const struct chip *chip)
{
    return (size_t)chip->width * chip->height;
}

#endif

/*
 * chip.h - the interface between the host and a processing element: arrays of 32-bit words that
 * csl/kernels exports. One PE codes one chunk (docs/format.md 1.2); the host joins chunks to
 * streams.
 */
#ifndef ZMPI_CSL_CHIP_H
#define ZMPI_CSL_CHIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CHIP_CHUNK =
        8192, /* "data", in words: elements there and packed planes back, or the opposite */
    CHIP_BLOCKS = CHIP_CHUNK / 32, /* "lengths", which are length bytes, and "masks" of exceptions:
                                      a word for each block */
    CHIP_ROW = 10240,  /* "data" where pipelines get a chunk: blocks and results; behind them */
    CHIP_KEPT = 8192,  /* at most so many words of the row and plane before */
    CHIP_VALUES = 512, /* "values" of exceptions, without gaps, as in the chunk */
    CHIP_JOB = 20,     /* "job" */
    CHIP_ANSWER = 8,   /* "answer" */
    CHIP_WIDEST = 23,  /* bits of a residual that PEs can code */
    CHIP_PIPELINE = 8  /* most PEs of a pipeline */
};

/* Words of a job. A PE whose job has no elements does nothing. */
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

/* Why a PE leaves a chunk to the host. */
enum { CHIP_CODED, CHIP_NOT_QUANTIZED, CHIP_TOO_MANY_VALUES, CHIP_TOO_WIDE };

/* A rectangle of PEs with one program. Every call is for all of them, except that `to` is for the
 * first `columns`. Arrays have `elements` words for each PE, row by row. A call that returns false
 * has failed, and the chip cannot be used any more; `problem` says why. */
struct chip {
    unsigned width, height;
    unsigned pipeline; /* PEs of a pipeline if pipelines get a chunk each; 0: each PE gets one */
    const char *problem;
    bool (*to)(struct chip *chip, const char *name, const uint32_t *src, unsigned columns,
               unsigned elements);
    bool (*from)(struct chip *chip, const char *name, uint32_t *dst, unsigned elements);
    bool (*launch)(struct chip *chip, const char *function);
};

/* How rows of PEs get chunks (csl/kernels/rows_layout.csl). */
struct chip_rows {
    unsigned
        pipeline;    /* at most CHIP_PIPELINE PEs; the width is a multiple of it; 0: no pipelines */
    unsigned length; /* expected length of blocks, for Algorithm 1 */
    bool decode;
};

static inline size_t chip_elements(const struct chip *chip)
{
    return (size_t)chip->width * chip->height;
}

#endif

/*
 * model.h - the Verilated engine behind a C interface: one model for each number of lanes that was
 * built (rtl_models.h lists them). It can do only what a driver of the hardware could: access
 * registers, send packets, take packets. The clock runs while one of these functions runs.
 */
#ifndef ZMPI_RTL_MODEL_H
#define ZMPI_RTL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers of the engine (docs/internals/rtl.md). */
enum {
    MODEL_MAGIC = 0x000,
    MODEL_VERSION = 0x004,
    MODEL_LANES = 0x008,
    MODEL_STAGES = 0x00C, /* of encoder 2 */
    MODEL_STATUS = 0x010, /* bit 0: busy, bit 1: a packet was not as long as it said,
                             bit 2: a command is under way */
    MODEL_JOB = 0x014,    /* bits 0 to 2: axes, 3: floats, 4 and 5: levels, 6: encoder 2, 7: count,
                             8 to 19: what stands for the step of each level */
    MODEL_STEP = 0x020,   /* three of each */
    MODEL_INVERSE = 0x030,
    MODEL_LIMIT = 0x040,
    MODEL_BEATS_IN = 0x050,
    MODEL_BEATS_OUT = 0x054,
    MODEL_CHUNKS = 0x058,
    MODEL_CYCLES = 0x05C,  /* cycles while there was work */
    MODEL_SAVED = 0x060,   /* words that encoder 2 saved */
    MODEL_COMMAND = 0x064, /* below */
    MODEL_TAU_0 = 0x068,   /* thresholds of the change of the spread, in 2^-22 */
    MODEL_TAU_1 = 0x06C,
    MODEL_REACH = 0x070, /* the limit, lowered to values of x whose multiple of the step is a finite
                          * float */
    MODEL_SPREAD = 0x080,
    MODEL_VERDICT = 0x084, /* enum zmpi_huffman_change */
    MODEL_BITS = 0x088,    /* that a book costs */
    MODEL_RESIDUALS = 0x08C,
    MODEL_COUNTS = 0x1000,  /* counts of symbols; to be written only after a clear */
    MODEL_LENGTHS = 0x2000, /* of a book, eight at a time */
};

/* Commands, one at a time, and how a book is built. */
enum {
    MODEL_CLEAR = 1 << 0,  /* the counts */
    MODEL_BUILD = 1 << 1,  /* lengths, from the counts */
    MODEL_ASSIGN = 1 << 2, /* codes, to the lengths there are */
    MODEL_CHI = 1 << 3,    /* the spread, the verdict */
    MODEL_COST = 1 << 4,   /* cost of the lengths that are there */
    MODEL_TAKE = 1 << 5,   /* later changes of the spread are relative to these counts */
    MODEL_FORGET = 1 << 6,
    MODEL_BANK = 1 << 8, /* where codes go */
    MODEL_EXACT = 1 << 9,
    MODEL_SHORTEST =
        1 << 10, /* times 1, 2, 3: for 16 times the counts, by the shortest run 2, 4, 16 */
    MODEL_SAMPLED = 1 << 12 /* plus one for symbols that may still come */
};
#define MODEL_IS_CEAZ 0x5A414543u

enum { MODEL_MOST_LANES = 64 };

/* A packet to send. The words have room for MODEL_MOST_LANES more. */
struct model_chunk {
    const uint32_t *words;
    unsigned count, row, plane;
    unsigned book, bank; /* encoder 2: the book's number, and where in the engine it is */
};

/* Where chunks come from and go. */
struct model_io {
    bool (*next)(void *context, struct model_chunk *chunk); /* false: there are no more */
    void (*take)(void *context, const uint32_t *words, unsigned count, bool last);
    void *context;
    /* Source and sink are not ready in so many of 256 cycles, at random from a seed. */
    unsigned stall_in, stall_out, seed;
};

struct model;

struct model_type {
    unsigned lanes;
    struct model *(*open)(void);
    void (*close)(struct model *m);
    void (*write)(struct model *m, unsigned reg, uint32_t value);
    uint32_t (*read)(struct model *m, unsigned reg);
    /* Runs until all chunks are out; false if nothing moved for a long time. */
    bool (*run)(struct model *m, const struct model_io *io);
};

#define MODEL(lanes) extern const struct model_type model_##lanes;
#include "rtl_models.h"
#undef MODEL

#ifdef __cplusplus
}
#endif
#endif

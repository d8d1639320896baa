/*
 * model.h - the Verilated engine behind a C interface: one model for each number of lanes that was
 * built. Only what a driver of the hardware could do is possible: registers, packets in, packets
 * out; the clock turns while one of these functions runs.
 */
#ifndef ZMPI_RTL_MODEL_H
#define ZMPI_RTL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers of the engine (docs/rtl.md). */
enum {
    MODEL_MAGIC = 0x000,
    MODEL_VERSION = 0x004,
    MODEL_LANES = 0x008,
    MODEL_STATUS = 0x010, /* bit 0: busy, bit 1: a packet was not as long as it said,
                             bit 2: clearing or building */
    MODEL_JOB = 0x014,  /* bits 0 to 2: axes, 3: floats, 4 and 5: levels, 6: encoder 2, 7: count */
    MODEL_STEP = 0x020, /* three of each */
    MODEL_INVERSE = 0x030,
    MODEL_LIMIT = 0x040,
    MODEL_BEATS_IN = 0x050,
    MODEL_BEATS_OUT = 0x054,
    MODEL_CHUNKS = 0x058,
    MODEL_CYCLES = 0x05C,  /* while there was something to do */
    MODEL_SAVED = 0x060,   /* words that encoder 2 saved */
    MODEL_COMMAND = 0x064, /* bit 0: clear the counts, 1: build, 2: into which bank, 3: sort well */
    MODEL_REACH = 0x070,   /* the limit, but for x whose multiple of the step is no float */
    MODEL_COUNTS = 0x1000, /* of symbols; to be written after a clear only */
    MODEL_LENGTHS = 0x2000, /* read: that were built */
    MODEL_BOOKS = 0x2000    /* write: two banks of 1024 codes; bits 0 to 11, length from 12 */
};
#define MODEL_IS_CEAZ 0x5A414543u

enum { MODEL_MOST_LANES = 32 };

/* A packet in; the words have room for MODEL_MOST_LANES more. */
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
    /* How often, in 256, source and sink are not ready; at random, from a seed. */
    unsigned stall_in, stall_out, seed;
};

struct model;

struct model_type {
    unsigned lanes;
    struct model *(*open)(void);
    void (*close)(struct model *m);
    void (*write)(struct model *m, unsigned reg, uint32_t value);
    uint32_t (*read)(struct model *m, unsigned reg);
    /* Until all chunks are out; false if nothing moved for a long time. */
    bool (*run)(struct model *m, const struct model_io *io);
};

extern const struct model_type model_4, model_32;

#ifdef __cplusplus
}
#endif
#endif

/* batch.h - the arrays that go to the PEs and come back, with one chunk for each PE. */
#ifndef ZMPI_CSL_BATCH_H
#define ZMPI_CSL_BATCH_H

#include "chip.h"
#include "layout/chunk.h"

struct batch {
    const struct chip *chip;
    size_t pes;
    uint32_t *job, *answer, *lengths, *masks, *values, *data;
    size_t
        data_words; /* words that each PE has in `data` now: as many as the one with most needs */
    struct zmpi_chunk_work *work;
    unsigned char coded[ZMPI_CHUNK_CAPACITY];
};

/* NULL: no memory. */
struct batch *batch_new(const struct chip *chip);
void batch_free(struct batch *b);
/* Leaves every PE without a chunk. */
void batch_clear(struct batch *b);

/*
 * Decodes by rows of PEs, some chunks at a time. decompress.c has put the `taken` ones into the
 * batch; their values go to b->data, as from single PEs. False: chip->problem says why.
 */
bool rows_decompress(struct chip *chip, struct batch *b, size_t taken);

static inline uint32_t batch_float(float x)
{
    union {
        float x;
        uint32_t u;
    } bits = {.x = x};
    return bits.u;
}

#endif

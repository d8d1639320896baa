/* batch.h - one chunk for each PE: the arrays that go there and come back. */
#ifndef ZMPI_CSL_BATCH_H
#define ZMPI_CSL_BATCH_H

#include "chip.h"
#include "layout/chunk.h"

struct batch {
    const struct chip *chip;
    size_t pes;
    uint32_t *job, *answer, *lengths, *masks, *values, *data;
    size_t data_words; /* that each PE has in `data` now: the most that one needs */
    struct zmpi_chunk_work *work;
    unsigned char coded[ZMPI_CHUNK_CAPACITY];
};

/* NULL: no memory. */
struct batch *batch_new(const struct chip *chip);
void batch_free(struct batch *b);
/* No chunk for any PE. */
void batch_clear(struct batch *b);

/*
 * Rows of PEs that decode: chunks at a time; the `taken` ones that decompress.c laid into the
 * batch, their values to b->data as from single PEs. False: chip->problem.
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

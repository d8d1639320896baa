/* batch.c - memory for one chunk per PE. */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

struct batch *batch_new(const struct chip *chip)
{
    struct batch *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->chip = chip;
    b->pes = chip_elements(chip);
    const size_t each = CHIP_JOB + CHIP_ANSWER + 2 * CHIP_BLOCKS + CHIP_VALUES + CHIP_CHUNK;
    b->work = zmpi_chunk_work_new();
    b->job = calloc(b->pes * each, sizeof *b->job);
    if (!b->work || !b->job) {
        batch_free(b);
        return NULL;
    }
    b->answer = b->job + b->pes * CHIP_JOB;
    b->lengths = b->answer + b->pes * CHIP_ANSWER;
    b->masks = b->lengths + b->pes * CHIP_BLOCKS;
    b->values = b->masks + b->pes * CHIP_BLOCKS;
    b->data = b->values + b->pes * CHIP_VALUES;
    return b;
}

void batch_free(struct batch *b)
{
    if (!b)
        return;
    free(b->work);
    free(b->job);
    free(b);
}

void batch_clear(struct batch *b)
{
    memset(b->job, 0, b->pes * CHIP_JOB * sizeof *b->job);
    b->data_words = 0;
}

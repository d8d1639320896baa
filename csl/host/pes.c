/*
 * pes.c - one chunk for each PE (CereSZ 4.1): the PEs quantize, check the bound, predict and make
 * planes.
 */
#include <string.h>

#include "base/bytes.h"
#include "source.h"

static void fill(const struct source *s, size_t k, size_t n, struct batch *b)
{
    size_t extent[3];
    for (size_t i = 0; i < n; i++) {
        source_tile(s, k + i, extent);
        if (source_words(extent) > b->data_words)
            b->data_words = source_words(extent);
    }
    for (size_t i = 0; i < n; i++) {
        struct zmpi_rows rows = source_tile(s, k + i, extent);
        source_job(s, extent, b->job + i * CHIP_JOB);
        zmpi_rows_gather(&rows, extent, extent[2] * sizeof(float), b->work->words);
        memcpy(b->data + i * b->data_words, b->work->words, source_words(extent) * sizeof(float));
    }
}

static bool run(struct chip *chip, struct batch *b)
{
    if (!chip->to(chip, "job", b->job, chip->width, CHIP_JOB) ||
        !chip->to(chip, "data", b->data, chip->width, (unsigned)b->data_words) ||
        !chip->launch(chip, "compress") || !chip->from(chip, "answer", b->answer, CHIP_ANSWER))
        return false;
    /* Only as many words as the longest chunk has. */
    unsigned words = 0, values = 0, blocks = 0;
    for (size_t i = 0; i < b->pes; i++) {
        const uint32_t *answer = b->answer + i * CHIP_ANSWER, *job = b->job + i * CHIP_JOB;
        if (job[JOB_COUNT] == 0 || answer[ANSWER_STATUS] != CHIP_CODED)
            continue;
        if (answer[ANSWER_WORDS] > words)
            words = answer[ANSWER_WORDS];
        if (answer[ANSWER_VALUES] > values)
            values = answer[ANSWER_VALUES];
        if ((job[JOB_COUNT] + 31) / 32 > blocks)
            blocks = (job[JOB_COUNT] + 31) / 32;
    }
    if (words > CHIP_CHUNK || values > CHIP_VALUES) {
        chip->problem = "a processing element's answer makes no sense";
        return false;
    }
    b->data_words = words;
    return (!blocks || chip->from(chip, "lengths", b->lengths, CHIP_BLOCKS)) &&
           (!values || (chip->from(chip, "masks", b->masks, CHIP_BLOCKS) &&
                        chip->from(chip, "values", b->values, CHIP_VALUES))) &&
           (!words || chip->from(chip, "data", b->data, words));
}

const struct mapping mapping_pes = {chip_elements, fill, run};

/*
 * pes.c - one chunk for each PE (CereSZ 4.1): the PEs quantize, check the bound, predict and make
 * planes; here a chunk is made of what comes back (docs/format.md 1.2).
 */
#include <string.h>

#include "bytes.h"
#include "source.h"

/* ---- to the PEs ---- */

static void fill_job(const struct source *s, const size_t extent[3], uint32_t *job)
{
    job[JOB_COUNT] = (uint32_t)source_words(extent);
    job[JOB_Z] = (uint32_t)extent[0];
    job[JOB_Y] = (uint32_t)extent[1];
    job[JOB_X] = (uint32_t)extent[2];
    job[JOB_AXES] = source_axes(s, extent);
    job[JOB_LEVELS] = (uint32_t)s->rule.levels;
    job[JOB_BOUND] = batch_float((float)s->rule.abs_bound);
    for (int i = 0; i < s->rule.levels; i++) {
        uint32_t *level = job + JOB_LEVEL + 3 * i;
        level[0] = batch_float((float)s->rule.level[i].step);
        level[1] = batch_float((float)s->rule.level[i].inverse);
        level[2] = batch_float((float)s->rule.level[i].limit);
    }
}

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
        fill_job(s, extent, b->job + i * CHIP_JOB);
        zmpi_rows_gather(&rows, extent, extent[2] * sizeof(float), b->work);
        memcpy(b->data + i * b->data_words, b->work->words, source_words(extent) * sizeof(float));
    }
}

static bool run(struct chip *chip, struct batch *b)
{
    if (!chip->to(chip, "job", b->job, CHIP_JOB) ||
        !chip->to(chip, "data", b->data, (unsigned)b->data_words) ||
        !chip->launch(chip, "compress") || !chip->from(chip, "answer", b->answer, CHIP_ANSWER))
        return false;
    /* Only as much as the longest has. */
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

/* ---- from the PEs ---- */

static unsigned char *put_words(unsigned char *dst, const uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        zmpi_store32(dst + 4 * i, words[i]);
    return dst + 4 * n;
}

/* What PE i made, as a chunk in b->coded; its size, or 0 if there is none or it is too long. */
static size_t assemble(const struct source *s, struct batch *b, size_t i)
{
    const uint32_t *job = b->job + i * CHIP_JOB, *answer = b->answer + i * CHIP_ANSWER;
    const size_t count = job[JOB_COUNT], blocks = (count + 31) / 32;
    const bool exceptions = answer[ANSWER_EXCEPTIONS] > 0;
    unsigned char *dst = b->coded;
    if (answer[ANSWER_STATUS] != CHIP_CODED || answer[ANSWER_LEVEL] >= (uint32_t)s->rule.levels)
        return 0;
    const bool zero = answer[ANSWER_WORDS] == 0 && !exceptions;
    dst[0] = ZMPI_MAP_QUANTIZED;
    dst[1] = (unsigned char)job[JOB_AXES];
    dst[2] = zero ? ZMPI_CHUNK_ZERO : exceptions ? ZMPI_CHUNK_EXCEPTIONS : 0;
    dst[3] = 0;
    zmpi_store32(dst + 4, job[JOB_LEVEL + 3 * answer[ANSWER_LEVEL]]);
    zmpi_store32(dst + 8, answer[ANSWER_BASE]);
    dst += 12;
    for (size_t k = 0; k < (blocks + 3) / 4 * 4 && !zero; k++)
        *dst++ = k < blocks ? (unsigned char)b->lengths[i * CHIP_BLOCKS + k] : 0;
    dst = put_words(dst, b->data + i * b->data_words, answer[ANSWER_WORDS]);
    for (size_t k = 0; k < blocks && exceptions; k++)
        if (b->masks[i * CHIP_BLOCKS + k])
            dst = put_words(dst, b->masks + i * CHIP_BLOCKS + k, 1);
    if (exceptions)
        dst = put_words(dst, b->values + i * CHIP_VALUES, answer[ANSWER_VALUES]);
    size_t size = (size_t)(dst - b->coded);
    return size > 4 + 4 * count ? 0 : size;
}

const struct mapping mapping_pes = {chip_elements, fill, run, assemble};

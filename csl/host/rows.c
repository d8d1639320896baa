/*
 * rows.c - one chunk for each row, streamed through its pipelines (CereSZ 4.2, 4.3). For chunks
 * predicted along x alone and without special values: within a level's limit the bound holds for
 * all others (docs/format.md 4.4), so that no PE looks.
 */
#include <math.h>
#include <string.h>

#include "bytes.h"
#include "source.h"

#define U     uint32_t
#define S     int32_t
#define WIDTH 4
#include "fle_t.h"

#define T     float
#define FABS  fabsf
#define MAGIC 12582912.0F
#include "quant_t.h"

/* Words of "job" in csl/kernels/rows.csl; of the batch's, more that stay here. */
enum { ROW_ROUNDS, ROW_INVERSE, ROW_LIMIT, ROW_JOB = 4, ROW_COUNT = 4, ROW_LEVEL, ROW_FIRST };
/* Words of a block's result, and of a block with the element before it: results take their place.
 */
enum { SLOT_LENGTH, SLOT_SIGNS, SLOT_PLANES, SLOT = 33 };

static size_t places(const struct chip *chip)
{
    return chip->height;
}

/* The chunk's blocks, each with the element before it, for the row's first PE; residuals behind its
 * end are 0. */
static void fill_row(const struct source *s, const size_t extent[3], struct batch *b, size_t row)
{
    const size_t count = source_words(extent), width = b->chip->width;
    const size_t pipelines = width / b->chip->pipeline, blocks = (count + 31) / 32;
    const struct shape shape = shape_of(extent);
    const float *x = (const float *)(const void *)b->work->words;
    uint32_t *job = b->job + row * width * CHIP_JOB, *data = b->data + row * width * CHIP_ROW;
    int level = choose_level(&shape, x, &s->rule);
    if (source_axes(s, extent) != ZMPI_AXIS_X || level < 0)
        return;
    job[ROW_ROUNDS] = (uint32_t)((blocks + pipelines - 1) / pipelines);
    job[ROW_INVERSE] = batch_float((float)s->rule.level[level].inverse);
    job[ROW_LIMIT] = batch_float((float)s->rule.level[level].limit);
    job[ROW_COUNT] = (uint32_t)count;
    job[ROW_LEVEL] = (uint32_t)level;
    job[ROW_FIRST] = bits_of(x[0]);
    for (size_t k = 0; k < blocks; k++)
        for (size_t j = 0; j < SLOT; j++) {
            size_t i = 32 * k + j; /* of the element behind this one */
            data[k * SLOT + j] = bits_of(x[i == 0 ? 0 : i - 1 < count ? i - 1 : count - 1]);
        }
    for (size_t i = 1; i < width; i++)
        memcpy(job + i * CHIP_JOB, job, CHIP_JOB * sizeof *job);
}

static void fill(const struct source *s, size_t k, size_t n, struct batch *b)
{
    size_t extent[3];
    memset(b->data, 0, b->pes * CHIP_ROW * sizeof *b->data);
    for (size_t row = 0; row < n; row++) {
        struct zmpi_rows rows = source_tile(s, k + row, extent);
        zmpi_rows_gather(&rows, extent, extent[2] * sizeof(float), b->work);
        fill_row(s, extent, b, row);
    }
}

static bool run(struct chip *chip, struct batch *b)
{
    for (size_t i = 0; i < b->pes; i++)
        memcpy(b->answer + i * ROW_JOB, b->job + i * CHIP_JOB, ROW_JOB * sizeof *b->answer);
    return chip->to(chip, "job", b->answer, ROW_JOB) && chip->to(chip, "data", b->data, CHIP_ROW) &&
           chip->launch(chip, "run") && chip->from(chip, "data", b->data, CHIP_ROW);
}

/* Where block k of the row was coded: in a round, the furthest pipeline has the first. */
static const uint32_t *slot(const struct batch *b, size_t row, size_t k)
{
    const size_t pipelines = b->chip->width / b->chip->pipeline;
    const size_t number = pipelines - 1 - k % pipelines;
    const size_t pe = row * b->chip->width + number * b->chip->pipeline + b->chip->pipeline - 1;
    return b->data + pe * CHIP_ROW + k / pipelines * pipelines * SLOT;
}

static size_t assemble(const struct source *s, struct batch *b, size_t row)
{
    const uint32_t *job = b->job + row * b->chip->width * CHIP_JOB;
    const size_t count = job[ROW_COUNT], blocks = (count + 31) / 32;
    unsigned char *lengths = b->coded + 12, *dst = lengths + (blocks + 3) / 4 * 4;
    uint32_t any = 0;
    if (job[ROW_ROUNDS] == 0)
        return 0;
    memset(lengths, 0, (size_t)(dst - lengths));
    for (size_t k = 0; k < blocks; k++) {
        const uint32_t *result = slot(b, row, k);
        if (result[SLOT_LENGTH] > CHIP_WIDEST)
            return 0;
        lengths[k] = (unsigned char)result[SLOT_LENGTH];
        any |= result[SLOT_LENGTH];
        for (size_t j = 0; j <= result[SLOT_LENGTH] && result[SLOT_LENGTH]; j++, dst += 4)
            zmpi_store32(dst, result[SLOT_SIGNS + j]);
    }
    const struct zmpi_step *l = &s->rule.level[job[ROW_LEVEL]];
    struct quantizer z = {(float)l->step, (float)l->inverse, (float)l->limit, 0};
    memset(b->coded, 0, 12);
    b->coded[0] = ZMPI_MAP_QUANTIZED;
    b->coded[1] = ZMPI_AXIS_X;
    b->coded[2] = any ? 0 : ZMPI_CHUNK_ZERO;
    zmpi_store32(b->coded + 4, bits_of(z.step));
    zmpi_store32(b->coded + 8, quantize(&z, value_of(job[ROW_FIRST])));
    size_t size = any ? (size_t)(dst - b->coded) : 12;
    return size > 4 + 4 * count ? 0 : size;
}

const struct mapping mapping_rows = {places, fill, run, assemble};

/*
 * rows_decompress.c - a chunk for each pipeline of a row, whose blocks are streamed from the row's
 * first PE (CereSZ 4.2, 4.3), as many rounds at a time as its memory holds. Exceptions are
 * put in here.
 */
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "bytes.h"

/* Words of "job" in csl/kernels/rows_decompress.csl, and of a result: whether it is none, values.
 */
enum {
    ROW_ROUNDS,
    ROW_AT,
    ROW_NEXT,
    ROW_STEP,
    ROW_BASE,
    ROW_BEGIN,
    ROW_AXES,
    ROW_X,
    ROW_Y,
    ROW_JOB
};
enum { SLOT = 1 + ZMPI_BLOCK };

/* Where a batch is. */
struct feed {
    const struct batch *b;
    size_t width, height, pipeline, pipelines; /* PEs; of a pipeline; pipelines of a row */
    size_t taken;                              /* chunks */
    size_t round, rounds;                      /* blocks of each chunk that are done; of all */
    const uint32_t **planes;                   /* of each chunk's next block */
    uint32_t *job, *data, *values;             /* of PEs; of chunks, CHIP_CHUNK each */
    uint32_t *at;                              /* of each row: where in data its blocks begin */
};

size_t rows_decompress_places(const struct chip *chip)
{
    return (size_t)chip->height * (chip->width / chip->pipeline);
}

/* ---- blocks ---- */

static size_t blocks_of(const struct feed *f, size_t chunk)
{
    return (f->b->job[chunk * CHIP_JOB + JOB_COUNT] + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
}

/* A chunk that has ended, or that is none, goes on with blocks of no bits. */
static uint32_t block_bits(const struct feed *f, size_t chunk, size_t block)
{
    return block < blocks_of(f, chunk) ? f->b->lengths[chunk * CHIP_BLOCKS + block] & 0x3F : 0;
}

static uint32_t plane_words(uint32_t bits)
{
    return bits ? bits + 1 : 0;
}

/* Words of a round that a row's pipelines from `number` on get. */
static uint32_t words_from(const struct feed *f, size_t row, size_t number, size_t round)
{
    uint32_t words = 0;
    for (; number < f->pipelines; number++)
        words += 1 + plane_words(block_bits(f, row * f->pipelines + number, round));
    return words;
}

/* What a PE is told of a round before it comes. */
static uint32_t about(const struct feed *f, size_t row, size_t number, size_t round)
{
    return block_bits(f, row * f->pipelines + number, round) | words_from(f, row, number + 1, round)
                                                                   << 16;
}

/* How many rounds from the next one on fit into the memory of a row's PEs, at most `most`. A first
 * PE that is also a last one puts results in front of the blocks that it has not taken yet: *at is
 * where these begin, *words where they end. */
static size_t rounds_that_fit(const struct feed *f, size_t row, size_t most, uint32_t *at,
                              size_t *words)
{
    size_t n = 0, all = 0, begin = 0;
    *at = 0;
    while (n < most) {
        const size_t results = (n + 1) * SLOT;
        all += words_from(f, row, 0, f->round + n);
        if (f->pipeline == 1 && results > all && results - all > begin)
            begin = results - all;
        if (begin + all > CHIP_ROW_BACK || results > CHIP_ROW_BACK)
            break;
        *at = (uint32_t)begin;
        *words = begin + all;
        n++;
    }
    return n;
}

/* ---- to the PEs, and back ---- */

/* The furthest pipeline's block first. */
static void put_blocks(struct feed *f, size_t row, size_t rounds, uint32_t *dst)
{
    for (size_t k = f->round; k < f->round + rounds; k++)
        for (size_t number = f->pipelines; number-- > 0;) {
            const size_t chunk = row * f->pipelines + number;
            const uint32_t n = plane_words(block_bits(f, chunk, k));
            *dst++ = about(f, row, number, k + 1);
            memcpy(dst, f->planes[chunk], n * sizeof *dst);
            f->planes[chunk] += n;
            dst += n;
        }
}

static void put_jobs(struct feed *f, size_t rounds)
{
    for (size_t pe = 0; pe < f->b->pes; pe++) {
        const size_t row = pe / f->width, number = pe % f->width / f->pipeline;
        const uint32_t *from = f->b->job + (row * f->pipelines + number) * CHIP_JOB;
        uint32_t *to = f->job + pe * ROW_JOB;
        float base;
        memcpy(&base, &from[JOB_BASE], sizeof base);
        to[ROW_ROUNDS] = (uint32_t)rounds;
        to[ROW_AT] = f->at[row];
        to[ROW_NEXT] = about(f, row, number, f->round);
        to[ROW_STEP] = from[JOB_STEP];
        to[ROW_BASE] = (uint32_t)(int32_t)base;
        to[ROW_BEGIN] = f->round == 0;
        /* Across row ends along x alone; nothing but the base is left if there are no residuals. */
        to[ROW_AXES] = from[JOB_WORDS] ? from[JOB_AXES] : ZMPI_AXIS_X;
        to[ROW_X] = to[ROW_AXES] == ZMPI_AXIS_X ? UINT16_MAX : from[JOB_X];
        to[ROW_Y] = from[JOB_Y];
    }
}

/* The values of `rounds` blocks of a chunk. */
static void collect(struct feed *f, size_t chunk, size_t rounds)
{
    const size_t row = chunk / f->pipelines, number = chunk % f->pipelines;
    const size_t pe = row * f->width + (number + 1) * f->pipeline - 1;
    const uint32_t *slot = f->data + pe * rounds * SLOT;
    for (size_t k = f->round; k < f->round + rounds && k < blocks_of(f, chunk); k++, slot += SLOT) {
        if (slot[0] != 0)
            f->b->answer[chunk * CHIP_ANSWER + ANSWER_STATUS] = CHIP_TOO_WIDE;
        memcpy(f->values + chunk * CHIP_CHUNK + k * ZMPI_BLOCK, slot + 1,
               ZMPI_BLOCK * sizeof *slot);
    }
}

/* As many rounds as the memory of all rows has room for. */
static bool some_rounds(struct chip *chip, struct feed *f)
{
    size_t rounds = f->rounds - f->round, most = 0;
    for (size_t row = 0; row < f->height; row++) {
        size_t words;
        rounds = rounds_that_fit(f, row, rounds, &f->at[row], &words);
    }
    for (size_t row = 0; row < f->height; row++) { /* again: there may be fewer rounds now */
        size_t words;
        rounds_that_fit(f, row, rounds, &f->at[row], &words);
        most = words > most ? words : most;
    }
    put_jobs(f, rounds);
    memset(f->data, 0, f->b->pes * most * sizeof *f->data);
    for (size_t row = 0; row < f->height; row++)
        put_blocks(f, row, rounds, f->data + row * f->width * most + f->at[row]);
    if (!chip->to(chip, "job", f->job, ROW_JOB) ||
        !chip->to(chip, "data", f->data, (unsigned)most) || !chip->launch(chip, "run") ||
        !chip->from(chip, "data", f->data, (unsigned)(rounds * SLOT)))
        return false;
    for (size_t chunk = 0; chunk < f->taken; chunk++)
        collect(f, chunk, rounds);
    f->round += rounds;
    return true;
}

/* ---- a batch ---- */

static void put_exceptions(const struct feed *f, size_t chunk)
{
    const uint32_t *value = f->b->values + chunk * CHIP_VALUES;
    for (size_t k = 0; k < blocks_of(f, chunk); k++) {
        const uint32_t all = f->b->masks[chunk * CHIP_BLOCKS + k];
        const bool uniform = f->b->lengths[chunk * CHIP_BLOCKS + k] & ZMPI_BLOCK_UNIFORM;
        uint32_t *x = f->values + chunk * CHIP_CHUNK + k * ZMPI_BLOCK;
        for (uint32_t mask = all; mask; mask &= mask - 1, value += !uniform)
            x[__builtin_ctz(mask)] = *value;
        value += all && uniform;
    }
}

static bool feed_new(struct feed *f)
{
    const size_t places = f->height * f->pipelines, pes = f->b->pes;
    f->planes = calloc(places, sizeof *f->planes);
    f->job =
        calloc(pes * (ROW_JOB + CHIP_ROW_BACK) + f->taken * CHIP_CHUNK + f->height, sizeof *f->job);
    if (!f->planes || !f->job)
        return false;
    f->data = f->job + pes * ROW_JOB;
    f->values = f->data + pes * CHIP_ROW_BACK;
    f->at = f->values + f->taken * CHIP_CHUNK;
    for (size_t chunk = 0; chunk < places; chunk++) {
        f->planes[chunk] = f->b->data + chunk * CHIP_CHUNK;
        if (blocks_of(f, chunk) > f->rounds)
            f->rounds = blocks_of(f, chunk);
    }
    return true;
}

bool rows_decompress(struct chip *chip, struct batch *b, size_t taken)
{
    struct feed f = {.b = b,
                     .width = chip->width,
                     .height = chip->height,
                     .pipeline = chip->pipeline,
                     .pipelines = chip->width / chip->pipeline,
                     .taken = taken};
    bool done = feed_new(&f);
    if (!done)
        chip->problem = "the host has no memory";
    memset(b->answer, 0, b->pes * CHIP_ANSWER * sizeof *b->answer);
    while (done && f.round < f.rounds)
        done = some_rounds(chip, &f);
    for (size_t chunk = 0; chunk < taken && done; chunk++) {
        put_exceptions(&f, chunk);
        memcpy(b->data + chunk * CHIP_CHUNK, f.values + chunk * CHIP_CHUNK,
               CHIP_CHUNK * sizeof *b->data);
    }
    b->data_words = CHIP_CHUNK;
    free(f.planes);
    free(f.job);
    return done;
}

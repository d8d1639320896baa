/*
 * rows.c - codes one chunk for each pipeline of rows of PEs. Within a level's limit the bound holds
 * for all elements that do not overflow (docs/format.md 4.4), so no PE checks it. The host chooses
 * the level and the base, and reads the values of exceptions where the masks from the PEs say.
 */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "rows_feed.h"
#include "source.h"

#define U     uint32_t
#define S     int32_t
#define WIDTH 4
#include "kernels/fle_t.h"

#define T     float
#define FABS  fabsf
#define MAGIC 12582912.0F
#include "kernels/quant_t.h"

/* Words of "job" in csl/kernels/rows.csl. */
enum { ROW_INVERSE = 1, ROW_LIMIT, ROW_FIRST, ROW_COUNT = 10, ROW_JOB };
/* Words of a block's result. */
enum { SLOT_LENGTH, SLOT_MASK, SLOT_SIGNS, SLOT = 26 };
/* Word of the batch's job, behind the levels: the first element that is no exception. */
enum { JOB_FIRST = JOB_LEVEL + 3 * ZMPI_STEP_LEVELS };

/* ---- to the PEs ---- */

/* The limit up to which decoding does not overflow either. */
static float limit_of(const struct quantizer *z)
{
    uint32_t good = 0, bad = bits_of(z->limit);
    if (!is_exception(z, z->limit, quantize(z, z->limit)))
        return z->limit;
    while (bad - good > 1) {
        const uint32_t middle = good + (bad - good) / 2;
        const float x = value_of(middle);
        if (is_exception(z, x, quantize(z, x)))
            bad = middle;
        else
            good = middle;
    }
    return value_of(good);
}

/* Finds the level, its limit, and the first element that it takes; false if there is none. */
static bool begin_chunk(const struct source *s, const size_t extent[3], const float *x,
                        uint32_t *job, uint32_t *answer)
{
    const struct shape shape = shape_of(extent);
    const int level = choose_level(&shape, x, &s->rule);
    if (level < 0)
        return false;
    const struct quantizer z = quantizer_of(&s->rule, level);
    const float limit = limit_of(&z);
    job[JOB_LEVEL + 3 * level + 2] = bits_of(limit);
    for (size_t i = 0; i < shape.count; i++)
        if (fabsf(x[i]) <= limit && bits_of(x[i]) != SIGN_BIT) {
            job[JOB_FIRST] = bits_of(x[i]);
            answer[ANSWER_LEVEL] = (uint32_t)level;
            answer[ANSWER_BASE] = quantize(&z, x[i]);
            return true;
        }
    return false;
}

static void fill(const struct source *s, size_t k, size_t n, struct batch *b)
{
    size_t extent[3];
    memset(b->answer, 0, b->pes * CHIP_ANSWER * sizeof *b->answer);
    for (size_t i = 0; i < n; i++) {
        struct zmpi_rows rows = source_tile(s, k + i, extent);
        uint32_t *job = b->job + i * CHIP_JOB, *answer = b->answer + i * CHIP_ANSWER;
        zmpi_rows_gather(&rows, extent, extent[2] * sizeof(float), b->work->words);
        source_job(s, extent, job);
        memcpy(b->data + i * CHIP_CHUNK, b->work->words, source_words(extent) * sizeof(float));
        if (!begin_chunk(s, extent, (const float *)(const void *)b->work->words, job, answer)) {
            answer[ANSWER_STATUS] = CHIP_NOT_QUANTIZED;
            memset(job, 0, CHIP_JOB * sizeof *job);
        }
    }
}

static void put_jobs(const struct row_feed *f, size_t rounds)
{
    for (size_t pe = 0; pe < f->b->pes; pe++) {
        const size_t chunk = row_feed_chunk(f, pe);
        const uint32_t *from = f->b->job + chunk * CHIP_JOB;
        const uint32_t *answer = f->b->answer + chunk * CHIP_ANSWER;
        const uint32_t *level = from + JOB_LEVEL + 3 * answer[ANSWER_LEVEL];
        uint32_t *to = f->job + pe * ROW_JOB;
        row_feed_job(f, chunk, from[JOB_COUNT] ? from[JOB_AXES] : ZMPI_AXIS_X,
                     (int32_t)answer[ANSWER_BASE], rounds, to);
        to[ROW_INVERSE] = level[1];
        to[ROW_LIMIT] = level[2];
        to[ROW_FIRST] = from[JOB_FIRST];
        to[ROW_COUNT] = from[JOB_COUNT];
    }
}

/* A row's blocks, the furthest pipeline's first. Behind a chunk's end come zeros, which are no
 * exceptions. */
static void put_blocks(const struct row_feed *f, size_t row, size_t rounds, uint32_t *dst)
{
    for (size_t k = f->round; k < f->round + rounds; k++)
        for (size_t number = f->pipelines; number-- > 0; dst += ZMPI_BLOCK) {
            const size_t chunk = row * f->pipelines + number, at = k * ZMPI_BLOCK;
            const size_t count = f->b->job[chunk * CHIP_JOB + JOB_COUNT];
            const size_t n = at >= count ? 0 : count - at < ZMPI_BLOCK ? count - at : ZMPI_BLOCK;
            memset(dst, 0, ZMPI_BLOCK * sizeof *dst);
            memcpy(dst, f->b->data + chunk * CHIP_CHUNK + at, n * sizeof *dst);
        }
}

/* ---- from the PEs ---- */

/* Appends the values of a block's exceptions. */
static void keep_values(struct batch *b, size_t chunk, uint32_t mask, const uint32_t *x,
                        bool uniform)
{
    uint32_t *answer = b->answer + chunk * CHIP_ANSWER;
    answer[ANSWER_EXCEPTIONS] += (uint32_t)__builtin_popcount(mask);
    for (uint32_t rest = mask; rest; rest = uniform ? 0 : rest & (rest - 1)) {
        if (answer[ANSWER_VALUES] == CHIP_VALUES) {
            answer[ANSWER_STATUS] = CHIP_TOO_MANY_VALUES;
            return;
        }
        b->values[chunk * CHIP_VALUES + answer[ANSWER_VALUES]++] = x[__builtin_ctz(rest)];
    }
}

static bool all_same(uint32_t mask, const uint32_t *x)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (x[__builtin_ctz(rest)] != x[__builtin_ctz(mask)])
            return false;
    return true;
}

/* Takes block k of a chunk. Its planes replace elements that have been sent. */
static void collect_block(struct batch *b, size_t chunk, size_t k, const uint32_t *slot)
{
    uint32_t *answer = b->answer + chunk * CHIP_ANSWER, *data = b->data + chunk * CHIP_CHUNK;
    const uint32_t length = slot[SLOT_LENGTH], mask = slot[SLOT_MASK];
    const uint32_t *x = data + k * ZMPI_BLOCK;
    const bool uniform = all_same(mask, x);
    if (length > CHIP_WIDEST)
        answer[ANSWER_STATUS] = CHIP_TOO_WIDE;
    if (answer[ANSWER_STATUS] != CHIP_CODED)
        return;
    b->masks[chunk * CHIP_BLOCKS + k] = mask;
    b->lengths[chunk * CHIP_BLOCKS + k] =
        length | (!mask     ? 0
                  : uniform ? ZMPI_BLOCK_EXCEPTIONS | ZMPI_BLOCK_UNIFORM
                            : ZMPI_BLOCK_EXCEPTIONS);
    keep_values(b, chunk, mask, x, uniform);
    if (length == 0)
        return;
    memcpy(data + answer[ANSWER_WORDS], slot + SLOT_SIGNS, (length + 1) * sizeof *data);
    answer[ANSWER_WORDS] += length + 1;
}

/* Sends as many rounds as fit the memory of a row's first PE. */
static bool some_rounds(struct chip *chip, struct row_feed *f)
{
    const size_t round_words = f->pipelines * ZMPI_BLOCK, fit = f->limit / round_words;
    const size_t rest = f->rounds - f->round, rounds = rest < fit ? rest : fit;
    const size_t words = rounds * round_words;
    put_jobs(f, rounds);
    for (size_t row = 0; row < f->height; row++)
        put_blocks(f, row, rounds, f->data + row * words);
    if (!chip->to(chip, "job", f->job, chip->width, ROW_JOB) ||
        !chip->to(chip, "data", f->data, 1, (unsigned)words) || !chip->launch(chip, "run") ||
        !chip->from(chip, "data", f->data, (unsigned)(rounds * SLOT)))
        return false;
    for (size_t chunk = 0; chunk < f->taken; chunk++) {
        const uint32_t *slot = f->data + row_feed_last(f, chunk) * rounds * SLOT;
        const size_t blocks = row_feed_blocks(f, chunk);
        for (size_t k = f->round; k < f->round + rounds && k < blocks; k++, slot += SLOT)
            collect_block(f->b, chunk, k, slot);
    }
    f->round += rounds;
    return true;
}

static bool run(struct chip *chip, struct batch *b)
{
    struct row_feed f;
    bool done = row_feed_open(&f, chip, b, row_feed_places(chip), ROW_JOB);
    if (!done)
        chip->problem = "the host has no memory";
    while (done && f.round < f.rounds)
        done = some_rounds(chip, &f);
    row_feed_close(&f);
    b->data_words = CHIP_CHUNK;
    return done;
}

const struct mapping mapping_rows = {row_feed_places, fill, run};

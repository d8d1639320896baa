/*
 * rows_decompress.c - decodes one chunk for each pipeline of rows of PEs. The host inserts
 * exceptions.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "rows_feed.h"

/* Words of "job" in csl/kernels/rows_decompress.csl, and of a result: does it exist, and its
 * values. */
enum { ROW_AT = 1, ROW_NEXT, ROW_STEP, ROW_JOB = ROW_KEPT + 1 };
enum { SLOT = 1 + ZMPI_BLOCK };

/* The state of a batch. */
struct feed {
    struct row_feed rows;
    const uint32_t **planes; /* each chunk's next block */
    uint32_t *values;        /* values of the chunks, CHIP_CHUNK each */
    uint32_t *at;            /* where in each row's data its blocks begin */
};

/* ---- blocks ---- */

/* A chunk that has ended, or that PEs do not take, goes on with blocks of no bits. */
static uint32_t block_bits(const struct row_feed *f, size_t chunk, size_t block)
{
    return block < row_feed_blocks(f, chunk) ? f->b->lengths[chunk * CHIP_BLOCKS + block] & 0x3F
                                             : 0;
}

static uint32_t plane_words(uint32_t bits)
{
    return bits ? bits + 1 : 0;
}

/* The words of a round for a row's pipelines from `number` on. */
static uint32_t words_from(const struct row_feed *f, size_t row, size_t number, size_t round)
{
    uint32_t words = 0;
    for (; number < f->pipelines; number++)
        words += 1 + plane_words(block_bits(f, row * f->pipelines + number, round));
    return words;
}

/* The word that tells a PE about a round before it comes. */
static uint32_t about(const struct row_feed *f, size_t row, size_t number, size_t round)
{
    return block_bits(f, row * f->pipelines + number, round) | words_from(f, row, number + 1, round)
                                                                   << 16;
}

/* How many of the next rounds, at most `most`, fit into the memory of a row's PEs. A first PE that
 * is also a last one puts results in front of the blocks that it has not taken yet: these go from
 * *at to *words. */
static size_t rounds_that_fit(const struct row_feed *f, size_t row, size_t most, uint32_t *at,
                              size_t *words)
{
    size_t n = 0, all = 0, begin = 0;
    *at = 0;
    while (n < most) {
        const size_t results = (n + 1) * SLOT;
        all += words_from(f, row, 0, f->round + n);
        if (f->pipeline == 1 && results > all && results - all > begin)
            begin = results - all;
        if (begin + all > f->limit || results > f->limit)
            break;
        *at = (uint32_t)begin;
        *words = begin + all;
        n++;
    }
    return n;
}

/* ---- to the PEs, and back ---- */

/* Lays out a round's blocks, the furthest pipeline's first. */
static void put_blocks(const struct feed *f, size_t row, size_t rounds, uint32_t *dst)
{
    const struct row_feed *r = &f->rows;
    for (size_t k = r->round; k < r->round + rounds; k++)
        for (size_t number = r->pipelines; number-- > 0;) {
            const size_t chunk = row * r->pipelines + number;
            const uint32_t n = plane_words(block_bits(r, chunk, k));
            *dst++ = about(r, row, number, k + 1);
            memcpy(dst, f->planes[chunk], n * sizeof *dst);
            f->planes[chunk] += n;
            dst += n;
        }
}

static void put_jobs(const struct feed *f, size_t rounds)
{
    const struct row_feed *r = &f->rows;
    for (size_t pe = 0; pe < r->b->pes; pe++) {
        const size_t chunk = row_feed_chunk(r, pe), row = pe / r->width;
        const uint32_t *from = r->b->job + chunk * CHIP_JOB;
        uint32_t *to = r->job + pe * ROW_JOB;
        float base;
        memcpy(&base, &from[JOB_BASE], sizeof base);
        /* Without residuals all values are the base. */
        row_feed_job(r, chunk, from[JOB_WORDS] ? from[JOB_AXES] : ZMPI_AXIS_X, (int32_t)base,
                     rounds, to);
        to[ROW_AT] = f->at[row];
        to[ROW_NEXT] = about(r, row, chunk % r->pipelines, r->round);
        to[ROW_STEP] = from[JOB_STEP];
    }
}

/* Takes the values of `rounds` blocks of a chunk. */
static void collect(const struct feed *f, size_t chunk, size_t rounds)
{
    const struct row_feed *r = &f->rows;
    const uint32_t *slot = r->data + row_feed_last(r, chunk) * rounds * SLOT;
    const size_t end = row_feed_blocks(r, chunk);
    for (size_t k = r->round; k < r->round + rounds && k < end; k++, slot += SLOT) {
        if (slot[0] != 0)
            r->b->answer[chunk * CHIP_ANSWER + ANSWER_STATUS] = CHIP_TOO_WIDE;
        memcpy(f->values + chunk * CHIP_CHUNK + k * ZMPI_BLOCK, slot + 1,
               ZMPI_BLOCK * sizeof *slot);
    }
}

/* Sends as many rounds as fit the memory of all rows. */
static bool some_rounds(struct chip *chip, struct feed *f)
{
    struct row_feed *r = &f->rows;
    size_t rounds = r->rounds - r->round, most = 0;
    for (size_t row = 0; row < r->height; row++) {
        size_t words;
        rounds = rounds_that_fit(r, row, rounds, &f->at[row], &words);
    }
    for (size_t row = 0; row < r->height; row++) { /* computed again, because there may be fewer
                                                    * rounds now */
        size_t words;
        rounds_that_fit(r, row, rounds, &f->at[row], &words);
        most = words > most ? words : most;
    }
    put_jobs(f, rounds);
    memset(r->data, 0, r->height * most * sizeof *r->data);
    for (size_t row = 0; row < r->height; row++)
        put_blocks(f, row, rounds, r->data + row * most + f->at[row]);
    if (!chip->to(chip, "job", r->job, chip->width, ROW_JOB) ||
        !chip->to(chip, "data", r->data, 1, (unsigned)most) || !chip->launch(chip, "run") ||
        !chip->from(chip, "data", r->data, (unsigned)(rounds * SLOT)))
        return false;
    for (size_t chunk = 0; chunk < r->taken; chunk++)
        collect(f, chunk, rounds);
    r->round += rounds;
    return true;
}

/* ---- a batch ---- */

static void put_exceptions(const struct feed *f, size_t chunk)
{
    const struct batch *b = f->rows.b;
    const uint32_t *value = b->values + chunk * CHIP_VALUES;
    for (size_t k = 0; k < row_feed_blocks(&f->rows, chunk); k++) {
        const uint32_t all = b->masks[chunk * CHIP_BLOCKS + k];
        const bool uniform = b->lengths[chunk * CHIP_BLOCKS + k] & ZMPI_BLOCK_UNIFORM;
        uint32_t *x = f->values + chunk * CHIP_CHUNK + k * ZMPI_BLOCK;
        for (uint32_t mask = all; mask; mask &= mask - 1, value += !uniform)
            x[__builtin_ctz(mask)] = *value;
        value += all && uniform;
    }
}

static bool feed_open(struct feed *f, const struct chip *chip, struct batch *b, size_t taken)
{
    const size_t places = row_feed_places(chip);
    f->planes = calloc(places, sizeof *f->planes);
    f->values = calloc(taken * CHIP_CHUNK + chip->height, sizeof *f->values);
    f->at = f->values + taken * CHIP_CHUNK;
    for (size_t chunk = 0; chunk < places && f->planes; chunk++)
        f->planes[chunk] = b->data + chunk * CHIP_CHUNK;
    return row_feed_open(&f->rows, chip, b, taken, ROW_JOB) && f->planes && f->values;
}

bool rows_decompress(struct chip *chip, struct batch *b, size_t taken)
{
    struct feed f;
    bool done = feed_open(&f, chip, b, taken);
    if (!done)
        chip->problem = "the host has no memory";
    memset(b->answer, 0, b->pes * CHIP_ANSWER * sizeof *b->answer);
    while (done && f.rows.round < f.rows.rounds)
        done = some_rounds(chip, &f);
    for (size_t chunk = 0; chunk < taken && done; chunk++) {
        put_exceptions(&f, chunk);
        memcpy(b->data + chunk * CHIP_CHUNK, f.values + chunk * CHIP_CHUNK,
               CHIP_CHUNK * sizeof *b->data);
    }
    b->data_words = CHIP_CHUNK;
    free(f.planes);
    free(f.values);
    row_feed_close(&f.rows);
    return done;
}

/* planner.c - Algorithm 1 of CereSZ, and its formulas for a row's time. */
#include "planner.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "chip.h"
#include "device.h"
#include "layout/chunk.h"
#include "layout/plan.h"
#include "layout/stream.h"

#define HERTZ       850e6
#define BLOCK_BYTES 128.0

const struct stage_costs stages_published = {{5074, 1040, 975, 1044, 1037, 1380, 1976}};

const struct back_costs stages_back_simulated = {{1529, 1616, 958, 5471}};

size_t stages_of(const struct stage_costs *costs, unsigned length, double cycles[STAGES_MOST],
                 double *sum)
{
    const size_t n = STAGE_SHUFFLE + (length < 32 ? length : 32);
    *sum = 0;
    for (size_t i = 0; i < n; i++) {
        cycles[i] = costs->cycles[i < STAGE_SHUFFLE ? i : STAGE_SHUFFLE];
        *sum += cycles[i];
    }
    return n;
}

size_t stages_back_of(const struct back_costs *costs, unsigned length, double cycles[STAGES_MOST],
                      double *sum)
{
    const size_t bits = length < 32 ? length : 32;
    *sum = 0;
    for (size_t i = 0; i < bits + BACK_MULTIPLY; i++) {
        cycles[i] = costs->cycles[i < bits ? BACK_UNSHUFFLE : i - bits + BACK_SIGN];
        *sum += cycles[i];
    }
    return bits + BACK_MULTIPLY;
}

double stages_distribute(const double *cycles, size_t stages, size_t pes, size_t *first)
{
    double sum = 0, slowest = 0;
    size_t next = 0;
    for (size_t i = 0; i < stages; i++)
        sum += cycles[i];
    for (size_t i = 0; i < pes; i++) {
        double group = 0;
        first[i] = next;
        while (next < stages && (i + 1 == pes || group < sum / (double)pes))
            group += cycles[next++];
        if (group > slowest)
            slowest = group;
    }
    first[pes] = stages;
    return slowest;
}

/* The number of a stage in csl/kernels/rows_decompress.csl. Planes beyond the expected length come
 * before the signs, in the stage of the last expected plane. */
static size_t decode_stage(size_t stage, unsigned length)
{
    return stage < length || stage == 0 ? stage : stage - length + CHIP_WIDEST;
}

int64_t stages_groups(const struct chip_rows *rows)
{
    double cycles[STAGES_MOST], sum;
    size_t first[STAGES_MOST + 1];
    const unsigned length = rows->length < CHIP_WIDEST ? rows->length : CHIP_WIDEST;
    size_t stages = rows->decode ? stages_back_of(&stages_back_simulated, length, cycles, &sum)
                                 : stages_of(&stages_published, length, cycles, &sum);
    int64_t groups = 0;
    stages_distribute(cycles, stages, rows->pipeline, first);
    for (unsigned i = 0; i < rows->pipeline; i++)
        groups |= (int64_t)(rows->decode ? decode_stage(first[i], length) : first[i]) << 5 * i;
    return groups;
}

/* ---- the sample ---- */

static unsigned bits_of(uint32_t magnitude)
{
    return magnitude ? 32 - (unsigned)__builtin_clz(magnitude) : 0;
}

static int32_t integer(const struct zmpi_step *l, float x)
{
    return fabsf(x) <= (float)l->limit ? (int32_t)rintf(x * (float)l->inverse) : 0;
}

/* The length of the block at x by the first level that takes all of it, or else by the last level.
 */
static unsigned block_length(const struct zmpi_chunk_rule *rule, const float *x, float before)
{
    int level = 0;
    for (size_t j = 0; j < ZMPI_BLOCK; j++)
        while (level + 1 < rule->levels && !(fabsf(x[j]) <= (float)rule->level[level].limit))
            level++;
    const struct zmpi_step *l = &rule->level[level];
    uint32_t all = 0;
    int32_t last = integer(l, before);
    for (size_t j = 0; j < ZMPI_BLOCK; j++) {
        int32_t q = integer(l, x[j]);
        all |= (uint32_t)abs(q - last);
        last = q;
    }
    return bits_of(all);
}

/* Steps through one of every 20 blocks: the next one from b on. */
static size_t sampled_block(size_t b, uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    return b + (*random >> 16) % 20;
}

static unsigned rounded_up(size_t sum, size_t sampled)
{
    return sampled ? (unsigned)((sum + sampled - 1) / sampled) : 0;
}

unsigned stages_sample_length(const struct zmpi_job *job, const void *src)
{
    struct zmpi_chunk_rule rule;
    size_t count, sum = 0, sampled = 0;
    const float *x = src;
    zmpi_plan_rule(job, &rule);
    if (job->array.type != ZMPI_F32 || !rule.levels || zmpi_array_count(&job->array, &count))
        return 0;
    uint32_t random = 1;
    for (size_t b = 0; b < count / ZMPI_BLOCK; b += 20, sampled++) {
        size_t at = sampled_block(b, &random);
        if (at >= count / ZMPI_BLOCK)
            at = b;
        sum += block_length(&rule, x + at * ZMPI_BLOCK,
                            at ? x[at * ZMPI_BLOCK - 1] : x[at * ZMPI_BLOCK]);
    }
    return rounded_up(sum, sampled);
}

/* The length of a block in a chunk that nobody has checked yet; 0 if PEs cannot take the chunk. */
static unsigned coded_length(const unsigned char *chunk, size_t size, size_t block)
{
    if (chunk[0] != ZMPI_MAP_QUANTIZED || (chunk[2] & ZMPI_CHUNK_ZERO) || size <= 12 + block)
        return 0;
    return chunk[12 + block] & 0x3FU;
}

unsigned stages_sample_stream(const struct zmpi_stream *s)
{
    const unsigned char *chunk = s->src + s->head;
    size_t sum = 0, sampled = 0;
    uint32_t random = 1;
    for (size_t k = 0; k < s->info.chunks; k++) {
        size_t first[3], extent[3], size = zmpi_load32(s->table + 8 * k);
        zmpi_stream_tile(s, k, first, extent);
        size_t blocks = (extent[0] * extent[1] * extent[2] + ZMPI_BLOCK - 1) / ZMPI_BLOCK;
        for (size_t b = 0; b < blocks; b += 20, sampled++) {
            size_t at = sampled_block(b, &random);
            sum += coded_length(chunk, size, at < blocks ? at : b);
        }
        chunk += size;
    }
    return rounded_up(sum, sampled);
}

/* ---- rows ---- */

/* Cycles of a round, in which each pipeline of a row takes one block: formulas (2) plus (3). */
static double row_cycles(const struct row_model *m)
{
    const double columns = (double)m->columns, pipeline = (double)m->pipeline;
    return columns * m->relay + m->block + (m->pipeline > 1 ? pipeline * m->pass : 0);
}

double row_rate(const struct row_model *m, size_t rows)
{
    const double pipelines = (double)(m->columns / m->pipeline);
    return (double)rows * pipelines * BLOCK_BYTES * HERTZ / row_cycles(m);
}

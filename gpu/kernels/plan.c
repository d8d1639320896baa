/* plan.c - turns a job or a stream into the kernels' parameters, and their answers into results. */
#include <string.h>

#include "base/bytes.h"
#include "bound/errors.h"
#include "judge/axes.h"
#include "kernels.h"
#include "layout/chunk.h"

/* Kernels number chunks by 32 bits, and a grid has fewer than 2^31 blocks of threads. */
#define MOST_CHUNKS ((size_t)INT32_MAX)

static void set_rule(struct zmpi_cuda_plan *p)
{
    struct zmpi_chunk_rule rule;
    zmpi_plan_rule(&p->job, &rule);
    p->rule = (struct zmpi_cuda_rule){.is_float = rule.is_float,
                                      .levels = rule.levels,
                                      .abs_bound = rule.abs_bound,
                                      .shift = rule.shift,
                                      .magnitudes = rule.magnitudes};
    for (int i = 0; i < rule.levels; i++) {
        p->rule.level[i].step = rule.level[i].step;
        p->rule.level[i].inverse = rule.level[i].inverse;
        p->rule.level[i].limit = rule.level[i].limit;
    }
    p->rmse = rule.levels && p->job.abs_bound > p->job.finer[1] ? p->job.finer[1] : 0;
}

enum zmpi_status zmpi_cuda_plan_make(const struct zmpi_job *job, struct zmpi_cuda_plan *p)
{
    *p = (struct zmpi_cuda_plan){.job = *job};
    enum zmpi_status status = zmpi_plan_make(&job->array, &p->layout);
    if (status)
        return status;
    if (job->encoder != ZMPI_FLE || p->layout.chunks > MOST_CHUNKS)
        return ZMPI_ERR_UNSUPPORTED;
    set_rule(p);
    return ZMPI_OK;
}

struct zmpi_cuda_tiles zmpi_cuda_tiles_of(const struct zmpi_plan *layout)
{
    struct zmpi_cuda_tiles t = {
        .width = (uint32_t)layout->width, .bytes = layout->bytes, .chunks = layout->chunks};
    for (int i = 0; i < 3; i++) {
        t.words[i] = layout->words[i];
        t.grid[i] = layout->grid[i];
        t.tile[i] = (uint32_t)layout->tile[i];
    }
    return t;
}

int zmpi_cuda_axes_given(const struct zmpi_cuda_plan *p)
{
    return p->job.axes ? (int)(p->job.axes & 7) : ZMPI_CUDA_CHOOSE;
}

int zmpi_cuda_axes(const struct zmpi_cuda_plan *p, const void *src)
{
    struct zmpi_chunk_rule rule;
    zmpi_plan_rule(&p->job, &rule);
    return (int)zmpi_plan_axes_by(p->layout.width == 4 ? zmpi_chunk32_cost : zmpi_chunk64_cost,
                                  &p->layout, &rule, src);
}

enum zmpi_status zmpi_cuda_judge(struct zmpi_cuda_plan *p, const struct zmpi_cuda_result *result,
                                 bool *again)
{
    const struct zmpi_errors errors = {result->squares, result->count};
    *again = false;
    if (p->rmse > 0 && !zmpi_errors_within(&errors, p->job.abs_bound, p->rmse)) {
        p->job.abs_bound = p->job.finer[p->finer++]; /* the second one is always fine enough */
        set_rule(p);
        *again = true;
        return ZMPI_OK;
    }
    return result->full ? ZMPI_ERR_SPACE : ZMPI_OK;
}

void zmpi_cuda_header(const struct zmpi_cuda_plan *p, uint64_t length, void *head)
{
    zmpi_plan_header(&p->layout, &p->job, 0, (size_t)length, head);
}

enum zmpi_status zmpi_cuda_decode_plan_make(const struct zmpi_stream *s,
                                            struct zmpi_cuda_decode_plan *p)
{
    const enum zmpi_type type = s->info.array.type;
    if (s->info.encoder != ZMPI_FLE || s->info.big_endian)
        return ZMPI_ERR_UNSUPPORTED;
    *p = (struct zmpi_cuda_decode_plan){
        .is_float = type == ZMPI_F32 || type == ZMPI_F64,
        .length = s->info.length,
        .tiles = {.width = (uint32_t)s->width,
                  .bytes = s->info.decoded_bytes,
                  .chunks = s->info.chunks},
    };
    for (int i = 0; i < 3; i++) {
        p->tiles.words[i] = s->extent[i];
        p->tiles.grid[i] = s->grid[i];
        p->tiles.tile[i] = s->info.tile[i];
    }
    return s->info.chunks > MOST_CHUNKS ? ZMPI_ERR_UNSUPPORTED : ZMPI_OK;
}

/* The kernel's answer is 0, or names a chunk, counted from the end so that the first damaged chunk
 * has the largest number, and what is wrong with it. */
enum zmpi_status zmpi_cuda_verdict(uint64_t answer, size_t *bad_chunk)
{
    if (answer && bad_chunk)
        *bad_chunk = UINT32_MAX - (size_t)(answer >> 8);
    return (enum zmpi_status)(answer & 255);
}

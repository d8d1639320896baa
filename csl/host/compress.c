/*
 * compress.c - an array to a stream by PEs (docs/format.md 1.1): the axes, checksums, the places of
 * chunks, and chunks that the PEs leave.
 */
#include <string.h>

#include "bytes.h"
#include "hash.h"
#include "source.h"
#include "wse.h"

bool wse_takes_job(const struct zmpi_job *job)
{
    struct zmpi_chunk_rule rule;
    zmpi_plan_rule(job, &rule);
    return job->array.type == ZMPI_F32 && job->encoder == ZMPI_FLE && rule.levels > 0 &&
           !(job->finer[1] > 0);
}

struct zmpi_rows source_tile(const struct source *s, size_t k, size_t extent[3])
{
    const struct zmpi_plan *p = &s->plan;
    size_t at[3] = {k / p->grid[2] / p->grid[1], k / p->grid[2] % p->grid[1], k % p->grid[2]};
    size_t first[3];
    for (int i = 0; i < 3; i++) {
        first[i] = at[i] * p->tile[i];
        size_t left = p->words[i] - first[i];
        extent[i] = left < p->tile[i] ? left : p->tile[i];
    }
    size_t word = (first[0] * p->words[1] + first[1]) * p->words[2] + first[2];
    return (struct zmpi_rows){
        .at = (unsigned char *)s->src + word * p->width, /* only read */
        .row = p->words[2] * p->width,
        .plane = p->words[1] * p->words[2] * p->width,
    };
}

unsigned source_axes(const struct source *s, const size_t extent[3])
{
    return s->rule.axes & ((extent[2] > 1 ? ZMPI_AXIS_X : 0U) | (extent[1] > 1 ? ZMPI_AXIS_Y : 0U) |
                           (extent[0] > 1 ? ZMPI_AXIS_Z : 0U));
}

/* Chunk k, the i-th of the batch, to b->coded; its size. */
static size_t chunk(const struct source *s, const struct mapping *m, size_t k, struct batch *b,
                    size_t i, struct wse_count *count)
{
    size_t extent[3], size = m->assemble(s, b, i);
    count->chip += size > 0;
    count->host += size == 0;
    if (size == 0) {
        struct zmpi_rows rows = source_tile(s, k, extent);
        size = zmpi_chunk32_encode(&s->rule, extent, &rows, b->coded, b->work);
    }
    return size;
}

static enum zmpi_status chunks(struct chip *chip, const struct source *s, struct batch *b,
                               unsigned char *dst, size_t capacity, size_t *length,
                               struct wse_count *count)
{
    const struct mapping *m = chip->pipeline ? &mapping_rows : &mapping_pes;
    size_t at = zmpi_plan_head(&s->plan);
    for (size_t k = 0; k < s->plan.chunks;) {
        size_t left = s->plan.chunks - k, n = left < m->places(chip) ? left : m->places(chip);
        batch_clear(b);
        m->fill(s, k, n, b);
        if (!m->run(chip, b))
            return ZMPI_ERR_DEVICE;
        for (size_t i = 0; i < n; i++, k++) {
            size_t size = chunk(s, m, k, b, i, count);
            if (capacity - at < size)
                return ZMPI_ERR_SPACE;
            memcpy(dst + at, b->coded, size);
            unsigned char *entry = dst + ZMPI_STREAM_HEADER_BYTES + 8 * k;
            zmpi_store32(entry, (uint32_t)size);
            zmpi_store32(entry + 4, (uint32_t)zmpi_hash(b->coded, size, 0));
            at += size;
        }
    }
    *length = at;
    return ZMPI_OK;
}

enum zmpi_status wse_compress(struct chip *chip, const struct zmpi_job *job, void *dst,
                              size_t capacity, const void *src, size_t *size,
                              struct wse_count *count)
{
    struct source s = {.src = src};
    enum zmpi_status status = zmpi_plan_make(&job->array, &s.plan);
    if (status)
        return status;
    if (!wse_takes_job(job))
        return ZMPI_ERR_UNSUPPORTED;
    if (capacity < zmpi_plan_head(&s.plan))
        return ZMPI_ERR_SPACE;
    zmpi_plan_rule(job, &s.rule);
    s.rule.axes = zmpi_axes_choose(job, src);
    struct batch *b = batch_new(chip);
    if (!b)
        return ZMPI_ERR_MEMORY;
    status = chunks(chip, &s, b, dst, capacity, size, count);
    batch_free(b);
    if (!status)
        zmpi_plan_header(&s.plan, job, 0, *size, dst);
    return status;
}

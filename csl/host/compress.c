/*
 * compress.c - an array to a stream by PEs (docs/format.md 1.1): the axes, checksums, the places of
 * chunks, and the chunks that PEs leave to the host.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "layout/plan_rows.h"
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
    size_t at[3];
    zmpi_plan_place(&s->plan, k, at);
    return zmpi_plan_rows(&s->plan, at, s->src, extent);
}

/* The array's axes along which this tile has neighbours. */
static unsigned axes_of(const struct source *s, const size_t extent[3])
{
    return s->rule.axes & ((extent[2] > 1 ? ZMPI_AXIS_X : 0U) | (extent[1] > 1 ? ZMPI_AXIS_Y : 0U) |
                           (extent[0] > 1 ? ZMPI_AXIS_Z : 0U));
}

void source_job(const struct source *s, const size_t extent[3], uint32_t *job)
{
    job[JOB_COUNT] = (uint32_t)source_words(extent);
    job[JOB_Z] = (uint32_t)extent[0];
    job[JOB_Y] = (uint32_t)extent[1];
    job[JOB_X] = (uint32_t)extent[2];
    job[JOB_AXES] = axes_of(s, extent);
    job[JOB_LEVELS] = (uint32_t)s->rule.levels;
    job[JOB_BOUND] = batch_float((float)s->rule.abs_bound);
    for (int i = 0; i < s->rule.levels; i++) {
        uint32_t *level = job + JOB_LEVEL + 3 * i;
        level[0] = batch_float((float)s->rule.level[i].step);
        level[1] = batch_float((float)s->rule.level[i].inverse);
        level[2] = batch_float((float)s->rule.level[i].limit);
    }
}

/* ---- a chunk from what PEs return (docs/format.md 1.2) ---- */

static unsigned char *put_words(unsigned char *dst, const uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        zmpi_store32(dst + 4 * i, words[i]);
    return dst + 4 * n;
}

/* Makes a chunk in b->coded from what the PEs return for the i-th of the batch. Returns its size,
 * or 0 if there is none or it is too long. */
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

/* ---- a stream ---- */

/* Puts chunk k, the i-th of the batch, into b->coded; returns its size. */
static size_t chunk(const struct source *s, size_t k, struct batch *b, size_t i,
                    struct wse_count *count)
{
    size_t extent[3], size = assemble(s, b, i);
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
            size_t size = chunk(s, k, b, i, count);
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

/* engine_sim.c - an array to a stream by the Verilated engine: tiles to packets, packets to chunks.
 */
#include "engine_sim.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "chunk.h"
#include "hash.h"
#include "model.h"
#include "plan.h"

struct zmpi_rtl {
    const struct model_type *type;
    struct model *model;
    unsigned stall_in, stall_out, seed;
};

struct zmpi_rtl *zmpi_rtl_open(unsigned lanes)
{
    static const struct model_type *const types[] = {&model_1, &model_4, &model_32};
    struct zmpi_rtl *rtl = calloc(1, sizeof *rtl);
    for (size_t i = 0; rtl && i < sizeof types / sizeof *types; i++)
        if (types[i]->lanes == lanes) {
            rtl->type = types[i];
            rtl->model = rtl->type->open();
        }
    if (!rtl || !rtl->model || rtl->type->read(rtl->model, MODEL_MAGIC) != MODEL_IS_CEAZ ||
        rtl->type->read(rtl->model, MODEL_LANES) != lanes) {
        zmpi_rtl_close(rtl);
        return NULL;
    }
    return rtl;
}

void zmpi_rtl_close(struct zmpi_rtl *rtl)
{
    if (rtl && rtl->model)
        rtl->type->close(rtl->model);
    free(rtl);
}

void zmpi_rtl_stall(struct zmpi_rtl *rtl, unsigned in, unsigned out, unsigned seed)
{
    rtl->stall_in = in;
    rtl->stall_out = out;
    rtl->seed = seed;
}

struct zmpi_rtl_counts zmpi_rtl_count(struct zmpi_rtl *rtl)
{
    const struct model_type *t = rtl->type;
    struct zmpi_rtl_counts c = {
        .cycles = t->read(rtl->model, MODEL_CYCLES),
        .beats_in = t->read(rtl->model, MODEL_BEATS_IN),
        .beats_out = t->read(rtl->model, MODEL_BEATS_OUT),
        .chunks = t->read(rtl->model, MODEL_CHUNKS),
    };
    t->write(rtl->model, MODEL_STATUS, 0);
    return c;
}

bool zmpi_rtl_supports(const struct zmpi_job *job)
{
    const bool words =
        job->array.type == ZMPI_F32 || job->array.type == ZMPI_I32 || job->array.type == ZMPI_BYTES;
    const bool relative = job->bound.mode == ZMPI_PW_REL && job->abs_bound > 0;
    return words && job->encoder == 1 && !relative && !(job->top > 0) && !(job->finer[1] > 0);
}

/* ---- the job's registers ---- */

static uint32_t bits_of(double x)
{
    const float f = (float)x; /* exact */
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static void set_registers(struct zmpi_rtl *rtl, const struct zmpi_chunk_rule *rule)
{
    const struct model_type *t = rtl->type;
    t->write(rtl->model, MODEL_JOB,
             rule->axes | (uint32_t)rule->is_float << 3 | (uint32_t)rule->levels << 4);
    for (unsigned i = 0; i < ZMPI_STEP_LEVELS; i++) {
        const bool used = (int)i < rule->levels;
        t->write(rtl->model, MODEL_STEP + 4 * i, used ? bits_of(rule->level[i].step) : 0);
        t->write(rtl->model, MODEL_INVERSE + 4 * i, used ? bits_of(rule->level[i].inverse) : 0);
        t->write(rtl->model, MODEL_LIMIT + 4 * i, used ? bits_of(rule->level[i].limit) : 0);
    }
}

/* ---- chunks ---- */

/* One call: the next chunk to be sent, and where the next one coded goes. */
struct transfer {
    const struct zmpi_plan *plan;
    const unsigned char *src;
    unsigned char *dst;
    size_t capacity, sent, received, begin, at;
    bool too_small;
    uint32_t words[ZMPI_CHUNK_INPUT_BYTES / 4 + MODEL_MOST_LANES];
};

static bool next_chunk(void *context, struct model_chunk *chunk)
{
    struct transfer *t = context;
    const struct zmpi_plan *p = t->plan;
    size_t tile[3], extent[3], k = t->sent++;
    if (k >= p->chunks)
        return false;
    for (int i = 2; i >= 0; k /= p->grid[i], i--) {
        tile[i] = k % p->grid[i] * p->tile[i];
        extent[i] = p->words[i] - tile[i] < p->tile[i] ? p->words[i] - tile[i] : p->tile[i];
    }
    memset(t->words, 0, sizeof t->words);
    uint32_t *row = t->words;
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++, row += extent[2]) {
            size_t word = ((tile[0] + z) * p->words[1] + tile[1] + y) * p->words[2] + tile[2];
            size_t bytes = p->bytes - 4 * word; /* a byte string's last word may be cut */
            memcpy(row, t->src + 4 * word, bytes < 4 * extent[2] ? bytes : 4 * extent[2]);
        }
    chunk->words = t->words;
    chunk->row = (unsigned)extent[2];
    chunk->plane = (unsigned)(extent[1] * extent[2]);
    chunk->count = (unsigned)(row - t->words);
    return true;
}

static void take_words(void *context, const uint32_t *words, unsigned count, bool last)
{
    struct transfer *t = context;
    t->too_small |= t->capacity - t->at < 4 * (size_t)count;
    for (unsigned i = 0; i < count && !t->too_small; i++, t->at += 4)
        zmpi_store32(t->dst + t->at, words[i]);
    if (!last)
        return;
    unsigned char *entry = t->dst + ZMPI_STREAM_HEADER_BYTES + 8 * t->received++;
    zmpi_store32(entry, (uint32_t)(t->at - t->begin));
    zmpi_store32(entry + 4, (uint32_t)zmpi_hash(t->dst + t->begin, t->at - t->begin, 0));
    t->begin = t->at;
}

enum zmpi_status zmpi_rtl_compress(struct zmpi_rtl *rtl, const struct zmpi_job *job, void *dst,
                                   size_t dst_capacity, const void *src, size_t *size)
{
    struct zmpi_plan plan;
    struct zmpi_chunk_rule rule;
    if (!zmpi_rtl_supports(job))
        return ZMPI_ERR_UNSUPPORTED;
    enum zmpi_status status = zmpi_plan_make(&job->array, &plan);
    if (status)
        return status;
    if (dst_capacity < zmpi_plan_head(&plan))
        return ZMPI_ERR_SPACE;
    struct transfer *t = calloc(1, sizeof *t);
    if (!t)
        return ZMPI_ERR_MEMORY;
    t->plan = &plan;
    t->src = src;
    t->dst = dst;
    t->capacity = dst_capacity;
    t->begin = t->at = zmpi_plan_head(&plan);
    zmpi_plan_rule(job, &rule);
    rule.axes = zmpi_axes_choose(job, src);
    set_registers(rtl, &rule);
    const struct model_io io = {.next = next_chunk,
                                .take = take_words,
                                .context = t,
                                .stall_in = rtl->stall_in,
                                .stall_out = rtl->stall_out,
                                .seed = rtl->seed};
    const bool ran = rtl->type->run(rtl->model, &io);
    if (!ran || t->received != plan.chunks || rtl->type->read(rtl->model, MODEL_STATUS) != 0)
        status = ZMPI_ERR_DEVICE;
    else if (t->too_small)
        status = ZMPI_ERR_SPACE;
    if (!status) {
        zmpi_plan_header(&plan, job, 0, t->at, dst);
        *size = t->at;
    }
    free(t);
    return status;
}

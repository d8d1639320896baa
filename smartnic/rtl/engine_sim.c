/* engine_sim.c - an array to a stream by the Verilated engine: tiles to packets, packets to chunks.
 */
#include "engine_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "chunk.h"
#include "hash.h"
#include "huffman.h"
#include "kernels.h"
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
    return words && !relative && !(job->top > 0) && !(job->finer[1] > 0);
}

/* ---- the job's registers ---- */

static uint32_t bits_of(double x)
{
    const float f = (float)x; /* exact */
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

/* The largest magnitude up to the limit whose multiple of the step is finite; as the multiples grow
 * with x, by bisection. */
static uint32_t reach_of(const struct zmpi_step *l)
{
    uint32_t most = bits_of(l->limit), least = 0;
    while (least < most) {
        const uint32_t middle = most - (most - least) / 2;
        float x;
        memcpy(&x, &middle, sizeof x);
        if (isfinite(rintf(x * (float)l->inverse) * (float)l->step))
            least = middle;
        else
            most = middle - 1;
    }
    return least;
}

static void set_registers(struct zmpi_rtl *rtl, const struct zmpi_chunk_rule *rule, int encoder)
{
    const struct model_type *t = rtl->type;
    t->write(rtl->model, MODEL_JOB,
             rule->axes | (uint32_t)rule->is_float << 3 | (uint32_t)rule->levels << 4 |
                 (uint32_t)(encoder == 2) << 6);
    for (unsigned i = 0; i < ZMPI_STEP_LEVELS; i++) {
        const bool used = (int)i < rule->levels;
        t->write(rtl->model, MODEL_STEP + 4 * i, used ? bits_of(rule->level[i].step) : 0);
        t->write(rtl->model, MODEL_INVERSE + 4 * i, used ? bits_of(rule->level[i].inverse) : 0);
        t->write(rtl->model, MODEL_LIMIT + 4 * i, used ? bits_of(rule->level[i].limit) : 0);
        t->write(rtl->model, MODEL_REACH + 4 * i, used ? reach_of(&rule->level[i]) : 0);
    }
}

/* ---- books: the driver chooses them, from samples that the host codes ---- */

static void load_book(struct zmpi_rtl *rtl, const struct zmpi_book *book, unsigned bank)
{
    uint16_t code[ZMPI_HUFFMAN_SYMBOLS];
    zmpi_book_codes(book, code);
    for (unsigned s = 0; s < ZMPI_HUFFMAN_SYMBOLS; s++)
        rtl->type->write(rtl->model, MODEL_BOOKS + 0x1000 * bank + 4 * s,
                         (uint32_t)book->length[s] << 12 | code[s]);
}

/* ---- chunks ---- */

/* One call: the next chunk to be sent, and where the next one coded goes. */
struct transfer {
    const struct zmpi_plan *plan;
    const struct zmpi_chunk_rule *rule;
    const unsigned char *src;
    unsigned char *dst;
    size_t capacity, sent, end, received, begin, at;
    unsigned book, bank;
    bool too_small;
    uint32_t words[ZMPI_CHUNK_INPUT_BYTES / 4 + MODEL_MOST_LANES];
};

/* Tile k to words without gaps; its extents. */
static void gather(struct transfer *t, size_t k, size_t extent[3])
{
    const struct zmpi_plan *p = t->plan;
    size_t tile[3];
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
}

static bool next_chunk(void *context, struct model_chunk *chunk)
{
    struct transfer *t = context;
    size_t extent[3];
    if (t->sent == t->end)
        return false;
    gather(t, t->sent++, extent);
    *chunk = (struct model_chunk){.words = t->words,
                                  .row = (unsigned)extent[2],
                                  .plane = (unsigned)(extent[1] * extent[2]),
                                  .count = (unsigned)(extent[0] * extent[1] * extent[2]),
                                  .book = t->book,
                                  .bank = t->bank};
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

/* Chunks from t->sent to t->end. */
static enum zmpi_status run_chunks(struct zmpi_rtl *rtl, struct transfer *t)
{
    const struct model_io io = {.next = next_chunk,
                                .take = take_words,
                                .context = t,
                                .stall_in = rtl->stall_in,
                                .stall_out = rtl->stall_out,
                                .seed = rtl->seed};
    if (!rtl->type->run(rtl->model, &io) || t->received != t->end ||
        rtl->type->read(rtl->model, MODEL_STATUS) != 0)
        return ZMPI_ERR_DEVICE;
    return t->too_small ? ZMPI_ERR_SPACE : ZMPI_OK;
}

/* Section by section: the next book goes into the bank that is not in use. */
static enum zmpi_status run_sections(struct zmpi_rtl *rtl, struct transfer *t,
                                     const struct zmpi_huffman_plan *books)
{
    enum zmpi_status status = ZMPI_OK;
    for (size_t i = 0; i < books->sections && !status; i++) {
        const size_t left = t->plan->chunks - t->sent;
        if (i == 0 || books->number[i] != t->book) {
            t->book = books->number[i];
            t->bank = !t->bank;
            load_book(rtl, zmpi_huffman_plan_book(books, t->book), t->bank);
        }
        t->end = t->sent + (left < ZMPI_HUFFMAN_SECTION ? left : ZMPI_HUFFMAN_SECTION);
        status = run_chunks(rtl, t);
    }
    return status;
}

/* zmpi_sample_fn: on the host */
static size_t sample_chunk(const void *context, size_t k, struct zmpi_chunk_work *work,
                           unsigned char *dst, size_t *words)
{
    struct transfer *t = *(struct transfer *const *)context;
    size_t extent[3];
    gather(t, k, extent);
    const struct zmpi_rows rows = {
        .at = (unsigned char *)t->words, .row = 4 * extent[2], .plane = 4 * extent[1] * extent[2]};
    *words = extent[0] * extent[1] * extent[2];
    return zmpi_kernels()->encode32(t->rule, extent, &rows, dst, work);
}

/* Encoder 2 (format.md 4.9). *worth: the books saved at least the bytes that they take. */
static enum zmpi_status run_books(struct zmpi_rtl *rtl, struct transfer *t, bool own,
                                  size_t *books_size, bool *worth)
{
    struct zmpi_huffman_plan books;
    const uint32_t saved = rtl->type->read(rtl->model, MODEL_SAVED);
    enum zmpi_status status =
        zmpi_huffman_choose(t->plan->chunks, t->plan->width, 1, own, sample_chunk, &t, &books);
    if (status)
        return status;
    const size_t head = zmpi_plan_head(t->plan);
    t->sent = t->received = 0;
    t->too_small = false;
    t->begin = t->at = head + books.size;
    if (t->capacity < t->at)
        status = ZMPI_ERR_SPACE;
    else
        status = run_sections(rtl, t, &books);
    if (!status)
        memcpy(t->dst + head, books.bytes, books.size);
    *books_size = books.size;
    *worth = !books.size ||
             (!status && rtl->type->read(rtl->model, MODEL_SAVED) - saved >= books.size / 4);
    zmpi_huffman_plan_free(&books);
    return status;
}

static enum zmpi_status run_job(struct zmpi_rtl *rtl, const struct zmpi_job *job,
                                struct transfer *t)
{
    const struct zmpi_plan *plan = t->plan;
    size_t books = 0;
    enum zmpi_status status;
    if (job->encoder == 2) {
        bool worth;
        status = run_books(rtl, t, true, &books, &worth);
        if (!worth && status != ZMPI_ERR_DEVICE)
            status = run_books(rtl, t, false, &books, &worth);
    } else {
        t->end = plan->chunks;
        t->begin = t->at = zmpi_plan_head(plan);
        status = run_chunks(rtl, t);
    }
    if (!status)
        zmpi_plan_header(plan, job, books, t->at, t->dst);
    return status;
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
    t->rule = &rule;
    t->src = src;
    t->dst = dst;
    t->capacity = dst_capacity;
    zmpi_plan_rule(job, &rule);
    rule.axes = zmpi_axes_choose(job, src);
    set_registers(rtl, &rule, job->encoder);
    status = run_job(rtl, job, t);
    if (!status)
        *size = t->at;
    free(t);
    return status;
}

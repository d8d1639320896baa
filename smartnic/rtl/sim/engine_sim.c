/* engine_sim.c - compresses an array by the Verilated engine: tiles to packets, packets to chunks.
 */
#include "engine_books.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "layout/chunk.h"
#include "layout/plan.h"

enum { LONGEST_ROW = 511 }; /* where differences go along y (docs/internals/rtl.md) */

struct zmpi_rtl *zmpi_rtl_open(unsigned lanes)
{
    static const struct model_type *const types[] = {
#define MODEL(n) &model_##n,
#include "rtl_models.h"
#undef MODEL
    };
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

static bool supports(const struct zmpi_job *job)
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

/* The largest magnitude up to the limit whose multiple of the step is finite. Multiples grow with
 * x, so this bisects. */
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

enum {
    JOB_FLOAT = 1 << 3,
    JOB_LEVELS = 1 << 4,
    JOB_HUFFMAN = 1 << 6,
    JOB_COUNT = 1 << 7,
    JOB_SHIFT = 1 << 8
};

static void set_job(struct zmpi_rtl *rtl, const struct zmpi_chunk_rule *rule, uint32_t also)
{
    rtl->type->write(rtl->model, MODEL_JOB,
                     rule->axes | (rule->is_float ? JOB_FLOAT : 0u) |
                         JOB_LEVELS * (uint32_t)rule->levels | also);
}

/* The numbers that stand for the steps of encoder 2's chunks (1.4): the bits of their levels; of
 * equal steps, the most. */
static uint32_t shifts_of(const struct zmpi_chunk_rule *rule)
{
    uint32_t shifts = 0;
    for (int i = 0; i < rule->levels; i++) {
        int first = 0;
        while (rule->level[first].step != rule->level[i].step)
            first++;
        shifts |= (uint32_t)rule->level[first].bits << 4 * i;
    }
    return shifts * JOB_SHIFT;
}

static void set_registers(struct zmpi_rtl *rtl, const struct zmpi_chunk_rule *rule)
{
    const struct model_type *t = rtl->type;
    for (unsigned i = 0; i < ZMPI_STEP_LEVELS; i++) {
        const bool used = (int)i < rule->levels;
        t->write(rtl->model, MODEL_STEP + 4 * i, used ? bits_of(rule->level[i].step) : 0);
        t->write(rtl->model, MODEL_INVERSE + 4 * i, used ? bits_of(rule->level[i].inverse) : 0);
        t->write(rtl->model, MODEL_LIMIT + 4 * i, used ? bits_of(rule->level[i].limit) : 0);
        t->write(rtl->model, MODEL_REACH + 4 * i, used ? reach_of(&rule->level[i]) : 0);
    }
}

/* ---- chunks ---- */

/* The state of one call: the next chunk to send, and the place of the next coded one. */
struct transfer {
    const struct zmpi_plan *plan;
    const struct zmpi_chunk_rule *rule;
    const unsigned char *src;
    unsigned char *dst;
    size_t capacity, sent, end, received, begin, at;
    unsigned book, bank;
    bool sampling, too_small, approximate;
    size_t section; /* the first chunk of the section from which samples are taken */
    struct zmpi_rtl *rtl;
    enum zmpi_status failed;         /* while books are chosen */
    enum zmpi_huffman_change change; /* of the section that was counted last */
    uint32_t words[ZMPI_CHUNK_INPUT_BYTES / 4 + MODEL_MOST_LANES];
};

/* Copies tile k to words without gaps; returns its extents. */
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

static size_t section_chunks(const struct transfer *t)
{
    const size_t left = t->plan->chunks - t->section;
    return left < ZMPI_HUFFMAN_SECTION ? left : ZMPI_HUFFMAN_SECTION;
}

static bool next_chunk(void *context, struct model_chunk *chunk)
{
    struct transfer *t = context;
    size_t extent[3];
    if (t->sent == t->end)
        return false;
    size_t k = t->sent++;
    if (t->sampling)
        k = t->section + zmpi_huffman_sample(section_chunks(t), k);
    gather(t, k, extent);
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
    if (t->sampling) {
        t->received += last;
        return;
    }
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

/* Sends chunks from t->sent to t->end. */
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

/* Goes section by section. The next book goes into the bank that is not in use. */
static enum zmpi_status run_sections(struct zmpi_rtl *rtl, struct transfer *t,
                                     const struct zmpi_huffman_plan *books)
{
    enum zmpi_status status = ZMPI_OK;
    t->sampling = t->too_small = false;
    t->sent = t->received = 0;
    for (size_t i = 0; i < books->sections && !status; i++) {
        t->section = t->sent;
        if (i == 0 || books->number[i] != t->book) {
            t->book = books->number[i];
            t->bank = !t->bank;
            if (!zmpi_rtl_load_book(rtl, zmpi_huffman_plan_book(books, t->book), t->bank))
                return ZMPI_ERR_DEVICE;
        }
        t->end = t->sent + section_chunks(t);
        status = run_chunks(rtl, t);
    }
    return status;
}

/* ---- the choice of books: the codec's code, with the engine's sums ---- */

static bool answered(struct transfer *t, bool yes)
{
    if (!yes && !t->failed)
        t->failed = ZMPI_ERR_DEVICE;
    return !t->failed;
}

static bool count_section(void *context, size_t section)
{
    struct transfer *t = context;
    bool any = false;
    t->section = section * ZMPI_HUFFMAN_SECTION;
    if (t->failed || !answered(t, zmpi_rtl_clear(t->rtl)))
        return false;
    t->sampling = true;
    t->sent = t->received = 0;
    t->end = zmpi_huffman_samples(section_chunks(t));
    t->failed = run_chunks(t->rtl, t);
    return !t->failed && answered(t, zmpi_rtl_change(t->rtl, &t->change, &any)) && any;
}

static enum zmpi_huffman_change change_of(void *context)
{
    return ((struct transfer *)context)->change;
}

static void take_book(void *context)
{
    struct transfer *t = context;
    answered(t, zmpi_rtl_take(t->rtl));
}

static uint64_t cost_of(void *context, const struct zmpi_book *book)
{
    struct transfer *t = context;
    uint64_t bits = 0;
    answered(t, zmpi_rtl_cost(t->rtl, book, &bits));
    return bits;
}

static void train_book(void *context, unsigned run, bool sampled, struct zmpi_book *book)
{
    struct transfer *t = context;
    memset(book, 0, sizeof *book);
    answered(t, zmpi_rtl_train(t->rtl, run, sampled, !t->approximate, book));
}

static enum zmpi_status choose_books(struct zmpi_rtl *rtl, struct transfer *t, bool own,
                                     struct zmpi_huffman_plan *books)
{
    const struct zmpi_huffman_sums sums = {.context = t,
                                           .count = count_section,
                                           .change = change_of,
                                           .take = take_book,
                                           .cost = cost_of,
                                           .train = train_book};
    set_job(rtl, t->rule, JOB_HUFFMAN | JOB_COUNT);
    t->rtl = rtl;
    t->failed = ZMPI_OK;
    if (!zmpi_rtl_forget(rtl))
        return ZMPI_ERR_DEVICE;
    const enum zmpi_status status = zmpi_huffman_plan_by(&sums, books, t->plan->chunks, own);
    if (!status && t->failed)
        zmpi_huffman_plan_free(books);
    set_job(rtl, t->rule, JOB_HUFFMAN | shifts_of(t->rule));
    return status ? status : t->failed;
}

/* Encoder 2 (format.md 4.9). *worth: the books saved at least as many bytes as they take. */
static enum zmpi_status run_books(struct zmpi_rtl *rtl, struct transfer *t, bool own,
                                  size_t *books_size, bool *worth)
{
    struct zmpi_huffman_plan books;
    enum zmpi_status status = choose_books(rtl, t, own, &books);
    *worth = true;
    if (status)
        return status;
    const uint32_t saved = rtl->type->read(rtl->model, MODEL_SAVED);
    const size_t head = zmpi_plan_head(t->plan);
    t->begin = t->at = head + books.size;
    status = t->capacity < t->at ? ZMPI_ERR_SPACE : run_sections(rtl, t, &books);
    *worth = !books.size ||
             (!status && rtl->type->read(rtl->model, MODEL_SAVED) - saved >= books.size / 4);
    if (!status)
        memcpy(t->dst + head, books.bytes, books.size);
    *books_size = books.size;
    zmpi_huffman_plan_free(&books);
    return status;
}

static enum zmpi_status run_huffman(struct zmpi_rtl *rtl, struct transfer *t, size_t *books_size)
{
    bool worth;
    enum zmpi_status status = run_books(rtl, t, true, books_size, &worth);
    if (!worth && status != ZMPI_ERR_DEVICE)
        status = run_books(rtl, t, false, books_size, &worth);
    return status;
}

static enum zmpi_status run_job(struct zmpi_rtl *rtl, const struct zmpi_job *job,
                                struct transfer *t)
{
    const struct zmpi_plan *plan = t->plan;
    size_t books = 0;
    enum zmpi_status status;
    if (job->encoder == 2) {
        status = run_huffman(rtl, t, &books);
    } else {
        set_job(rtl, t->rule, 0);
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
    if (!supports(job))
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
    t->approximate = job->variant == ZMPI_VARIANT_APPROXIMATE;
    t->src = src;
    t->dst = dst;
    t->capacity = dst_capacity;
    zmpi_plan_rule(job, &rule);
    rule.axes = zmpi_axes_choose(job, src);
    for (int i = 0; i < 3; i++) /* a caller's may be more than there are */
        rule.axes &= plan.tile[i] > 1 ? ~0U : ~((unsigned)ZMPI_AXIS_Z >> i);
    if (rule.axes & ZMPI_AXIS_Y && plan.tile[2] > LONGEST_ROW) {
        free(t);
        return ZMPI_ERR_UNSUPPORTED;
    }
    set_registers(rtl, &rule);
    status = run_job(rtl, job, t);
    if (!status)
        *size = t->at;
    free(t);
    return status;
}

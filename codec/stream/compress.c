/* compress.c - encoders 1 and 2 on the CPU: an array becomes a stream, chunk by chunk (format.md
 * parts 1 and 4). */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/pool.h"
#include "bound/errors.h"
#include "bound/ratio.h"
#include "bound/rewritten.h"
#include "bound/whole.h"
#include "huffman/huffman.h"
#include "kernels/kernels.h"
#include "layout/fills.h"
#include "layout/plan_rows.h"
#include "stream/compress.h"

/* The rows of chunk k in the array at src. Sets extent, which is smaller at the array's ends. */
static struct zmpi_rows tile_rows(const struct zmpi_plan *p, size_t k, const unsigned char *src,
                                  size_t extent[3])
{
    size_t at[3];
    zmpi_plan_place(p, k, at);
    return zmpi_plan_rows(p, at, src, extent);
}

/* The last chunk of a byte string that ends within a word: a copy, padded with zeros. */
static struct zmpi_rows padded_rows(const struct zmpi_plan *p, const struct zmpi_rows *rows,
                                    const unsigned char *src, size_t words,
                                    struct zmpi_chunk_work *work)
{
    size_t bytes = p->bytes - (size_t)(rows->at - src);
    memcpy(work->words, rows->at, bytes);
    memset(work->words + bytes, 0, words * p->width - bytes);
    return (struct zmpi_rows){.at = work->words};
}

/* ---- the chunks, by any number of threads ---- */

/*
 * Chunks that a thread takes at a time: enough to make the lock cheap, few enough for its workspace
 * to stay in the cache.
 */
enum { GROUP = 8 };

/* Bytes that stay in a core's second-level cache once they are read. */
#define CACHED_BYTES ((uint64_t)1 << 20)

/* Room to code a group: while it works, the encoder needs more room than the coded chunk. */
#define GROUP_CAPACITY (GROUP * ZMPI_CHUNK_CODED_MAX + ZMPI_CHUNK_CAPACITY)

/* The workspace of one thread. */
struct workspace {
    struct zmpi_chunk_work chunk;
    struct zmpi_huffman_encoder huffman;
    unsigned char coded[GROUP_CAPACITY]; /* a group whose place is not known yet */
};

_Static_assert(sizeof(struct workspace) <= 1 << 20, "workspace of a thread over 1 MiB");

/*
 * Threads take groups in order and code them in any order. A group gets its place once all groups
 * before it have their sizes. So the bytes are the same for any number of threads, and each thread
 * needs only one workspace.
 */
struct encoder {
    const struct zmpi_plan *plan;
    const struct zmpi_job *job;
    const struct zmpi_chunk_rule *rule;
    struct zmpi_grids grids; /* where parts may have been decoded */
    const struct zmpi_chunk_rule
        *whole;  /* the rule for chunks of whole numbers; NULL: there are none */
    double rmse; /* psnr: the largest root mean square of the errors; 0: no limit */
    const unsigned char *src;
    unsigned char *dst;
    size_t capacity;
    const struct zmpi_huffman_plan *books; /* NULL: fle */

    pthread_mutex_t lock;
    pthread_cond_t moved; /* `to_place`, `status` or `too_far` changed */
    size_t next;          /* first chunk that no thread has taken */
    size_t to_place;      /* first chunk without a place */
    size_t at;            /* the place of that chunk */
    enum zmpi_status status;
    size_t saved;              /* bytes that the placed chunks are smaller than by fle */
    struct zmpi_errors errors; /* of the placed chunks */
    bool too_far;              /* the errors exceed rmse, whatever the other chunks add */
};

static bool stopped(const struct encoder *e)
{
    return e->status || e->too_far;
}

/* Decodes the chunk that was just coded, as a decoder will, and adds its errors. */
static void measure_chunk(const struct encoder *e, const size_t extent[3],
                          const struct zmpi_rows *src, const unsigned char *coded, size_t size,
                          struct zmpi_chunk_work *work, struct zmpi_errors *errors)
{
    const struct zmpi_kernels *kernels = zmpi_kernels();
    const size_t row = extent[2] * e->plan->width;
    struct zmpi_rows out = {.at = work->words, .row = row, .plane = extent[1] * row};
    if (e->plan->width == 4)
        kernels->decode32(true, extent, coded, size, &out, work);
    else
        kernels->decode64(true, extent, coded, size, &out, work);
    zmpi_errors_add(errors, e->plan->type, src, extent, work->words, e->job->abs_bound,
                    e->job->keep);
    errors->count -= zmpi_fills_count(&e->job->fills, e->plan->type, extent, src, e->job->keep);
}

static size_t encode_tile(const struct encoder *e, const struct zmpi_chunk_rule *rule,
                          const size_t extent[3], const struct zmpi_rows *rows, unsigned char *dst,
                          struct zmpi_chunk_work *work)
{
    const struct zmpi_kernels *kernels = zmpi_kernels();
    return e->plan->width == 4 ? kernels->encode32(rule, extent, rows, dst, work)
                               : kernels->encode64(rule, extent, rows, dst, work);
}

/* The tile is lossless. */
static size_t encode_exact(const struct encoder *e, const struct zmpi_chunk_rule *rule,
                           const size_t extent[3], const struct zmpi_rows *rows, unsigned char *dst,
                           struct zmpi_chunk_work *work)
{
    struct zmpi_chunk_rule exact;
    zmpi_chunk_rule_make(&exact, e->plan->type, 0, e->job->keep);
    exact.axes = rule->axes;
    return encode_tile(e, &exact, extent, rows, dst, work);
}

/* A tile that holds fill values which a user names: these become exceptions, or the whole tile is
 * lossless. False: it holds none. */
static bool encode_with_fills(const struct encoder *e, const struct zmpi_chunk_rule *rule,
                              const size_t extent[3], const struct zmpi_rows *rows,
                              unsigned char *dst, struct zmpi_chunk_work *work, size_t *size)
{
    const enum zmpi_type type = e->plan->type;
    const size_t width = e->plan->width, row = extent[2] * width;
    const struct zmpi_rows copy = {.at = work->patches, .row = row, .plane = extent[1] * row};
    struct zmpi_hidden hidden;
    if (!zmpi_fills_hide(&e->job->fills, type, extent, rows, work->patches, &hidden))
        return false;
    *size = encode_tile(e, rule, extent, &copy, dst, work);
    if (zmpi_fills_show(&hidden, width, extent[0] * extent[1] * extent[2], dst, *size))
        return true;
    *size = encode_exact(e, rule, extent, rows, dst, work);
    return true;
}

/* A tile of which some elements may have been decoded: these do not change. */
static size_t encode_rewritten(const struct encoder *e, const struct zmpi_chunk_rule *rule,
                               const size_t extent[3], const struct zmpi_rows *rows,
                               unsigned char *dst, struct zmpi_chunk_work *work)
{
    const size_t row = extent[2] * e->plan->width;
    const struct zmpi_rows copy = {.at = work->patches, .row = row, .plane = extent[1] * row};
    struct zmpi_rewritten r = zmpi_rewritten_tile(&e->grids, rule, extent, rows, &e->job->fills);
    if (r.mostly)
        return encode_exact(e, rule, extent, rows, dst, work);
    zmpi_rewritten_hide(&r, work->patches);
    const size_t size = encode_tile(e, &r.one, extent, &copy, dst, work);
    return zmpi_rewritten_show(&r, dst, size) ? size
                                              : encode_exact(e, rule, extent, rows, dst, work);
}

/* Codes chunk k by fle to dst, which has room for ZMPI_CHUNK_CAPACITY bytes; returns its size.
 * next: the chunk that this thread codes afterwards, if there is one. */
static size_t encode_fle(const struct encoder *e, size_t k, size_t next, size_t extent[3],
                         struct zmpi_rows *rows, struct zmpi_chunk_work *work, unsigned char *dst)
{
    const struct zmpi_plan *p = e->plan;
    const unsigned char *src = e->src;
    size_t next_extent[3], size;
    *rows = tile_rows(p, k, src, extent);
    const bool whole = e->whole && zmpi_whole_tile(e->whole, p->type, extent, rows);
    const struct zmpi_chunk_rule *rule = whole ? e->whole : e->rule;
    if (e->job->rewritten && !whole && rule->levels)
        return encode_rewritten(e, rule, extent, rows, dst, work);
    if (p->bytes % p->width && k == p->chunks - 1 &&
        !ZMPI_BIG_ENDIAN) /* on a big-endian machine cpu.c has padded the array */
        *rows = padded_rows(p, rows, src, extent[2], work);
    else if (next < p->chunks)
        rows->next = tile_rows(p, next, src, next_extent).at;
    if (e->job->fills.count && encode_with_fills(e, rule, extent, rows, dst, work, &size))
        return size;
    return encode_tile(e, rule, extent, rows, dst, work);
}

/* Codes chunk k to dst and puts its entry into the table; returns its size. Adds to *saved what
 * that is less than by fle. */
static size_t encode_chunk(const struct encoder *e, size_t k, size_t next, struct workspace *w,
                           unsigned char *dst, size_t *saved, struct zmpi_errors *errors)
{
    const struct zmpi_plan *p = e->plan;
    size_t extent[3];
    struct zmpi_rows rows;
    size_t size = encode_fle(e, k, next, extent, &rows, &w->chunk, dst);
    if (e->rmse > 0)
        measure_chunk(e, extent, &rows, dst, size, &w->chunk, errors);
    if (e->books) {
        const unsigned number = e->books->number[k / ZMPI_HUFFMAN_SECTION];
        const struct zmpi_book *book = zmpi_huffman_plan_book(e->books, number);
        if (w->huffman.book != book)
            zmpi_huffman_encoder_set(&w->huffman, book);
        size_t coded = zmpi_huffman_chunk(&w->huffman, number, p->width,
                                          extent[0] * extent[1] * extent[2], dst, size, &w->chunk);
        *saved += size - coded;
        size = coded;
    }
    unsigned char *entry = e->dst + ZMPI_STREAM_HEADER_BYTES + 8 * k;
    zmpi_store32(entry, (uint32_t)size);
    zmpi_store32(entry + 4, (uint32_t)zmpi_kernels()->hash(dst, size));
    return size;
}

/*
 * Takes the next group; false: there is none. *dst: where to code it. That is its final place if
 * this is known and large enough for the worst case, else `coded`.
 */
static bool take_group(struct encoder *e, unsigned char *coded, size_t *first, size_t *end,
                       unsigned char **dst)
{
    pthread_mutex_lock(&e->lock);
    size_t left = e->plan->chunks - e->next;
    bool took = left > 0 && !stopped(e);
    if (took) {
        *first = e->next;
        *end = e->next += left < GROUP ? left : GROUP;
        bool in_place = e->to_place == *first && e->capacity - e->at >= GROUP_CAPACITY;
        *dst = in_place ? e->dst + e->at : coded;
    }
    pthread_mutex_unlock(&e->lock);
    return took;
}

/* The first chunk that this thread will probably take next, for prefetching. Every thread that
 * places a group before this one takes another group first. */
static size_t likely_next(struct encoder *e, size_t first)
{
    pthread_mutex_lock(&e->lock);
    const size_t next = e->next + (first - e->to_place);
    pthread_mutex_unlock(&e->lock);
    return next;
}

/* Would the errors exceed rmse even if all other chunks were exact? */
static bool errors_too_far(const struct encoder *e)
{
    struct zmpi_errors most = {e->errors.squares, e->plan->bytes / e->plan->width};
    return e->rmse > 0 && !zmpi_errors_within(&most, e->job->abs_bound, e->rmse);
}

/* Waits until all groups before this one are placed. Returns the group's place, or NULL if a thread
 * failed. */
static unsigned char *place_group(struct encoder *e, size_t first, size_t end, size_t size,
                                  size_t saved, const struct zmpi_errors *errors)
{
    unsigned char *place = NULL;
    pthread_mutex_lock(&e->lock);
    while (e->to_place != first && !stopped(e))
        pthread_cond_wait(&e->moved, &e->lock);
    if (!stopped(e) && e->capacity - e->at < size)
        e->status = ZMPI_ERR_SPACE;
    if (!stopped(e)) {
        e->errors.squares += errors->squares;
        e->errors.count += errors->count;
        e->too_far = errors_too_far(e);
    }
    if (!stopped(e)) {
        place = e->dst + e->at;
        e->at += size;
        e->saved += saved;
        e->to_place = end;
    }
    pthread_cond_broadcast(&e->moved);
    pthread_mutex_unlock(&e->lock);
    return place;
}

static void encode_groups(void *context)
{
    struct encoder *e = context;
    size_t first, end;
    unsigned char *dst, *place;
    struct workspace *work = aligned_alloc(64, sizeof *work);
    if (!work)
        return; /* no memory: other threads may have some */
    const size_t *tile = e->plan->tile, row = tile[2] * e->plan->width;
    const size_t plane = tile[0] > 1 ? tile[1] * row : 0;
    zmpi_chunk_work_init(&work->chunk, plane, plane ? row + plane : 0);
    work->chunk.keep = e->books;
    work->chunk.cached = e->job->read > 0 && e->job->read <= CACHED_BYTES;
    work->huffman.book = NULL;
    work->huffman.rule = e->rule;
    while (take_group(e, work->coded, &first, &end, &dst)) {
        size_t size = 0, saved = 0;
        struct zmpi_errors errors = {0, 0};
        for (size_t k = first; k < end; k++) {
            const size_t next = k + 1 < end ? k + 1 : likely_next(e, first);
            size += encode_chunk(e, k, next, work, dst + size, &saved, &errors);
        }
        place = place_group(e, first, end, size, saved, &errors);
        if (!place)
            break;
        if (place != dst)
            memcpy(place, dst, size);
    }
    free(work);
}

/* ---- the books of a stream ---- */

/* zmpi_sample_fn */
static size_t encode_sample(const void *context, size_t k, struct zmpi_chunk_work *work,
                            unsigned char *dst, size_t *words)
{
    const struct encoder *e = context;
    size_t extent[3];
    struct zmpi_rows rows;
    size_t size = encode_fle(e, k, e->plan->chunks, extent, &rows, work, dst);
    *words = extent[0] * extent[1] * extent[2];
    return size;
}

/* The result of compress_chunks. */
struct outcome {
    size_t length, books; /* bytes: of the stream; of its books */
    bool within;          /* the errors' root mean square is within the limit, if there is one */
};

static enum zmpi_status encode_all(struct encoder *e, size_t head)
{
    const struct zmpi_plan *p = e->plan;
    size_t groups = (p->chunks + GROUP - 1) / GROUP;
    e->at = head;
    if (e->capacity < head)
        return ZMPI_ERR_SPACE;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->moved, NULL);
    zmpi_pool_run(groups < (size_t)e->job->threads ? (int)groups : e->job->threads, encode_groups,
                  e);
    pthread_cond_destroy(&e->moved);
    pthread_mutex_destroy(&e->lock);
    if (!stopped(e) && e->to_place < p->chunks)
        e->status = ZMPI_ERR_MEMORY;
    return e->status;
}

/* *worth: the books save at least as many bytes as they take. */
static enum zmpi_status encode_books(struct encoder *e, bool own, struct outcome *o, bool *worth)
{
    struct zmpi_huffman_plan books;
    const size_t head = zmpi_plan_head(e->plan);
    const enum zmpi_huffman_sort sort =
        e->job->variant == ZMPI_VARIANT_APPROXIMATE ? ZMPI_SORT_APPROXIMATE : ZMPI_SORT_EXACT;
    enum zmpi_status status = zmpi_huffman_choose(e->plan->chunks, e->plan->width, e->job->threads,
                                                  own, sort, encode_sample, e, &books);
    if (status)
        return status;
    e->books = &books;
    o->books = books.size;
    status = encode_all(e, head + books.size);
    *worth = !books.size || (!status && e->saved >= books.size) || e->too_far;
    if (!status)
        memcpy(e->dst + head, books.bytes, books.size);
    zmpi_huffman_plan_free(&books);
    return status;
}

static enum zmpi_status compress_chunks(const struct zmpi_plan *p, const struct zmpi_job *job,
                                        unsigned char *dst, size_t capacity,
                                        const unsigned char *src, struct outcome *o)
{
    struct zmpi_chunk_rule rule, by_unit;
    bool worth = true;
    const bool whole = job->unit > 0 && zmpi_whole_rule(job, &by_unit);
    zmpi_plan_rule(job, &rule);
    rule.axes = job->axes ? job->axes & 7 : zmpi_plan_axes(p, whole ? &by_unit : &rule, src);
    struct encoder e = {.grids = zmpi_rewritten_grids(job, &rule),
                        .plan = p,
                        .job = job,
                        .rule = &rule,
                        .src = src,
                        .dst = dst,
                        .capacity = capacity};
    if (whole) {
        by_unit.axes = rule.axes;
        e.whole = &by_unit;
    }
    if (rule.levels && job->abs_bound > job->finer[1])
        e.rmse = job->finer[1];
    const struct encoder begin = e;
    enum zmpi_status status;
    *o = (struct outcome){0};
    if (job->encoder == ZMPI_HUFFMAN) {
        status = encode_books(&e, true, o, &worth);
        if (!worth) {
            e = begin;
            status = encode_books(&e, false, o, &worth);
        }
    } else {
        status = encode_all(&e, zmpi_plan_head(p));
    }
    o->within =
        e.rmse > 0 ? !e.too_far && zmpi_errors_within(&e.errors, job->abs_bound, e.rmse) : true;
    o->length = e.at;
    return status;
}

/* Compresses by the job's bound. If the errors turn out too large, a finer bound becomes the
 * job's. */
static enum zmpi_status compress_within(const struct zmpi_plan *p, struct zmpi_job *job,
                                        unsigned char *dst, size_t capacity,
                                        const unsigned char *src, struct outcome *o)
{
    enum zmpi_status status = compress_chunks(p, job, dst, capacity, src, o);
    for (int i = 0; i < 2 && !status && !o->within; i++) {
        job->abs_bound = job->finer[i];
        status = compress_chunks(p, job, dst, capacity, src, o);
    }
    return status;
}

enum zmpi_status zmpi_chunks_compress(int encoder, const struct zmpi_plan *p,
                                      const struct zmpi_job *job, void *dst, size_t dst_capacity,
                                      const void *src, size_t *size)
{
    struct zmpi_job used = *job;
    struct outcome made;
    used.encoder = encoder;
    if (dst_capacity < zmpi_plan_head(p))
        return ZMPI_ERR_SPACE;
    enum zmpi_status status = compress_within(p, &used, dst, dst_capacity, src, &made);
    if (status)
        return status;
    zmpi_plan_header(p, &used, made.books, made.length, dst);
    *size = made.length;
    return ZMPI_OK;
}

/* compress_interp.c - see compress_interp.h. */
#include "stream/compress_interp.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/pool.h"
#include "bound/errors.h"
#include "bound/rewritten.h"
#include "interp/interp.h"
#include "kernels/kernels.h"
#include "layout/fills.h"
#include "layout/plan_rows.h"
#include "stream/interp_unit.h"

/* Smaller arrays do not pay for this encoder. */
enum { LEAST = 8192 };

/* A coded chunk. Each thread has two, so that it codes the next one while others code those before:
 * threads that waited for each other would be as slow as the slowest one. */
struct coded {
    unsigned char *bytes;
    size_t k, size;
    uint32_t hash;
    bool waits; /* for its place */
    struct zmpi_errors errors;
};

/*
 * Threads take chunks in order. Whoever codes the first chunk without a place places it, and those
 * behind it that are coded, so that the bytes are the same for any number of threads.
 */
struct coder {
    const struct zmpi_plan *plan;
    const struct zmpi_job *job;
    const struct zmpi_interp_rule *rule;
    double rmse; /* psnr: the largest root mean square of the errors; 0: no limit */
    const unsigned char *src;
    unsigned char *dst;
    size_t capacity;
    struct zmpi_interp_work *work[ZMPI_INTERP_BRANCHES]; /* of the first threads */

    pthread_mutex_t lock;
    pthread_cond_t moved; /* `to_place` or `status` changed */
    size_t next;          /* first chunk that no thread has taken */
    size_t to_place;      /* first chunk without a place */
    size_t at;            /* the place of that chunk */
    struct coded **coded; /* chunk k is in number k % slots, if it waits for its place */
    size_t slots;         /* two for each thread */
    int threads;          /* that have begun */
    enum zmpi_status status;
    struct zmpi_errors errors; /* of the placed chunks */
};

/* Returns a workspace for the next thread, which frees it; NULL: no memory. */
static struct zmpi_interp_work *take_work(struct coder *c)
{
    struct zmpi_interp_work *work = NULL;
    const struct zmpi_interp_rule *r = c->rule;
    pthread_mutex_lock(&c->lock);
    if (c->threads < ZMPI_INTERP_BRANCHES) {
        work = c->work[c->threads];
        c->work[c->threads++] = NULL;
    }
    pthread_mutex_unlock(&c->lock);
    return work ? zmpi_interp_work_for(work, c->plan->tile, r->set)
                : zmpi_interp_work_new(c->plan->tile, r->set, r->sets, true);
}

static bool take(struct coder *c, size_t *k)
{
    pthread_mutex_lock(&c->lock);
    const bool took = c->next < c->plan->chunks && !c->status;
    if (took)
        *k = c->next++;
    pthread_mutex_unlock(&c->lock);
    return took;
}

/* Places all chunks whose turn it is. With the lock held. */
static void place(struct coder *c)
{
    struct coded *d;
    while (!c->status && (d = c->coded[c->to_place % c->slots]) != NULL) {
        unsigned char *entry = c->dst + ZMPI_STREAM_HEADER_BYTES + 8 * d->k;
        if (c->capacity - c->at < d->size) {
            c->status = ZMPI_ERR_SPACE;
            break;
        }
        memcpy(c->dst + c->at, d->bytes, d->size);
        zmpi_store32(entry, (uint32_t)d->size);
        zmpi_store32(entry + 4, d->hash);
        c->at += d->size;
        c->errors.squares += d->errors.squares;
        c->errors.count += d->errors.count;
        c->coded[c->to_place++ % c->slots] = NULL;
        d->waits = false;
    }
    pthread_cond_broadcast(&c->moved);
}

/* Hands a coded chunk over. */
static void put(struct coder *c, struct coded *d)
{
    d->hash = (uint32_t)zmpi_kernels()->hash(d->bytes, d->size);
    pthread_mutex_lock(&c->lock);
    d->waits = true;
    c->coded[d->k % c->slots] = d;
    place(c);
    pthread_mutex_unlock(&c->lock);
}

/* Waits until a chunk has its place. */
static void wait_for(struct coder *c, const struct coded *d)
{
    pthread_mutex_lock(&c->lock);
    while (d->waits && !c->status)
        pthread_cond_wait(&c->moved, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static void code_chunks(void *context)
{
    struct coder *c = context;
    const struct zmpi_plan *p = c->plan;
    const size_t words = p->tile[0] * p->tile[1] * p->tile[2];
    struct zmpi_interp_work *work = take_work(c);
    const size_t most = zmpi_interp_chunk_most(words, p->width);
    unsigned char *bytes = malloc(2 * most);
    unsigned char *decoded = c->rmse > 0 ? malloc(words * p->width) : NULL;
    struct coded coded[2] = {{.bytes = bytes}, {.bytes = bytes + most}}, *d = coded;
    const bool ready = work && bytes && (decoded || !(c->rmse > 0));
    while (ready && take(c, &d->k)) {
        size_t at[3], extent[3];
        zmpi_plan_place(p, d->k, at);
        const struct zmpi_rows rows = zmpi_plan_rows(p, at, c->src, extent);
        d->size = zmpi_interp_encode(work, c->rule, 0, extent, &rows, d->bytes, decoded);
        d->errors = (struct zmpi_errors){0, 0};
        if (decoded) {
            zmpi_errors_add(&d->errors, p->type, &rows, extent, decoded, c->job->abs_bound,
                            c->job->keep);
            d->errors.count -=
                zmpi_fills_count(&c->job->fills, p->type, extent, &rows, c->job->keep);
        }
        put(c, d);
        d = d == coded ? coded + 1 : coded;
        wait_for(c, d);
    }
    wait_for(c, &coded[0]);
    wait_for(c, &coded[1]);
    free(decoded);
    free(bytes);
    zmpi_interp_work_free(work);
}

/* Chooses and codes; as below. */
static enum zmpi_status code(struct coder *c, size_t *size, bool *within, bool *known)
{
    const struct zmpi_job *job = c->job;
    struct zmpi_plan p;
    struct zmpi_interp_rule rule;
    struct zmpi_chunk_rule steps;
    unsigned char parameters[ZMPI_INTERP_HEAD];
    bool tells;
    rule.unit = zmpi_interp_find_unit(job, c->src, &tells);
    enum zmpi_status status = zmpi_plan_make(&job->array, &p);
    if (!status)
        status = zmpi_interp_choose(&p, job, c->src, tells, &rule, known, c->work);
    if (status)
        return status;
    zmpi_chunk_rule_make(&steps, p.type, job->abs_bound, job->keep);
    const struct zmpi_grids grids = zmpi_rewritten_grids(job, &steps);
    if (job->rewritten && job->bound.mode == ZMPI_ABS)
        rule.grids = &grids;
    const size_t books = zmpi_interp_save(&rule, parameters);
    c->plan = &p;
    c->rule = &rule;
    c->at = zmpi_plan_head(&p) + books;
    if (c->capacity < c->at)
        return ZMPI_ERR_SPACE;
    if (job->abs_bound > job->finer[1])
        c->rmse = job->finer[1];
    const int threads = p.chunks < (size_t)job->threads ? (int)p.chunks : job->threads;
    c->slots = 2 * (size_t)threads;
    c->coded = calloc(c->slots, sizeof *c->coded);
    if (!c->coded)
        return ZMPI_ERR_MEMORY;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->moved, NULL);
    zmpi_pool_run(threads, code_chunks, c);
    free(c->coded);
    pthread_cond_destroy(&c->moved);
    pthread_mutex_destroy(&c->lock);
    if (!c->status && c->to_place < p.chunks)
        c->status = ZMPI_ERR_MEMORY;
    if (c->status)
        return c->status;
    *within = !(c->rmse > 0) || zmpi_errors_within(&c->errors, job->abs_bound, c->rmse);
    memcpy(c->dst + zmpi_plan_head(&p), parameters, books);
    zmpi_plan_header(&p, job, books, c->at, c->dst);
    *size = c->at;
    return ZMPI_OK;
}

/* Compresses by the job's bound. *within: the errors are small enough for the job's psnr. */
static enum zmpi_status compress(const struct zmpi_job *job, unsigned char *dst, size_t capacity,
                                 const unsigned char *src, size_t *size, bool *within, bool *known)
{
    struct coder c = {.job = job, .src = src, .dst = dst, .capacity = capacity};
    const enum zmpi_status status = code(&c, size, within, known);
    for (int k = 0; k < ZMPI_INTERP_BRANCHES; k++)
        zmpi_interp_work_free(c.work[k]);
    return status;
}

static bool takes(const struct zmpi_job *job)
{
    size_t bytes;
    return (job->array.type == ZMPI_F32 || job->array.type == ZMPI_F64) &&
           !zmpi_array_bytes(&job->array, &bytes) && bytes >= LEAST && job->unit == 0 &&
           job->bound.mode != ZMPI_PW_REL && isfinite(job->abs_bound) &&
           zmpi_interp_unit(job->abs_bound) > 0;
}

enum zmpi_status zmpi_interp_compress(const struct zmpi_job *job, unsigned char *dst,
                                      size_t capacity, const unsigned char *src, size_t *size,
                                      bool *known)
{
    struct zmpi_job used = *job;
    bool within = false;
    if (!takes(job))
        return ZMPI_ERR_UNSUPPORTED;
    enum zmpi_status status = compress(&used, dst, capacity, src, size, &within, known);
    for (int i = 0; i < 2 && !status && !within; i++) {
        used.abs_bound = job->finer[i];
        status = compress(&used, dst, capacity, src, size, &within, known);
    }
    return status;
}

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

/*
 * Threads take chunks in order and place them in order, so that the bytes are the same for any
 * number of threads.
 */
struct coder {
    const struct zmpi_plan *plan;
    const struct zmpi_job *job;
    const struct zmpi_interp_rule *rule;
    double rmse; /* psnr: the largest root mean square of the errors; 0: no limit */
    const unsigned char *src;
    unsigned char *dst;
    size_t capacity;

    pthread_mutex_t lock;
    pthread_cond_t moved;                                /* `to_place` or `status` changed */
    size_t next;                                         /* first chunk that no thread has taken */
    size_t to_place;                                     /* first chunk without a place */
    size_t at;                                           /* the place of that chunk */
    struct zmpi_interp_work *work[ZMPI_INTERP_BRANCHES]; /* of the first threads */
    int threads;                                         /* that have begun */
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

/* Waits until all chunks before this one are placed. */
static void place(struct coder *c, size_t k, const unsigned char *coded, size_t size,
                  const struct zmpi_errors *errors)
{
    pthread_mutex_lock(&c->lock);
    while (c->to_place != k && !c->status)
        pthread_cond_wait(&c->moved, &c->lock);
    if (!c->status && c->capacity - c->at < size)
        c->status = ZMPI_ERR_SPACE;
    if (!c->status) {
        unsigned char *entry = c->dst + ZMPI_STREAM_HEADER_BYTES + 8 * k;
        memcpy(c->dst + c->at, coded, size);
        zmpi_store32(entry, (uint32_t)size);
        zmpi_store32(entry + 4, (uint32_t)zmpi_kernels()->hash(coded, size));
        c->at += size;
        c->to_place = k + 1;
        c->errors.squares += errors->squares;
        c->errors.count += errors->count;
    }
    pthread_cond_broadcast(&c->moved);
    pthread_mutex_unlock(&c->lock);
}

static void code_chunks(void *context)
{
    struct coder *c = context;
    const struct zmpi_plan *p = c->plan;
    const size_t words = p->tile[0] * p->tile[1] * p->tile[2];
    struct zmpi_interp_work *work = take_work(c);
    unsigned char *coded = malloc(zmpi_interp_chunk_most(words, p->width));
    unsigned char *decoded = c->rmse > 0 ? malloc(words * p->width) : NULL;
    size_t k;
    const bool ready = work && coded && (decoded || !(c->rmse > 0));
    while (ready && take(c, &k)) {
        struct zmpi_errors errors = {0, 0};
        size_t at[3], extent[3];
        zmpi_plan_place(p, k, at);
        const struct zmpi_rows rows = zmpi_plan_rows(p, at, c->src, extent);
        const size_t size = zmpi_interp_encode(work, c->rule, 0, extent, &rows, coded, decoded);
        if (decoded) {
            zmpi_errors_add(&errors, p->type, &rows, extent, decoded, c->job->abs_bound,
                            c->job->keep);
            errors.count -= zmpi_fills_count(&c->job->fills, p->type, extent, &rows, c->job->keep);
        }
        place(c, k, coded, size, &errors);
    }
    free(decoded);
    free(coded);
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
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->moved, NULL);
    zmpi_pool_run(p.chunks < (size_t)job->threads ? (int)p.chunks : job->threads, code_chunks, c);
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

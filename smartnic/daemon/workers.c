/* workers.c - the threads of zmpi-nicd that run the engine. */
#include "daemon/nicd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

/* The block goes on to later calls, which have more to put into it. */
static void keep_stream(struct nicd_request *r, struct nic_reply *reply)
{
    const size_t size = (size_t)reply->size;
    r->stream = malloc(size);
    if (!r->stream) {
        reply->outcome = NIC_BUSY;
        return;
    }
    r->stream_size = size;
    memcpy(r->stream, r->out->at, size);
    memcpy(reply->head, r->stream, sizeof reply->head);
    memcpy(reply->tail, r->stream + size - sizeof reply->tail, sizeof reply->tail);
    reply->outcome = NIC_HELD;
}

/* Decodes the whole array, which must be as large as the client says. */
static struct nic_reply decode(const struct nicd *s, struct nicd_request *r, unsigned threads)
{
    struct nic_reply reply = {.outcome = NIC_DONE};
    struct zmpi_stream_info info;
    const size_t bytes = (size_t)r->m.out.bytes, size = (size_t)r->m.raw.bytes;
    reply.status = zmpi_stream_info(r->in->at, size, &info);
    if (!reply.status && info.decoded_bytes != bytes)
        reply.status = ZMPI_ERR_CORRUPT;
    if (!reply.status)
        reply.status = s->set.engine->decompress(r->out->at, bytes, r->in->at, size, (int)threads);
    if (!reply.status) {
        reply.size = bytes;
        reply.hash = zmpi_hash(r->out->at, bytes, 0);
    }
    return reply;
}

static struct nic_reply compress(const struct nicd *s, struct nicd_request *r, unsigned threads)
{
    struct nic_reply reply = {.outcome = NIC_DONE};
    struct zmpi_job job = r->m.job;
    size_t size = 0;
    const int error = r->m.file_bytes ? nicd_file_find(r) : 0;
    if (error)
        return (struct nic_reply){.outcome = NIC_NOT_WRITTEN, .size = (uint64_t)error};
    job.threads = (int)threads;
    reply.status =
        s->set.engine->compress(&job, r->out->at, (size_t)r->m.out.bytes, r->in->at, &size);
    if (!reply.status && size > r->m.out.bytes) /* an engine's error must not reach the client */
        reply.status = ZMPI_ERR_DEVICE;
    if (!reply.status) {
        reply.size = size;
        reply.hash = zmpi_hash(r->out->at, size, 0);
        if (r->m.file_bytes)
            keep_stream(r, &reply);
    }
    return reply;
}

static struct nic_reply work(const struct nicd *s, struct nicd_request *r, unsigned threads)
{
    if (r->has_place)
        return nicd_file_write(r);
    if (zmpi_hash(r->in->at, r->m.raw.bytes + r->m.file_bytes, 0) != r->m.raw_hash)
        return (struct nic_reply){.outcome = NIC_LOST};
    return r->m.decode ? decode(s, r, threads) : compress(s, r, threads);
}

/* The next request, and how many threads it may use: all, if there is nothing else to do. NULL: the
 * daemon ends. */
static struct nicd_request *next(struct nicd *s, unsigned *threads)
{
    pthread_mutex_lock(&s->lock);
    while (!s->ready && !s->stop)
        pthread_cond_wait(&s->work, &s->lock);
    struct nicd_request *r = s->stop ? NULL : s->ready;
    if (r) {
        s->ready = r->next;
        if (!s->ready)
            s->ready_end = &s->ready;
        s->ready_count--;
        s->running++;
        *threads = s->running + s->ready_count > 1 ? 1 : s->thread_count;
    }
    pthread_mutex_unlock(&s->lock);
    return r;
}

static void *run(void *context)
{
    struct nicd *s = context;
    struct nicd_request *r;
    unsigned threads;
    while ((r = next(s, &threads)) != NULL) {
        const uint64_t one = 1;
        r->reply = work(s, r, threads);
        pthread_mutex_lock(&s->lock);
        s->running--;
        r->next = s->finished;
        s->finished = r;
        pthread_mutex_unlock(&s->lock);
        ssize_t written = write(s->event, &one, sizeof one);
        (void)written; /* it fails only if the counter is full: then its reader will wake up */
    }
    return NULL;
}

void nicd_work(struct nicd *s, struct nicd_request *r)
{
    pthread_mutex_lock(&s->lock);
    r->next = NULL;
    *s->ready_end = r;
    s->ready_end = &r->next;
    s->ready_count++;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
}

bool nicd_workers_start(struct nicd *s)
{
    s->thread = calloc(s->set.threads, sizeof *s->thread);
    if (!s->thread)
        return false;
    pthread_mutex_lock(&s->lock); /* each worker may use all CPUs */
    while (s->thread_count < s->set.threads &&
           pthread_create(&s->thread[s->thread_count], NULL, run, s) == 0)
        s->thread_count++;
    pthread_mutex_unlock(&s->lock);
    return s->thread_count > 0;
}

void nicd_workers_stop(struct nicd *s)
{
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
    for (unsigned i = 0; i < s->thread_count; i++)
        pthread_join(s->thread[i], NULL);
    free(s->thread);
}

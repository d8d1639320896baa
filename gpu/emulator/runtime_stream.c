/* The fake CUDA runtime: streams and events. Nothing runs by itself: who waits runs what is waited
 * for, on its own thread; so work is done as late as it may. Or, when that is asked for, some of it
 * any time before, in whatever order the streams allow. Streams and events are never freed, since
 * others may refer to them; a destroyed one is refused. */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct zmpi_emu_event {
    struct zmpi_emu_event *next;
    const struct zmpi_emu_context *context;
    int live;
    unsigned flags;
    struct zmpi_emu_stream *stream; /* where it was recorded last */
    uint64_t number;                /* of that work; 0: never recorded */
    int done;
    struct timespec time;
};

static struct zmpi_emu_stream legacy = {.live = 1, .last = &legacy.first};
static struct zmpi_emu_stream *streams = &legacy; /* all */
static struct zmpi_emu_event *events;
static uint64_t queued; /* work so far */
static uint64_t early;  /* 0: as late as it may; else what decides when */
static struct zmpi_emu_overlaps overlaps;

struct zmpi_emu_stream *zmpi_rt_stream(cudaStream_t stream)
{
    if (stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return &legacy;
    for (struct zmpi_emu_stream *s = streams; s != NULL; s = s->next)
        if (s == stream && s->live && s != &legacy)
            return s;
    return NULL;
}

void zmpi_rt_queue(struct zmpi_emu_stream *stream, struct work *work)
{
    work->next = NULL;
    work->number = ++queued;
    *stream->last = work;
    stream->last = &work->next;
}

/* ---- what waits for what ---- */

static void run_until(struct zmpi_emu_stream *stream, uint64_t number);

/* The legacy stream and the ordinary ones wait for what was queued in each other before. */
static void run_what_comes_before(struct zmpi_emu_stream *stream, const struct work *work)
{
    const uint64_t before = work->number - 1;
    if (work->after != NULL)
        run_until(work->after, work->after_number);
    if (stream != &legacy && stream->flags != cudaStreamNonBlocking)
        run_until(&legacy, before);
    for (struct zmpi_emu_stream *s = streams; stream == &legacy && s != NULL; s = s->next)
        if (s != &legacy && s->flags != cudaStreamNonBlocking)
            run_until(s, before);
}

/* Does a copy of that stream wait for nothing that has not been done? */
static int copy_is_free(const struct zmpi_emu_stream *stream)
{
    for (const struct work *w = stream->first; w != NULL; w = w->next) {
        if (w->copies)
            return 1;
        if (w->kernel || (w->after != NULL && w->after->first != NULL &&
                          w->after->first->number <= w->after_number))
            return 0;
    }
    return 0;
}

/* A kernel is about to run: which copies of other streams might the device make meanwhile? */
static void note_overlaps(const struct zmpi_emu_stream *stream)
{
    int up = 0, down = 0;
    for (const struct zmpi_emu_stream *s = streams; s != NULL; s = s->next)
        if (s != stream && s != &legacy && copy_is_free(s)) {
            const struct work *w = s->first;
            while (!w->copies)
                w = w->next;
            up |= w->copies == COPY_UP;
            down |= w->copies == COPY_DOWN;
        }
    overlaps.kernels++;
    overlaps.up += (unsigned)up;
    overlaps.down += (unsigned)down;
}

void zmpi_emu_take_overlaps(struct zmpi_emu_overlaps *taken)
{
    *taken = overlaps;
    overlaps = (struct zmpi_emu_overlaps){0};
}

static void run_first(struct zmpi_emu_stream *stream)
{
    struct work *work = stream->first;
    run_what_comes_before(stream, work);
    if (work->kernel)
        note_overlaps(stream);
    stream->first = work->next;
    if (stream->first == NULL)
        stream->last = &stream->first;
    if (zmpi_rt_stuck() == cudaSuccess)
        work->run(work);
    work->destroy(work);
}

static void run_until(struct zmpi_emu_stream *stream, uint64_t number)
{
    while (stream->first != NULL && stream->first->number <= number)
        run_first(stream);
}

unsigned zmpi_emu_queued(void)
{
    unsigned count = 0;
    for (const struct zmpi_emu_stream *s = streams; s != NULL; s = s->next)
        for (const struct work *w = s->first; w != NULL; w = w->next)
            count++;
    return count;
}

/* ---- time ---- */

void zmpi_emu_set_early(uint64_t seed)
{
    early = seed * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t next_early(uint64_t n)
{
    early = early * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (early >> 33) % n;
}

/* Up to three pieces of work, each of any stream. */
void zmpi_rt_pass_time(void)
{
    uint64_t count = 0;
    if (early == 0)
        return;
    for (const struct zmpi_emu_stream *s = streams; s != NULL; s = s->next)
        count++;
    for (uint64_t turns = next_early(4); turns > 0; turns--) {
        struct zmpi_emu_stream *s = streams;
        for (uint64_t i = next_early(count); i > 0; i--)
            s = s->next;
        if (s->first != NULL)
            run_first(s);
    }
}

cudaError_t zmpi_rt_wait(struct zmpi_emu_stream *stream)
{
    run_until(stream, queued);
    return zmpi_rt_stuck();
}

cudaError_t zmpi_rt_wait_all(void)
{
    for (struct zmpi_emu_stream *s = streams; s != NULL; s = s->next)
        run_until(s, queued);
    return zmpi_rt_stuck();
}

void zmpi_rt_end_streams(const struct zmpi_emu_context *context)
{
    for (struct zmpi_emu_stream *s = streams; s != NULL; s = s->next)
        s->live &= s->context != context;
    for (struct zmpi_emu_event *e = events; e != NULL; e = e->next)
        e->live &= e->context != context;
}

/* ---- streams ---- */

static cudaError_t new_stream(cudaStream_t *stream, unsigned flags)
{
    if (flags != cudaStreamDefault && flags != cudaStreamNonBlocking)
        return cudaErrorInvalidValue;
    struct zmpi_emu_stream *s = calloc(1, sizeof *s);
    if (s == NULL)
        return cudaErrorMemoryAllocation;
    *s = (struct zmpi_emu_stream){.next = streams,
                                  .context = zmpi_rt_context(),
                                  .live = 1,
                                  .flags = flags,
                                  .last = &s->first};
    streams = *stream = s;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = new_stream(stream, cudaStreamDefault);
    return zmpi_rt_leave(e);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = new_stream(stream, flags);
    return zmpi_rt_leave(e);
}

cudaError_t zmpi_rt_known_stream(cudaStream_t handle, struct zmpi_emu_stream **stream)
{
    *stream = zmpi_rt_stream(handle);
    return *stream == NULL ? cudaErrorInvalidResourceHandle : cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    struct zmpi_emu_stream *stream;
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = zmpi_rt_known_stream(handle, &stream);
    if (e == cudaSuccess && stream == &legacy)
        e = cudaErrorInvalidResourceHandle;
    if (e == cudaSuccess) {
        e = zmpi_rt_wait(stream);
        stream->live = 0;
    }
    return zmpi_rt_leave(e);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    struct zmpi_emu_stream *stream;
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = zmpi_rt_known_stream(handle, &stream);
    if (e == cudaSuccess)
        e = zmpi_rt_wait(stream);
    return zmpi_rt_leave(e);
}

/* Who asks again and again gets one piece of work done each time. */
cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    struct zmpi_emu_stream *stream;
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = zmpi_rt_known_stream(handle, &stream);
    if (e == cudaSuccess && stream->first != NULL) {
        run_first(stream);
        e = zmpi_rt_stuck() != cudaSuccess ? zmpi_rt_stuck() : cudaErrorNotReady;
    }
    return zmpi_rt_leave(e);
}

/* ---- events ---- */

static cudaError_t known_event(cudaEvent_t event)
{
    for (const struct zmpi_emu_event *e = events; e != NULL; e = e->next)
        if (e == event)
            return e->live ? cudaSuccess : cudaErrorInvalidResourceHandle;
    return cudaErrorInvalidResourceHandle;
}

static cudaError_t new_event(cudaEvent_t *event, unsigned flags)
{
    if ((flags & ~(cudaEventBlockingSync | cudaEventDisableTiming)) != 0)
        return cudaErrorInvalidValue;
    struct zmpi_emu_event *e = calloc(1, sizeof *e);
    if (e == NULL)
        return cudaErrorMemoryAllocation;
    *e = (struct zmpi_emu_event){
        .next = events, .context = zmpi_rt_context(), .live = 1, .flags = flags};
    events = *event = e;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = new_event(event, cudaEventDefault);
    return zmpi_rt_leave(e);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = new_event(event, flags);
    return zmpi_rt_leave(e);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = known_event(event);
    if (e == cudaSuccess)
        event->live = 0;
    return zmpi_rt_leave(e);
}

struct event_work {
    struct work work;
    struct zmpi_emu_event *event; /* NULL: only waits for what comes before */
};

static void run_event(struct work *work)
{
    struct zmpi_emu_event *event = ((struct event_work *)work)->event;
    if (event != NULL && event->number == work->number) { /* not recorded again since */
        clock_gettime(CLOCK_MONOTONIC, &event->time);
        event->done = 1;
    }
}

static void destroy_event(struct work *work)
{
    free(work);
}

static struct work *new_event_work(struct zmpi_emu_event *event)
{
    struct event_work *work = calloc(1, sizeof *work);
    if (work == NULL)
        return NULL;
    *work = (struct event_work){{.run = run_event, .destroy = destroy_event}, event};
    return &work->work;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle)
{
    struct zmpi_emu_stream *stream;
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = known_event(event);
    if (e == cudaSuccess)
        e = zmpi_rt_known_stream(handle, &stream);
    if (e == cudaSuccess && stream != &legacy && stream->context != event->context)
        e = cudaErrorInvalidResourceHandle;
    struct work *work = e == cudaSuccess ? new_event_work(event) : NULL;
    if (e == cudaSuccess && work == NULL)
        e = cudaErrorMemoryAllocation;
    if (e == cudaSuccess) {
        zmpi_rt_queue(stream, work);
        event->stream = stream;
        event->number = work->number;
        event->done = 0;
    }
    return zmpi_rt_leave(e);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags)
{
    struct zmpi_emu_stream *stream;
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = known_event(event);
    if (e == cudaSuccess)
        e = zmpi_rt_known_stream(handle, &stream);
    if (e == cudaSuccess && flags != 0)
        e = cudaErrorInvalidValue;
    if (e == cudaSuccess && event->number != 0 && !event->done) {
        struct work *work = new_event_work(NULL);
        if (work == NULL) {
            e = cudaErrorMemoryAllocation;
        } else {
            work->after = event->stream;
            work->after_number = event->number;
            zmpi_rt_queue(stream, work);
        }
    }
    return zmpi_rt_leave(e);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = known_event(event);
    if (e == cudaSuccess && event->number != 0 && !event->done) {
        run_until(event->stream, event->number);
        e = zmpi_rt_stuck();
    }
    return zmpi_rt_leave(e);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = known_event(event);
    if (e == cudaSuccess && event->number != 0 && !event->done) {
        if (event->stream->first != NULL) /* NULL: dropped by an error, and the device was reset */
            run_first(event->stream);
        e = zmpi_rt_stuck() != cudaSuccess ? zmpi_rt_stuck() : cudaErrorNotReady;
    }
    return zmpi_rt_leave(e);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop)
{
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = known_event(start);
    if (e == cudaSuccess)
        e = known_event(stop);
    if (e == cudaSuccess && (start->number == 0 || stop->number == 0 ||
                             ((start->flags | stop->flags) & cudaEventDisableTiming) != 0))
        e = cudaErrorInvalidResourceHandle;
    if (e == cudaSuccess && (!start->done || !stop->done))
        e = cudaErrorNotReady;
    if (e == cudaSuccess)
        *milliseconds = (float)(1e3 * (double)(stop->time.tv_sec - start->time.tv_sec) +
                                1e-6 * (double)(stop->time.tv_nsec - start->time.tv_nsec));
    return zmpi_rt_leave(e);
}

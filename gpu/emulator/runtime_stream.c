/* The fake CUDA runtime: the calls on streams and events. Events are never freed, since others may
 * refer to them; a destroyed one is refused. */
#include "runtime.h"

#include <stdlib.h>
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

static struct zmpi_emu_event *events;

/* ---- streams ---- */

static cudaError_t new_stream(cudaStream_t *stream, unsigned flags)
{
    if (flags != cudaStreamDefault && flags != cudaStreamNonBlocking)
        return cudaErrorInvalidValue;
    return zmpi_rt_new_stream(stream, flags);
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

cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    struct zmpi_emu_stream *stream;
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = zmpi_rt_known_stream(handle, &stream);
    if (e == cudaSuccess && zmpi_rt_is_legacy(stream))
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

/* A caller that asks again and again gets one piece of work done each time. */
cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    struct zmpi_emu_stream *stream;
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = zmpi_rt_known_stream(handle, &stream);
    if (e == cudaSuccess && stream->first != NULL) {
        zmpi_rt_run_first(stream);
        e = zmpi_rt_stuck() != cudaSuccess ? zmpi_rt_stuck() : cudaErrorNotReady;
    }
    return zmpi_rt_leave(e);
}

/* ---- events ---- */

void zmpi_rt_end_events(const struct zmpi_emu_context *context)
{
    for (struct zmpi_emu_event *e = events; e != NULL; e = e->next)
        e->live &= e->context != context;
}

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
    struct zmpi_emu_event *event; /* NULL: it only waits for earlier work */
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
    if (e == cudaSuccess && !zmpi_rt_is_legacy(stream) && stream->context != event->context)
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
        zmpi_rt_run_until(event->stream, event->number);
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
            zmpi_rt_run_first(event->stream);
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

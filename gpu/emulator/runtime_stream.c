/* The fake CUDA runtime: streams, events, launches. Nothing runs by itself: who waits runs what is
 * waited for, on its own thread. Streams and events are never freed, since others may refer to
 * them; a destroyed one is refused. */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct zmpi_emu_stream {
    struct zmpi_emu_stream *next;
    const struct zmpi_emu_context *context; /* NULL: any */
    int live;
    unsigned flags;
    struct work *first, **last; /* last: where the next one goes */
};

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

static void run_first(struct zmpi_emu_stream *stream)
{
    struct work *work = stream->first;
    run_what_comes_before(stream, work);
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

/* The stream of a call, which must be one. */
static cudaError_t known_stream(cudaStream_t handle, struct zmpi_emu_stream **stream)
{
    *stream = zmpi_rt_stream(handle);
    return *stream == NULL ? cudaErrorInvalidResourceHandle : cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    struct zmpi_emu_stream *stream;
    cudaError_t e = zmpi_rt_enter(__func__);
    if (e == cudaSuccess)
        e = known_stream(handle, &stream);
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
        e = known_stream(handle, &stream);
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
        e = known_stream(handle, &stream);
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
        e = known_stream(handle, &stream);
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
        e = known_stream(handle, &stream);
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

/* ---- launches ---- */

struct launch {
    struct work work;
    const struct zmpi_emu_context *context;
    int device;
    struct zmpi_emu_grid grid;
    _Alignas(16) char args[];
};

/* Kernels that may have more dynamic shared memory than all may. */
#define MAX_ALLOWED 64
static struct {
    zmpi_emu_kernel *kernel;
    size_t bytes;
} allowed[MAX_ALLOWED];

static const struct launch *running;

/* What a kernel stores, it stores by way of the second mapping. */
static const char *find_access(void **p, size_t size)
{
    const struct allocation *a = zmpi_rt_find(*p);
    if (a == NULL)
        return "not memory of CUDA's";
    if (a->cut_off)
        return "of a pool, and its context was reset";
    if (a->type == cudaMemoryTypeDevice &&
        (a->pooled ? a->device != running->device : a->context != running->context))
        return "memory of another context";
    const size_t offset = (size_t)((char *)*p - a->p);
    if (size > a->size - offset)
        return "over the end of an allocation";
    *p = a->writable + offset;
    return NULL;
}

static void run_launch(struct work *work)
{
    const struct launch *launch = (struct launch *)work;
    struct zmpi_emu_config config;
    const cudaError_t e = zmpi_rt_fault("kernel");
    if (e != cudaSuccess) {
        zmpi_rt_stick(e);
        return;
    }
    zmpi_emu_defaults(&config);
    config.find = find_access;
    running = launch;
    zmpi_rt_open(0);
    if (zmpi_emu_run(&config, &launch->grid) != 0) {
        fprintf(stderr, "zmpi emulator: %s\n", zmpi_emu_message());
        zmpi_rt_stick(cudaErrorLaunchFailure);
    }
    zmpi_rt_close();
}

static void destroy_launch(struct work *work)
{
    free(work);
}

static size_t shared_limit(zmpi_emu_kernel *kernel)
{
    for (unsigned i = 0; i < MAX_ALLOWED; i++)
        if (allowed[i].kernel == kernel)
            return allowed[i].bytes;
    return SHARED_DEFAULT;
}

static cudaError_t launch(const struct zmpi_emu_grid *grid, struct zmpi_emu_stream *stream)
{
    if (grid->grid == 0 || grid->grid > 0x7fffffff || grid->block == 0 || grid->block > 1024)
        return cudaErrorInvalidConfiguration;
    if (stream != &legacy && stream->context != zmpi_rt_context())
        return cudaErrorInvalidResourceHandle;
    if (grid->shared_bytes > shared_limit(grid->kernel))
        return cudaErrorInvalidValue;
    struct launch *work = malloc(sizeof *work + grid->args_size);
    if (work == NULL)
        return cudaErrorMemoryAllocation;
    work->work = (struct work){.run = run_launch, .destroy = destroy_launch};
    work->context = zmpi_rt_context();
    work->device = zmpi_rt_device();
    work->grid = *grid;
    memcpy(work->args, grid->args, grid->args_size);
    work->grid.args = work->args;
    zmpi_rt_queue(stream, &work->work);
    return cudaSuccess;
}

int zmpi_emu_launch(const struct zmpi_emu_grid *grid, struct zmpi_emu_stream *handle)
{
    struct zmpi_emu_stream *stream;
    cudaError_t e = zmpi_rt_enter("cudaLaunchKernel");
    if (e == cudaSuccess)
        e = known_stream(handle, &stream);
    if (e == cudaSuccess)
        e = launch(grid, stream);
    return (int)zmpi_rt_leave(e);
}

int zmpi_emu_allow_shared(zmpi_emu_kernel *kernel, size_t shared_bytes)
{
    cudaError_t e = zmpi_rt_enter("cudaFuncSetAttribute");
    unsigned i = 0;
    while (i < MAX_ALLOWED && allowed[i].kernel != NULL && allowed[i].kernel != kernel)
        i++;
    if (e == cudaSuccess && (i == MAX_ALLOWED || shared_bytes > SHARED_MOST))
        e = cudaErrorInvalidValue;
    if (e == cudaSuccess) {
        allowed[i].kernel = kernel;
        allowed[i].bytes = shared_bytes;
    }
    return (int)zmpi_rt_leave(e);
}

int zmpi_emu_occupancy(int *blocks, zmpi_emu_kernel *kernel, unsigned block, size_t shared_bytes)
{
    cudaError_t e = zmpi_rt_enter("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    if (e == cudaSuccess && (block == 0 || block > 1024))
        e = cudaErrorInvalidValue;
    if (e == cudaSuccess) {
        const size_t by_threads = THREADS_EACH / block;
        const size_t by_shared = SHARED_MOST / (shared_bytes + 1024);
        *blocks = shared_bytes > shared_limit(kernel) ? 0
                  : by_threads < by_shared            ? (int)by_threads
                                                      : (int)by_shared;
    }
    return (int)zmpi_rt_leave(e);
}

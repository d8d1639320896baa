/* The fake CUDA runtime: queued work of streams. Nothing runs by itself: whoever waits runs what it
 * waits for, on its own thread, so that work happens as late as possible. With a seed
 * (zmpi_emu_set_early) some work happens earlier, in an order that the streams allow. Streams are
 * never freed, because others may refer to them; a destroyed one is refused. */
#include "runtime.h"

#include <stdlib.h>

static struct zmpi_emu_stream legacy = {.live = 1, .last = &legacy.first};
static struct zmpi_emu_stream *streams = &legacy; /* all */
static uint64_t queued;                           /* work so far */
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

cudaError_t zmpi_rt_known_stream(cudaStream_t handle, struct zmpi_emu_stream **stream)
{
    *stream = zmpi_rt_stream(handle);
    return *stream == NULL ? cudaErrorInvalidResourceHandle : cudaSuccess;
}

void zmpi_rt_queue(struct zmpi_emu_stream *stream, struct work *work)
{
    work->next = NULL;
    work->number = ++queued;
    *stream->last = work;
    stream->last = &work->next;
}

/* ---- what waits for what ---- */

/* The legacy stream waits for work queued before in ordinary streams, and they wait for its work.
 */
static void run_what_comes_before(struct zmpi_emu_stream *stream, const struct work *work)
{
    const uint64_t before = work->number - 1;
    if (work->after != NULL)
        zmpi_rt_run_until(work->after, work->after_number);
    if (stream != &legacy && stream->flags != cudaStreamNonBlocking)
        zmpi_rt_run_until(&legacy, before);
    for (struct zmpi_emu_stream *s = streams; stream == &legacy && s != NULL; s = s->next)
        if (s != &legacy && s->flags != cudaStreamNonBlocking)
            zmpi_rt_run_until(s, before);
}

/* Does a copy of that stream wait only for work that is done? */
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

/* A kernel is about to run: counts the copies of other streams that the device could make
 * meanwhile. */
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

void zmpi_rt_run_first(struct zmpi_emu_stream *stream)
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

void zmpi_rt_run_until(struct zmpi_emu_stream *stream, uint64_t number)
{
    while (stream->first != NULL && stream->first->number <= number)
        zmpi_rt_run_first(stream);
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

/* Does up to three pieces of work, of any streams, where work happens early. */
static void pass_time(void)
{
    uint64_t count = 0;
    for (const struct zmpi_emu_stream *s = streams; s != NULL; s = s->next)
        count++;
    for (uint64_t turns = zmpi_rt_early(4); turns > 0; turns--) {
        struct zmpi_emu_stream *s = streams;
        for (uint64_t i = zmpi_rt_early(count); i > 0; i--)
            s = s->next;
        if (s->first != NULL)
            zmpi_rt_run_first(s);
    }
}

cudaError_t zmpi_rt_wait(struct zmpi_emu_stream *stream)
{
    zmpi_rt_run_until(stream, queued);
    return zmpi_rt_stuck();
}

cudaError_t zmpi_rt_wait_all(void)
{
    for (struct zmpi_emu_stream *s = streams; s != NULL; s = s->next)
        zmpi_rt_run_until(s, queued);
    return zmpi_rt_stuck();
}

/* ---- streams ---- */

cudaError_t zmpi_rt_new_stream(struct zmpi_emu_stream **stream, unsigned flags)
{
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

int zmpi_rt_is_legacy(const struct zmpi_emu_stream *stream)
{
    return stream == &legacy;
}

void zmpi_rt_end_streams(const struct zmpi_emu_context *context)
{
    for (struct zmpi_emu_stream *s = streams; s != NULL; s = s->next)
        s->live &= s->context != context;
}

/* ---- the beginning of a call ---- */

cudaError_t zmpi_rt_enter(const char *function)
{
    cudaError_t error = zmpi_rt_enter_without_context(function);
    if (error == cudaSuccess) {
        zmpi_rt_context();
        pass_time();
        error = zmpi_rt_stuck();
    }
    return error;
}

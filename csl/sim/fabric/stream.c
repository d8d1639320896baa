/* stream.c - the host's copies to and from colors. */
#include <string.h>

#include "sim.h"

bool csl_stream_waits(const struct pe *pe)
{
    const struct stream *c = &pe->sim->stream;
    return c->left > 0 && pe->x >= c->x && pe->x < c->x + c->w && pe->y >= c->y &&
           pe->y < c->y + c->h && pe->streamed < c->elements;
}

static bool to_device(struct pe *pe, uint32_t value)
{
    const struct stream *c = &pe->sim->stream;
    uint64_t stamp = pe->sim->now + 1;
    int queue = pe->queue_of[c->color];
    struct wavelet w = {pe->sim->now + QUEUE_LATENCY, value, c->color, false};
    if (queue < 0 || pe->link_cycle[DIR_RAMP] == stamp || !csl_queue_push(&pe->in[queue], &w))
        return false;
    pe->link_cycle[DIR_RAMP] = stamp;
    pe->counters.wavelets_in++;
    return true;
}

static bool to_host(struct pe *pe, uint32_t *value)
{
    const struct stream *c = &pe->sim->stream;
    struct queue *sink = &pe->sink[pe->sim->loader.stream[c->color] - STREAM_D2H];
    if (sink->count == 0 || sink->items[sink->head].ready > pe->sim->now)
        return false;
    if (sink->items[sink->head].control)
        csl_trap(pe, (struct pos){0}, "a control wavelet of color %u reaches the host", c->color);
    *value = sink->items[sink->head].value;
    csl_queue_pop(sink);
    return true;
}

/* Moves an element of the copy, if it can pass. */
bool csl_step_stream(struct pe *pe)
{
    struct stream *c = &pe->sim->stream;
    if (!csl_stream_waits(pe))
        return false;
    size_t row = pe->y - c->y, column = pe->x - c->x;
    uint32_t *host = c->host + (row * c->w + column) * c->elements + pe->streamed;
    if (!(c->to_device ? to_device(pe, *host) : to_host(pe, host)))
        return false;
    pe->streamed++;
    c->left--;
    return true;
}

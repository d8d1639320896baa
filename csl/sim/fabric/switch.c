/* switch.c - what a router does with control wavelets, and its filters at the ramp. */
#include "sim.h"

static bool filtered(const struct filter *f, const struct wavelet *w)
{
    uint16_t index = (uint16_t)(w->value >> 16);
    switch (f->kind) {
    case FILTER_RANGE:
        return !w->control && (index < f->min_index || index > f->max_index);
    case FILTER_COUNTER:
        if (f->only_control)
            return !w->control || f->counter != f->max;
        return f->counter > f->max;
    default:
        return false;
    }
}

static void count(struct filter *f, const struct wavelet *w)
{
    if (f->kind != FILTER_COUNTER || !(w->control ? f->count_control : f->count_data))
        return;
    f->counter = f->counter >= f->limit ? 0 : (uint16_t)(f->counter + 1);
}

uint8_t csl_ways_out(const struct route *r, const struct wavelet *w)
{
    bool ignored = w->control && (w->value & CONTROL_IGNORE);
    if (ignored || filtered(&r->filter, w))
        return r->tx & (uint8_t) ~(1u << DIR_RAMP);
    return r->tx;
}

static void go_to(struct route *r, unsigned at)
{
    r->at = (uint8_t)at;
    r->rx = r->rx_of[at];
    r->tx = r->tx_of[at];
}

/* Has the position changed? */
static bool advance(struct route *r)
{
    unsigned at = r->at, next = at + 1;
    if (next == POSITIONS || !r->valid[next])
        next = r->ring ? 0 : at;
    go_to(r, next);
    return next != at;
}

/* Removes the first command; the others move up. */
static uint32_t popped(uint32_t payload)
{
    const uint32_t commands = (1u << CONTROL_TASK_AT) - 1;
    if (payload & CONTROL_HAS_DATA)
        return payload & ~3u;
    uint32_t last = payload >> (CONTROL_TASK_AT - 3) & CONTROL_IGNORE;
    return (payload & ~commands) | (payload & commands) >> 3 | last << (CONTROL_TASK_AT - 3);
}

void csl_pass(struct pe *pe, struct route *r, struct wavelet *w)
{
    bool moved = false;
    unsigned op = w->value & 3u;
    count(&r->filter, w);
    if (!w->control)
        return;
    if (op == CONTROL_TEARDOWN)
        csl_trap(pe, (struct pos){0}, "color %u is torn down: not in the subset", w->color);
    if (op == CONTROL_ADVANCE)
        moved = advance(r);
    else if (op == CONTROL_RESET)
        go_to(r, 0);
    if (r->pop == POP_ALWAYS || (moved && r->pop != POP_NEVER) ||
        (op == CONTROL_NOP && r->pop == POP_ON_ADVANCE_NOP))
        w->value = popped(w->value);
}

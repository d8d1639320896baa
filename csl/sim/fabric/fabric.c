/* fabric.c - queues and routers: one hop a cycle, one wavelet a cycle and link, back-pressure by
 * color. */
#include "sim.h"

static const char *const direction_names[] = {"the north", "the south", "the east", "the west",
                                              "the ramp"};
static const uint8_t opposite[] = {DIR_SOUTH, DIR_NORTH, DIR_WEST, DIR_EAST, DIR_RAMP};

bool csl_queue_push(struct queue *q, const struct wavelet *w)
{
    if (q->count == q->depth)
        return false;
    q->items[(q->head + q->count++) % QUEUE_MAX] = *w;
    return true;
}

void csl_queue_pop(struct queue *q)
{
    q->head = (uint8_t)((q->head + 1) % QUEUE_MAX);
    q->count--;
}

static struct pe *neighbour(struct pe *pe, unsigned direction)
{
    struct csl_sim *sim = pe->sim;
    switch (direction) {
    case DIR_NORTH:
        return pe->y == 0 ? NULL : pe - sim->width;
    case DIR_SOUTH:
        return pe->y + 1 == sim->height ? NULL : pe + sim->width;
    case DIR_EAST:
        return pe->x + 1 == sim->width ? NULL : pe + 1;
    default:
        return pe->x == 0 ? NULL : pe - 1;
    }
}

/* The color of a wavelet in the router. Of a pair of swapped colors, both change or none. */
static uint8_t swapped(const struct pe *pe, uint8_t color, unsigned from)
{
    const struct route *r = &pe->router[color].route;
    bool x = from == DIR_EAST || from == DIR_WEST, y = from == DIR_NORTH || from == DIR_SOUTH;
    bool swap = x ? r->swap_x : y ? r->swap_y : r->swap_x && r->swap_y;
    return swap ? color ^ 1 : color;
}

/* Handles a wavelet that is at a router and came from a direction. */
static void arrive(struct pe *pe, struct wavelet w, uint8_t from)
{
    w.color = swapped(pe, w.color, from);
    struct router_color *c = &pe->router[w.color];
    uint64_t now = pe->sim->now;
    if (!c->route.set || !(c->route.rx >> from & 1))
        csl_trap(pe, (struct pos){0},
                 "a wavelet of color %u comes from %s, from where its route takes none", w.color,
                 direction_names[from]);
    if (c->last_cycle == now && c->last_from != from)
        csl_trap(pe, (struct pos){0},
                 "wavelets of color %u come from %s and from %s in the same cycle", w.color,
                 direction_names[c->last_from], direction_names[from]);
    c->last_cycle = now;
    c->last_from = from;
    w.ready = now + 1;
    c->items[(c->head + c->count++) % ROUTER_DEPTH] = w;
    pe->routed++;
    pe->colors |= 1u << w.color;
    uint64_t *due = &pe->sim->due[pe->y * pe->sim->width + pe->x];
    *due = *due < now ? *due : now;
}

/* A wavelet from a direction of another switch position waits until the switch is there. */
static bool has_space(const struct pe *pe, uint8_t color, unsigned from)
{
    const struct router_color *c = &pe->router[swapped(pe, color, from)];
    bool later = false;
    for (unsigned i = 0; i < POSITIONS && !(c->route.rx >> from & 1); i++)
        later = later || (c->route.valid[i] && c->route.rx_of[i] >> from & 1);
    return c->count < ROUTER_DEPTH && !later;
}

/* Moves a wavelet from an output queue over the ramp to the router. */
static bool from_processor(struct pe *pe)
{
    uint64_t now = pe->sim->now;
    for (unsigned i = 0; i < QUEUES; i++) {
        unsigned which = (pe->next_queue + i) % QUEUES;
        struct queue *q = &pe->out[which];
        if (q->count == 0)
            continue;
        struct wavelet w = q->items[q->head];
        uint8_t stream = pe->sim->loader.stream[w.color];
        bool to_host = stream >= STREAM_D2H;
        if (w.ready > now || (to_host ? pe->sink[stream - STREAM_D2H].count == QUEUE_MAX
                                      : !has_space(pe, w.color, DIR_RAMP)))
            continue;
        csl_queue_pop(q);
        pe->out_count--;
        pe->next_queue = (uint8_t)(which + 1);
        pe->counters.wavelets_out++;
        if (to_host)
            csl_queue_push(&pe->sink[stream - STREAM_D2H], &w);
        else
            arrive(pe, w, DIR_RAMP);
        return true;
    }
    return false;
}

static bool can_leave(struct pe *pe, const struct router_color *c, uint8_t color)
{
    uint64_t stamp = pe->sim->now + 1;
    uint8_t ways = csl_ways_out(&c->route, &c->items[c->head]);
    if (c->route.tx == 0)
        return false;
    for (unsigned d = 0; d < DIR_COUNT; d++) {
        if (!(ways >> d & 1))
            continue;
        if (pe->link_cycle[d] == stamp)
            return false;
        if (d == DIR_RAMP) {
            int q = pe->queue_of[color];
            if (q < 0 || pe->in[q].count == pe->in[q].depth)
                return false;
            continue;
        }
        const struct pe *next = neighbour(pe, d);
        if (next == NULL)
            csl_trap(pe, (struct pos){0}, "a wavelet of color %u leaves the rectangle to %s", color,
                     direction_names[d]);
        if (!has_space(next, color, opposite[d]))
            return false;
    }
    return true;
}

static void leave(struct pe *pe, struct router_color *c, unsigned color)
{
    uint64_t stamp = pe->sim->now + 1;
    struct wavelet w = c->items[c->head], passed = w;
    uint8_t ways = csl_ways_out(&c->route, &w);
    csl_pass(pe, &c->route, &passed);
    c->head = (uint8_t)((c->head + 1) % ROUTER_DEPTH);
    c->count--;
    pe->routed--;
    if (c->count == 0)
        pe->colors &= ~(1u << color);
    for (unsigned d = 0; d < DIR_COUNT; d++) {
        if (!(ways >> d & 1))
            continue;
        pe->link_cycle[d] = stamp;
        csl_emit_event(pe, CSL_EVENT_HOP, NULL, color, w.value, d);
        if (d == DIR_RAMP) {
            w.ready = pe->sim->now + QUEUE_LATENCY;
            csl_queue_push(&pe->in[pe->queue_of[color]], &w);
            pe->counters.wavelets_in++;
        } else {
            pe->counters.wavelets_hops++;
            arrive(neighbour(pe, d), passed, opposite[d]);
        }
    }
}

bool csl_step_router(struct pe *pe)
{
    bool moved = pe->out_count > 0 && from_processor(pe);
    uint64_t now = pe->sim->now;
    /* from next_color on, and round to those before it */
    uint32_t before = pe->colors & ((1u << pe->next_color) - 1), after = pe->colors & ~before;
    while (after | before) {
        uint32_t *some = after ? &after : &before;
        uint8_t color = (uint8_t)__builtin_ctz(*some);
        struct router_color *c = &pe->router[color];
        *some &= *some - 1;
        if (c->items[c->head].ready > now)
            continue;
        if (can_leave(pe, c, color)) {
            leave(pe, c, color);
            moved = true;
        } else {
            pe->counters.wavelets_stall++;
        }
    }
    pe->next_color = (uint8_t)((pe->next_color + 1) % COLORS);
    return moved;
}

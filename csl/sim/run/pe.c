/* pe.c - what the whole run time needs of a PE: traps, events, the place of its task, which tasks
 * may run. */
#include <stdarg.h>
#include <stdio.h>

#include "sim.h"

_Noreturn void csl_trap(struct pe *pe, struct pos pos, const char *format, ...)
{
    char what[300], where[300] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (pos.source != NULL)
        snprintf(where, sizeof where, " (%s:%u:%u)", pos.source->path, pos.line, pos.column);
    csl_fail(&pe->sim->arena, CSL_ERR_TRAP, "PE(%u,%u): %s%s", pe->x, pe->y, what, where);
}

void csl_emit_event(struct pe *pe, enum csl_event event, const char *name, uint32_t color,
                    uint32_t value, uint32_t direction)
{
    struct csl_sim *sim = pe->sim;
    if (sim->trace == NULL)
        return;
    bool of_task = event == CSL_EVENT_TASK_START || event == CSL_EVENT_TASK_END ||
                   event == CSL_EVENT_UNBLOCK_CMD;
    uint64_t cycle = of_task && pe->wake > sim->now ? pe->wake : sim->now;
    struct csl_trace t = {event, cycle, pe->x, pe->y, name, NULL, color, value, direction};
    sim->trace(sim->trace_context, &t);
}

uint64_t csl_random(struct csl_sim *sim)
{
    uint64_t z = sim->random += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

struct pos csl_main_pos(const struct pe *pe)
{
    if (pe->depth == 0)
        return (struct pos){0};
    const struct frame *f = &pe->frames[pe->depth - 1];
    return f->func->places[f->pc > 0 ? f->pc - 1 : 0];
}

void csl_activate_task(struct pe *pe, uint32_t id, struct pos pos)
{
    if (id >= LOCAL_TASKS || pe->program->local_task[id] == NO_ID)
        csl_trap(pe, pos, "local task %u is activated, but no task is bound to it", id);
    if (pe->active >> id & 1) {
        pe->lost_task = (uint8_t)id;
        pe->lost_pos = pos;
    }
    pe->active |= 1u << id;
}

void csl_set_blocked(struct pe *pe, enum id_kind kind, uint32_t id, bool block, struct pos pos)
{
    if (kind == ID_LOCAL) {
        if (id >= LOCAL_TASKS)
            csl_trap(pe, pos, "%u is no local task", id);
        pe->blocked = block ? pe->blocked | 1u << id : pe->blocked & ~(1u << id);
        return;
    }
    int queue = kind == ID_QUEUE ? (int)id : id < COLORS ? pe->queue_of[id] : -1;
    if (queue < 0 || queue >= QUEUES)
        csl_trap(pe, pos, "no input queue of this PE has %s %u",
                 kind == ID_QUEUE ? "number" : "color", id);
    pe->queue_blocked =
        (uint8_t)(block ? pe->queue_blocked | 1u << queue : pe->queue_blocked & ~(1u << queue));
}

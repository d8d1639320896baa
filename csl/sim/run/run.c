/* run.c - the wafer's clock, and the message when nothing moves any more. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim.h"

#define MAX_CYCLES 1000000000u

/* ---- nothing moves ---- */

struct report {
    char text[420];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct report *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(r->text + r->used, sizeof r->text - r->used, format, args);
    va_end(args);
    if (n > 0)
        r->used += (size_t)n < sizeof r->text - r->used ? (size_t)n : sizeof r->text - r->used - 1;
}

static void say_thread(struct report *r, const struct pe *pe, const struct thread *t)
{
    const struct dsd_site *site = t->site;
    say(r, " @%s of line %u has %u of %u elements and waits", csl_dsd_name(site->op),
        site->pos.line, t->at, t->count);
    for (unsigned i = 0; i < site->from_count; i++)
        if (site->from[i].fabric && pe->in[t->from[i].base].count == 0) {
            say(r, " for color %d in input queue %u;", pe->program->in_color[t->from[i].base],
                t->from[i].base);
            return;
        }
    for (unsigned i = 0; i < site->from_count; i++)
        if (site->from[i].kind == OPERAND_FIFO && pe->fifo[site->from[i].reg].count == 0) {
            say(r, " for the FIFO;");
            return;
        }
    if (site->to.kind == OPERAND_FIFO)
        say(r, " for room in the FIFO;");
    else
        say(r, " for room in output queue %u;", t->to.base);
}

static bool say_pe(struct report *r, const struct pe *pe)
{
    size_t before = r->used;
    say(r, " PE(%u,%u):", pe->x, pe->y);
    size_t name = r->used;
    if (pe->main.busy)
        say_thread(r, pe, &pe->main);
    for (unsigned i = 0; i < QUEUES; i++)
        if (pe->threads[i].busy)
            say_thread(r, pe, &pe->threads[i]);
    for (unsigned id = 0; id < LOCAL_TASKS; id++)
        if (pe->active & pe->blocked & 1u << id)
            say(r, " local task %u is active but blocked;", id);
    if (pe->lost_pos.source != NULL)
        say(r, " local task %u was activated again before it had run, in line %u;", pe->lost_task,
            pe->lost_pos.line);
    for (unsigned c = 0; c < COLORS; c++)
        if (pe->router[c].count > 0)
            say(r, " wavelets of color %u cannot leave the router%s;", c,
                pe->router[c].route.tx >> DIR_RAMP & 1 && pe->queue_of[c] < 0
                    ? " (no input queue has the color)"
                    : "");
    for (unsigned axis = 0; axis < 2; axis++)
        if (pe->collective[axis].called != 0 && pe->collective[axis].done == NEVER)
            say(r, " %s of line %u waits for other PEs;",
                csl_collective_name(pe->collective[axis].op), pe->collective[axis].pos.line);
    if (csl_stream_waits(pe))
        say(r, " the host's copy %s color %u has %u of %u elements;",
            pe->sim->stream.to_device ? "to" : "from", pe->sim->stream.color, pe->streamed,
            pe->sim->stream.elements);
    if (r->used == name && pe->cmd_busy)
        say(r, " its command stream is blocked and no task is active;");
    if (r->used > name)
        return true;
    r->text[r->used = before] = '\0';
    return false;
}

static _Noreturn void deadlock(struct csl_sim *sim)
{
    struct report r = {.used = 0};
    unsigned said = 0, waiting = 0;
    r.text[0] = '\0';
    /* first those that hold the call up for a reason of their own */
    for (int with_reason = 1; with_reason >= 0; with_reason--)
        for (uint32_t i = 0; i < sim->width * sim->height; i++) {
            struct pe *pe = &sim->pes[i];
            bool reason = pe->main.busy || pe->busy_threads > 0 || pe->routed > 0 ||
                          (pe->active & pe->blocked) || pe->lost_pos.source != NULL ||
                          csl_stream_waits(pe) ||
                          (pe->collective[0].called | pe->collective[1].called);
            if (reason != (with_reason == 1))
                continue;
            if (said < 3)
                said += say_pe(&r, pe);
            waiting += pe->cmd_busy || csl_stream_waits(pe);
        }
    csl_fail(&sim->arena, CSL_ERR_DEADLOCK, "deadlock at cycle %llu, %u PEs are not done:%s",
             (unsigned long long)sim->now, waiting, r.text);
}

/* ---- the clock ---- */

static bool step_pe(struct pe *pe)
{
    uint64_t now = pe->sim->now;
    bool moved = false;
    if (pe->sim->stream.left > 0)
        moved = csl_step_stream(pe);
    if (pe->routed > 0 || pe->out_count > 0)
        moved |= csl_step_router(pe);
    if (pe->busy_threads > 0 || pe->state == MAIN_FABRIC)
        moved |= csl_step_threads(pe);
    if (pe->state == MAIN_RUN && pe->wake <= now) {
        csl_run_main(pe);
        moved = true;
    }
    if (pe->collective[0].called | pe->collective[1].called)
        moved |= csl_step_collectives(pe);
    if (pe->state == MAIN_IDLE && pe->wake <= now)
        moved |= csl_pick_task(pe);
    return moved;
}

/* The entry of struct csl_sim's `due` for a PE after its step. */
static uint64_t due(const struct pe *pe)
{
    uint64_t next = pe->sim->now + 1;
    if (pe->routed > 0 || pe->out_count > 0 || pe->busy_threads > 0 || pe->state == MAIN_FABRIC ||
        (pe->collective[0].called | pe->collective[1].called))
        return next;
    if (pe->wake >= next || pe->state == MAIN_RUN)
        return pe->wake > next ? pe->wake : next;
    for (unsigned i = 0; i < QUEUES; i++)
        if (pe->in[i].count > 0)
            return next;
    if (pe->active & ~pe->blocked)
        return next;
    if (pe->call_pending)
        return pe->call_cycle > next ? pe->call_cycle : next;
    return NEVER;
}

/* The next time at which a processor acts by itself. */
static uint64_t next_time(const struct csl_sim *sim)
{
    uint64_t next = NEVER;
    for (uint32_t i = 0; i < sim->width * sim->height; i++) {
        const struct pe *pe = &sim->pes[i];
        if (sim->due[i] == NEVER)
            continue;
        if (pe->wake > sim->now && pe->wake < next)
            next = pe->wake;
        for (unsigned axis = 0; axis < 2; axis++)
            if (pe->collective[axis].called != 0 && pe->collective[axis].done < next &&
                pe->collective[axis].done > sim->now)
                next = pe->collective[axis].done;
        if (pe->call_pending && pe->call_cycle > sim->now && pe->call_cycle < next)
            next = pe->call_cycle;
    }
    return next;
}

void csl_run(struct csl_sim *sim, bool drain)
{
    uint64_t limit = sim->options.max_cycles != 0 ? sim->options.max_cycles : MAX_CYCLES;
    sim->call_start = sim->last_unblock = sim->now;
    memset(sim->due, 0, sim->width * sim->height * sizeof *sim->due);
    while (drain || sim->cmd_busy > 0 || sim->stream.left > 0) {
        bool moved = false;
        for (uint32_t i = 0; i < sim->width * sim->height; i++)
            if (sim->due[i] <= sim->now || sim->stream.left > 0) {
                moved |= step_pe(&sim->pes[i]);
                sim->due[i] = due(&sim->pes[i]);
            }
        if (moved) {
            sim->now++;
        } else {
            uint64_t next = next_time(sim);
            if (next == NEVER && drain)
                break;
            if (next == NEVER)
                deadlock(sim);
            sim->now = next;
        }
        if (sim->now - sim->call_start > limit)
            csl_fail(&sim->arena, CSL_ERR_LIMIT, "the call takes more than %llu cycles",
                     (unsigned long long)limit);
    }
    if (!drain && sim->now < sim->last_unblock)
        sim->now = sim->last_unblock;
    sim->call_cycles = sim->now - sim->call_start;
}

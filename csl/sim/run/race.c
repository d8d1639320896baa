/*
 * race.c - memory that an unfinished asynchronous operation or collective uses.
 *
 * If a task, another operation or the host reads there, or writes what the operation reads, the
 * result depends on when wavelets come. All elements count, also those that have already passed in
 * this run.
 */
#include <stdio.h>

#include "sim.h"

/* Whether one of the elements of d has a byte in [low, high). */
static bool touches(const struct dsd *d, uint32_t count, int64_t low, int64_t high)
{
    int64_t base = d->base, stride = d->stride, last = (int64_t)count - 1;
    if (count == 0)
        return false;
    if (stride == 0)
        return base < high && base + d->size > low;
    if (stride < 0) {
        base += last * stride;
        stride = -stride;
    }
    if (base >= high)
        return false;
    int64_t before = (high - 1 - base) / stride; /* the last element that begins before high */
    if (before > last)
        before = last;
    return base + before * stride + d->size > low;
}

/* A task must not touch the buffer of a FIFO while an operation uses it. */
static bool in_fifo(const struct pe *pe, const struct dsd_operand *o, int64_t low, int64_t high)
{
    if (o->kind != OPERAND_FIFO)
        return false;
    const struct fifo *f = &pe->program->fifos[o->reg];
    return f->address < high && f->address + (int64_t)f->capacity * f->size > low;
}

/* The memory that an operation uses. Two operations may share a FIFO. */
enum use { USE_READ, USE_WRITE, USE_FIFO };

static bool conflicts(const struct pe *pe, const struct thread *t, int64_t low, int64_t high,
                      enum use use)
{
    const struct dsd_site *site = t->site;
    bool fifo = in_fifo(pe, &site->to, low, high);
    for (unsigned i = 0; i < site->from_count; i++)
        fifo = fifo || in_fifo(pe, &site->from[i], low, high);
    if (fifo && use != USE_FIFO)
        return true;
    if (site->to.kind == OPERAND_DSD && !site->to.fabric && touches(&t->to, t->count, low, high))
        return true;
    if (site->to.kind == OPERAND_POINTER && t->address < high &&
        t->address + csl_dsd_bytes(site->op) > low)
        return true;
    for (unsigned i = 0; use != USE_READ && i < site->from_count; i++)
        if (site->from[i].kind == OPERAND_DSD && !site->from[i].fabric &&
            touches(&t->from[i], t->count, low, high))
            return true;
    return false;
}

static _Noreturn void race(struct pe *pe, struct pos pos, uint32_t address, enum use use,
                           const char *what, struct pos user)
{
    csl_trap(pe, pos, "race: '%s' is %s while the %s of line %u still uses it",
             pe->program->objects[csl_object_at(pe->program, address)].name,
             use != USE_READ ? "written" : "read", what, user.line);
}

static void check(struct pe *pe, struct pos pos, uint32_t address, uint32_t bytes, enum use use)
{
    const int64_t end = (int64_t)address + bytes;
    for (unsigned i = 0; i < QUEUES; i++) {
        const struct thread *t = &pe->threads[i];
        char name[16];
        if (!t->busy || !conflicts(pe, t, address, end, use))
            continue;
        snprintf(name, sizeof name, "@%s", csl_dsd_name(t->site->op));
        race(pe, pos, address, use, name, t->site->pos);
    }
    for (unsigned axis = 0; axis < 2; axis++)
        if (csl_collective_uses(pe, axis, address, end, use != USE_READ))
            race(pe, pos, address, use, csl_collective_name(pe->collective[axis].op),
                 pe->collective[axis].pos);
}

void csl_check_race(struct pe *pe, struct pos pos, uint32_t address, uint32_t bytes, bool write)
{
    check(pe, pos, address, bytes, write ? USE_WRITE : USE_READ);
}

static void check_dsd(struct pe *pe, struct pos pos, const struct dsd *d, uint32_t count,
                      bool write)
{
    uint32_t different = d->stride == 0 && count > 0 ? 1 : count;
    for (uint32_t i = 0; i < different; i++)
        csl_check_race(pe, pos, (uint32_t)(d->base + (int64_t)i * d->stride), d->size, write);
}

static void check_fifo(struct pe *pe, struct pos pos, const struct dsd_operand *o)
{
    if (o->kind != OPERAND_FIFO)
        return;
    const struct fifo *f = &pe->program->fifos[o->reg];
    check(pe, pos, f->address, (uint32_t)f->capacity * f->size, USE_FIFO);
}

void csl_check_thread_race(struct pe *pe, const struct thread *t)
{
    const struct dsd_site *site = t->site;
    if (site->to.kind == OPERAND_DSD && !site->to.fabric)
        check_dsd(pe, site->pos, &t->to, t->count, true);
    if (site->to.kind == OPERAND_POINTER)
        csl_check_race(pe, site->pos, t->address, csl_dsd_bytes(site->op), true);
    check_fifo(pe, site->pos, &site->to);
    for (unsigned i = 0; i < site->from_count; i++)
        check_fifo(pe, site->pos, &site->from[i]);
    for (unsigned i = 0; i < site->from_count; i++)
        if (site->from[i].kind == OPERAND_DSD && !site->from[i].fabric)
            check_dsd(pe, site->pos, &t->from[i], t->count, false);
}

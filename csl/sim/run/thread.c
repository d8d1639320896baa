/* thread.c - DSD operations: on memory at once, on the fabric one element a cycle. */
#include <string.h>

#include "sim.h"

/* A result that is read again within so many elements may not be written yet: more than the widest
 * operation takes at once. */
#define HAZARD 8

/* ---- elements ---- */

static void check_range(struct pe *pe, struct pos pos, const struct dsd *d, uint32_t count,
                        unsigned size)
{
    const struct object *o = &pe->program->objects[d->object];
    int64_t first = d->base, last = first + ((int64_t)count - 1) * d->stride;
    int64_t low = first < last ? first : last, high = first < last ? last : first;
    if (d->kind != DSD_MEM)
        csl_trap(pe, pos, "a DSD was used before it got a value");
    bool low_half = d->size == 4 && size == 2 &&
                    count == 1; /* no document says what the next element would be */
    if (d->size != size && !low_half)
        csl_trap(pe, pos, "the operation is on %u bytes, the DSD's elements have %u", size,
                 d->size);
    if (count > 0 && (d->object == 0 || low < o->start || high + size > o->end))
        csl_trap(pe, pos, "the DSD reaches from byte %lld to %lld of '%s', which has %u bytes",
                 (long long)(low - o->start), (long long)(high + size - o->start),
                 d->object ? o->name : "?", o->end - o->start);
}

void csl_check_writable(struct pe *pe, struct pos pos, unsigned object)
{
    if (pe->program->objects[object].is_const)
        csl_trap(pe, pos, "what is const cannot be written");
}

int64_t csl_dsd_element(struct pe *pe, struct pos pos, const struct dsd *d, uint32_t i,
                        enum type_code tc)
{
    struct dsd at = *d;
    at.base = (uint16_t)(d->base + (int64_t)i * d->stride);
    bool wide = tc == TC_F32 || tc == TC_I32 || tc == TC_U32;
    check_range(pe, pos, &at, 1, wide ? 4 : 2);
    if (pe->users > 0)
        csl_check_race(pe, pos, at.base, at.size, false);
    uint32_t v = 0;
    memcpy(&v, pe->memory + at.base, at.size);
    return csl_wrap_code(tc, (int64_t)v);
}

void csl_dsd_put(struct pe *pe, struct pos pos, const struct dsd *d, uint32_t i, enum type_code tc,
                 int64_t value)
{
    struct dsd at = *d;
    at.base = (uint16_t)(d->base + (int64_t)i * d->stride);
    bool wide = tc == TC_F32 || tc == TC_I32 || tc == TC_U32;
    check_range(pe, pos, &at, 1, wide ? 4 : 2);
    csl_check_writable(pe, pos, at.object);
    if (pe->users > 0)
        csl_check_race(pe, pos, at.base, at.size, true);
    memcpy(pe->memory + at.base, &value, at.size);
}

static uint32_t word_at(const struct pe *pe, const struct dsd *d, uint32_t i)
{
    const uint8_t *p = pe->memory + d->base + (int64_t)i * d->stride;
    if (d->size == 2) {
        uint16_t half;
        memcpy(&half, p, sizeof half);
        return half;
    }
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* ---- beginning ---- */

static void check_hazard(struct pe *pe, const struct thread *t, const struct dsd *from)
{
    const struct dsd *to = &t->to;
    int32_t apart = to->base - from->base;
    if (to->object != from->object || to->stride != from->stride || to->stride == 0 ||
        apart % to->stride != 0)
        return;
    int32_t elements = apart / to->stride;
    if (elements > 0 && elements < HAZARD && (uint32_t)elements < t->count)
        csl_trap(pe, t->site->pos,
                 "element i + %d of '%s' is read after element i was written there: what is read "
                 "depends on how many are taken at once",
                 elements, pe->program->objects[to->object].name);
}

/* The DSD in a register; .index moves it by words of 16 bits. */
static struct dsd operand_dsd(struct pe *pe, const struct dsd_site *site, uint16_t reg,
                              const int64_t *regs)
{
    struct dsd d = dsd_unpack((uint64_t)regs[reg]);
    if (d.indexed && site->index == NO_ID)
        csl_trap(pe, site->pos, "a DSD with wavelet_index_offset needs the operation's .index");
    if (d.indexed && d.kind == DSD_MEM) {
        uint32_t at = d.base + 2 * (uint32_t)regs[site->index]; /* words count modulo 2^16 */
        if (at >> 16 == 1)
            csl_trap(pe, site->pos, ".index %u leads beyond the memory",
                     (unsigned)regs[site->index]);
        d.base = (uint16_t)at;
    }
    return d;
}

static void set_up(struct pe *pe, struct thread *t, const struct dsd_site *site,
                   const int64_t *regs)
{
    unsigned size = csl_dsd_bytes(site->op);
    bool counted = site->to.kind == OPERAND_DSD;
    *t = (struct thread){.busy = true, .site = site};
    if (counted) {
        t->to = operand_dsd(pe, site, site->to.reg, regs);
        t->count = t->to.extent;
        t->index = t->to.indexed ? (uint32_t)regs[site->index] << 16 : 0;
    } else if (site->to.kind == OPERAND_POINTER) {
        t->address = (uint32_t)(regs[site->to.reg] & 0xffff);
        const unsigned o = csl_object_at(pe->program, t->address);
        if (o == 0 || t->address + size > pe->program->objects[o].end)
            csl_trap(pe, site->pos, "the destination, address %u, is no variable's", t->address);
        csl_check_writable(pe, site->pos, o);
    }
    for (unsigned i = 0; i < site->from_count; i++) {
        if (site->from[i].kind == OPERAND_SCALAR)
            t->scalar[i] = regs[site->from[i].reg];
        if (site->from[i].kind != OPERAND_DSD)
            continue;
        t->from[i] = operand_dsd(pe, site, site->from[i].reg, regs);
        /* a longer vector in memory goes out as a whole: the vendor's programs rely on it */
        if (site->to.fabric && !site->from[i].fabric && i == 0 && t->from[i].extent > t->count)
            t->count = t->from[i].extent;
        if (!counted)
            t->count = t->from[i].extent;
        counted = true;
        if (t->from[i].extent < t->count)
            csl_trap(pe, site->pos, "source %u has %u elements, but %u are needed", i + 1,
                     t->from[i].extent, t->count);
    }
    if (site->to.kind == OPERAND_DSD && !site->to.fabric) {
        check_range(pe, site->pos, &t->to, t->count, size);
        csl_check_writable(pe, site->pos, t->to.object);
    }
    for (unsigned i = 0; i < site->from_count; i++)
        if (site->from[i].kind == OPERAND_DSD && !site->from[i].fabric) {
            check_range(pe, site->pos, &t->from[i], t->count, size);
            if (site->to.kind == OPERAND_DSD && !site->to.fabric)
                check_hazard(pe, t, &t->from[i]);
        }
    if (pe->users > 0) {
        t->busy = false; /* not with itself */
        csl_check_thread_race(pe, t);
        t->busy = true;
    }
}

static bool is_fifo(const struct dsd_operand *o)
{
    return o->kind == OPERAND_FIFO;
}

/* The next element of a FIFO, to read or to write. */
static uint8_t *fifo_element(struct pe *pe, unsigned which, bool write)
{
    const struct fifo *f = &pe->program->fifos[which];
    unsigned at = pe->fifo[which].head + (write ? pe->fifo[which].count : 0u);
    return pe->memory + f->address + (size_t)(at % f->capacity) * f->size;
}

static uint32_t fifo_pop(struct pe *pe, unsigned which)
{
    uint32_t v = 0;
    memcpy(&v, fifo_element(pe, which, false), pe->program->fifos[which].size);
    pe->fifo[which].head =
        (uint16_t)((pe->fifo[which].head + 1) % pe->program->fifos[which].capacity);
    pe->fifo[which].count--;
    return v;
}

/* Can the next element move? */
static bool can_move(struct pe *pe, const struct thread *t)
{
    const struct dsd_site *site = t->site;
    for (unsigned i = 0; i < site->from_count; i++) {
        const struct queue *q = &pe->in[t->from[i].base & 7];
        if (is_fifo(&site->from[i]) && pe->fifo[site->from[i].reg].count == 0)
            return false;
        if (!site->from[i].fabric)
            continue;
        if (q->count == 0 || q->items[q->head].ready > pe->sim->now)
            return false;
        if (q->items[q->head].control)
            csl_trap(pe, site->pos, "a control wavelet reaches @%s: not in the subset",
                     csl_dsd_name(site->op));
    }
    if (is_fifo(&site->to))
        return pe->fifo[site->to.reg].count < pe->program->fifos[site->to.reg].capacity;
    return !site->to.fabric || pe->out[t->to.base].count < pe->out[t->to.base].depth;
}

/* Moves all elements whose operands are there, up to `most`; returns how many. */
static uint32_t move_elements(struct pe *pe, struct thread *t, uint32_t most)
{
    const struct dsd_site *site = t->site;
    uint64_t now = pe->sim->now;
    unsigned size = csl_dsd_bytes(site->op);
    uint32_t done = 0;
    for (; done < most && t->at < t->count; done++, t->at++) {
        uint32_t v[3] = {0, 0, 0};
        if (!can_move(pe, t))
            return done;
        for (unsigned i = 0; i < site->from_count; i++) {
            struct queue *q = &pe->in[t->from[i].base & 7];
            if (site->from[i].fabric) {
                v[i] = q->items[q->head].value;
                csl_queue_pop(q);
            } else if (is_fifo(&site->from[i])) {
                v[i] = fifo_pop(pe, site->from[i].reg);
            } else {
                v[i] = site->from[i].kind == OPERAND_DSD ? word_at(pe, &t->from[i], t->at)
                                                         : (uint32_t)t->scalar[i];
            }
        }
        uint32_t r = csl_dsd_compute(site->op, v, &t->carry);
        if (site->to.kind == OPERAND_POINTER) {
            t->scalar[0] = r; /* a reduction continues with it */
            memcpy(pe->memory + t->address, &r, size);
        } else if (site->to.fabric) {
            struct wavelet w = {now + QUEUE_LATENCY, (size == 2 ? r & 0xffff : r) | t->index,
                                (uint8_t)t->to.stride, t->to.control};
            csl_queue_push(&pe->out[t->to.base], &w);
            pe->out_count++;
        } else if (is_fifo(&site->to)) {
            memcpy(fifo_element(pe, site->to.reg, true), &r, size);
            pe->fifo[site->to.reg].count++;
        } else {
            memcpy(pe->memory + t->to.base + (int64_t)t->at * t->to.stride, &r, size);
        }
    }
    return done;
}

/* Only one operation at a time writes a FIFO, and only one reads it. */
static void check_fifo(struct pe *pe, const struct dsd_site *site)
{
    for (unsigned i = 0; i < QUEUES; i++) {
        const struct thread *t = &pe->threads[i];
        bool same = t->busy && is_fifo(&site->to) && is_fifo(&t->site->to) &&
                    t->site->to.reg == site->to.reg;
        for (unsigned k = 0; t->busy && k < site->from_count; k++)
            for (unsigned m = 0; m < t->site->from_count; m++)
                same = same || (is_fifo(&site->from[k]) && is_fifo(&t->site->from[m]) &&
                                site->from[k].reg == t->site->from[m].reg);
        if (same)
            csl_trap(pe, site->pos, "the FIFO is still in use by the @%s of line %u",
                     csl_dsd_name(t->site->op), t->site->pos.line);
    }
}

static void check_queue(struct pe *pe, const struct dsd_site *site, bool out, unsigned queue)
{
    const struct thread *all[QUEUES + 1] = {&pe->main};
    for (unsigned i = 0; i < QUEUES; i++)
        all[i + 1] = &pe->threads[i];
    for (unsigned i = 0; i <= QUEUES; i++) {
        const struct thread *t = all[i];
        bool same = t->busy && out && t->site->to.fabric && t->to.base == queue;
        for (unsigned k = 0; t->busy && !out && k < t->site->from_count; k++)
            same = same || (t->site->from[k].fabric && t->from[k].base == queue);
        if (same)
            csl_trap(pe, site->pos, "%s queue %u is still in use by the @%s of line %u",
                     out ? "output" : "input", queue, csl_dsd_name(t->site->op), t->site->pos.line);
    }
}

/* Checks the queues of a fabric operation and its microthread; on WSE-3 also the color of an output
 * queue. */
static unsigned claim_queues(struct pe *pe, const struct dsd_site *site, const int64_t *regs)
{
    unsigned thread = QUEUES;
    for (unsigned i = 0; i < site->from_count; i++)
        if (site->from[i].fabric) {
            struct dsd d = dsd_unpack((uint64_t)regs[site->from[i].reg]);
            int color = pe->program->in_color[d.base & 7];
            if (d.kind != DSD_FABIN || color < 0)
                csl_trap(pe, site->pos, "input queue %u has no color: @initialize_queue", d.base);
            if (d.stride >= 0 && d.stride != color)
                csl_trap(pe, site->pos, "input queue %u has color %d, the DSD %d", d.base, color,
                         d.stride);
            check_queue(pe, site, false, d.base);
            if (thread == QUEUES)
                thread = d.base;
        }
    if (site->to.fabric) {
        struct dsd d = dsd_unpack((uint64_t)regs[site->to.reg]);
        int color = pe->program->out_color[d.base & 7];
        bool wse3 = pe->sim->loader.arch == CSL_WSE3;
        if (d.kind != DSD_FABOUT || ((wse3 || d.stride < 0) && color < 0))
            csl_trap(pe, site->pos, "output queue %u has no color: @initialize_queue", d.base);
        if (wse3 && d.stride >= 0 && d.stride != color)
            csl_trap(pe, site->pos, "output queue %u has color %d, the DSD %d", d.base, color,
                     d.stride);
        if (d.control && csl_dsd_bytes(site->op) != 4)
            csl_trap(pe, site->pos, "a control wavelet is sent by an operation on 32 bits");
        check_queue(pe, site, true, d.base);
        thread = d.base;
    }
    check_fifo(pe, site);
    return site->thread != NO_ID ? site->thread : thread;
}

bool csl_start_dsd(struct pe *pe, const struct dsd_site *site, const int64_t *regs, uint64_t start)
{
    bool fabric = site->to.fabric;
    for (unsigned i = 0; i < site->from_count; i++)
        fabric = fabric || site->from[i].fabric;
    if (!fabric) {
        struct thread t;
        set_up(pe, &t, site, regs);
        unsigned width = csl_dsd_width(site->op, pe->sim->loader.arch);
        uint64_t cycles = (t.count + width - 1) / width;
        move_elements(pe, &t, UINT32_MAX);
        pe->wake += cycles;
        pe->counters.cycles += cycles;
        pe->counters.dsd_cycles += cycles;
        return true;
    }
    if (start > pe->sim->now)
        return false;
    unsigned which = claim_queues(pe, site, regs);
    struct thread *t = site->async ? &pe->threads[which] : &pe->main;
    if (t->busy)
        csl_trap(pe, site->pos, "microthread %u is still in use by the @%s of line %u", which,
                 csl_dsd_name(t->site->op), t->site->pos.line);
    set_up(pe, t, site, regs);
    if (site->to.fabric && t->to.stride < 0)
        t->to.stride = pe->program->out_color[t->to.base];
    csl_emit_event(pe, CSL_EVENT_THREAD_START, csl_dsd_name(site->op), 0, 0, 0);
    if (site->async) {
        pe->busy_threads++;
        pe->users++;
    } else {
        pe->state = MAIN_FABRIC;
        pe->wait_since = pe->wake;
    }
    return true;
}

/* ---- going on, and the end ---- */

static void end_thread(struct pe *pe, struct thread *t)
{
    const struct dsd_site *site = t->site;
    t->busy = false;
    csl_emit_event(pe, CSL_EVENT_THREAD_END, csl_dsd_name(site->op), 0, 0, 0);
    if (site->activate != NO_ID)
        csl_activate_task(pe, site->activate, site->pos);
    if (site->unblock != NO_ID)
        csl_set_blocked(pe, site->unblock_kind, site->unblock, false, site->pos);
}

/* Did the operation move anything? Ends it when it is complete. */
static bool step_thread(struct pe *pe, struct thread *t)
{
    uint32_t moved = move_elements(pe, t, 1);
    if (t->at < t->count)
        return moved > 0;
    end_thread(pe, t);
    return true;
}

/* The threads take turns; the task's own operation is one of them. */
bool csl_step_threads(struct pe *pe)
{
    uint64_t now = pe->sim->now;
    if (pe->state == MAIN_FABRIC && pe->wake <= now) {
        if (step_thread(pe, &pe->main)) {
            pe->counters.cycles++;
            pe->counters.dsd_cycles++;
            if (!pe->main.busy) {
                uint64_t spent = now + 1 - pe->wait_since;
                pe->counters.wait_cycles += spent > pe->main.count ? spent - pe->main.count : 0;
                pe->state = MAIN_RUN;
                pe->wake = now + 1;
            }
            return true;
        }
    }
    /* A computing task has every other cycle for itself. */
    bool shares = pe->state == MAIN_RUN && pe->wake > now;
    if (shares && pe->thread_cycle + 1 == now && pe->busy_threads > 0)
        return true;
    for (unsigned i = 0; i < QUEUES && pe->busy_threads > 0; i++) {
        unsigned which = (pe->next_thread + i) % QUEUES;
        struct thread *t = &pe->threads[which];
        if (!t->busy || !step_thread(pe, t))
            continue;
        pe->next_thread = which + 1;
        pe->counters.thread_cycles++;
        if (!t->busy) {
            pe->busy_threads--;
            pe->users--;
        }
        pe->thread_cycle = now;
        pe->wake += shares;
        return true;
    }
    return false;
}

/*
 * collective_run.c - <collectives_2d> at run time, as a whole. When all PEs of a line have called,
 * their data move; after the time that this would take, the callbacks are activated. There are no
 * wavelets, because what the library sends is not published.
 */
#include <string.h>

#include "sim.h"

static struct pe *on_line(struct pe *pe, unsigned axis, uint32_t place)
{
    struct csl_sim *sim = pe->sim;
    return &sim->pes[axis == 0 ? pe->y * sim->width + place : place * sim->width + pe->x];
}

/* The address of `count` words of memory, which must lie in one variable. */
static uint8_t *words(struct pe *pe, unsigned axis, uint32_t address, uint32_t count)
{
    const struct collective *c = &pe->collective[axis];
    unsigned object = csl_object_at(pe->program, address);
    if (object == 0 || address + 4 * count > pe->program->objects[object].end)
        csl_trap(pe, c->pos, "%s's %u elements are not in one variable", csl_collective_name(c->op),
                 count);
    return pe->memory + address;
}

static void add(uint8_t *to, const uint8_t *from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        float a, b;
        memcpy(&a, to + 4 * i, sizeof a);
        memcpy(&b, from + 4 * i, sizeof b);
        a += b;
        memcpy(to + 4 * i, &a, sizeof a);
    }
}

/* The words that a PE and the root exchange. A reduction begins with the root's own part. */
static void move(struct pe *pe, struct pe *root, unsigned axis, uint32_t place)
{
    const struct collective *c = &pe->collective[axis], *r = &root->collective[axis];
    uint32_t n = c->count, all = n * csl_line_size(pe, axis);
    size_t bytes = (size_t)4 * n;
    switch (c->op) {
    case COLLECTIVE_BROADCAST:
        memmove(words(pe, axis, c->send, n), words(root, axis, r->send, n), bytes);
        break;
    case COLLECTIVE_SCATTER:
        memmove(words(pe, axis, c->recv, n), words(root, axis, r->send, all) + place * bytes,
                bytes);
        break;
    case COLLECTIVE_GATHER:
        memmove(words(root, axis, r->recv, all) + place * bytes, words(pe, axis, c->send, n),
                bytes);
        break;
    default:
        if (pe != root)
            add(words(root, axis, r->recv, n), words(pe, axis, c->send, n), n);
        break;
    }
}

/* The time: a cycle for each wavelet through the root's ramp, and the distance. A sum takes five
 * cycles a hop (the chain in the published model of reductions). */
static uint64_t cycles(const struct collective *c, uint32_t size)
{
    uint32_t far = c->root > size - 1 - c->root ? c->root : size - 1 - c->root;
    uint64_t through = c->op == COLLECTIVE_SCATTER || c->op == COLLECTIVE_GATHER
                           ? (uint64_t)c->count * (size - 1)
                           : c->count;
    return through + (c->op == COLLECTIVE_REDUCE ? 5u : 1u) * far + TASK_START_CYCLES;
}

/* All PEs of the line have called. They must have called the same. */
static void finish(struct pe *pe, unsigned axis, uint32_t size)
{
    const struct collective *mine = &pe->collective[axis];
    uint64_t last = 0;
    for (uint32_t i = 0; i < size; i++) {
        struct pe *other = on_line(pe, axis, i);
        const struct collective *c = &other->collective[axis];
        if (c->op != mine->op || c->root != mine->root || c->count != mine->count)
            csl_trap(pe, mine->pos,
                     "%s of root %u and %u elements, but PE(%u,%u) calls %s of root %u and %u",
                     csl_collective_name(mine->op), mine->root, mine->count, other->x, other->y,
                     csl_collective_name(c->op), c->root, c->count);
        last = c->called > last ? c->called : last;
    }
    if (mine->root >= size)
        csl_trap(pe, mine->pos, "root %u is beyond %u PEs", mine->root, size);
    struct pe *root = on_line(pe, axis, mine->root);
    const struct collective *r = &root->collective[axis];
    if (mine->op == COLLECTIVE_REDUCE)
        memmove(words(root, axis, r->recv, r->count), words(root, axis, r->send, r->count),
                (size_t)4 * r->count);
    uint64_t done = last + cycles(mine, size);
    for (uint32_t i = 0; i < size; i++)
        move(on_line(pe, axis, i), root, axis, i);
    for (uint32_t i = 0; i < size; i++)
        on_line(pe, axis, i)->collective[axis].done = done;
}

void csl_collective(struct pe *pe, const struct insn *i, const int64_t *r)
{
    const enum collective_op op = (enum collective_op)i->imm;
    const unsigned axis = i->b, with_recv = op > COLLECTIVE_BROADCAST;
    struct collective *c = &pe->collective[axis];
    uint32_t size = csl_line_size(pe, axis);
    struct pos pos = csl_main_pos(pe);
    struct span span[2];
    if (op == COLLECTIVE_INIT) {
        c->ready = true;
        return;
    }
    if (!c->ready || c->called != 0)
        csl_trap(pe, pos, c->ready ? "%s before the last call has ended" : "%s before init()",
                 csl_collective_name(op));
    c->op = op;
    c->root = (uint16_t)r[0];
    c->send = (uint32_t)(r[1] & 0xffff);
    c->recv = (uint32_t)(r[1 + with_recv] & 0xffff);
    c->count = (uint16_t)r[2 + with_recv];
    c->callback = (uint16_t)r[3 + with_recv];
    c->pos = pos;
    for (unsigned k = csl_collective_spans(pe, axis, span); k-- > 0;)
        csl_check_race(pe, pos, span[k].address, span[k].bytes, span[k].write);
    c->called = pe->wake;
    pe->users++;
    c->done = NEVER;
    for (uint32_t k = 0; k < size; k++)
        if (on_line(pe, axis, k)->collective[axis].called == 0)
            return;
    finish(pe, axis, size);
}

/* Activates the callbacks whose time has come. A running task does not see this: until it ends, the
 * collective uses its arrays. */
bool csl_step_collectives(struct pe *pe)
{
    bool moved = false;
    if (pe->state != MAIN_IDLE)
        return false;
    for (unsigned axis = 0; axis < 2; axis++) {
        struct collective *c = &pe->collective[axis];
        if (c->called == 0 || c->done > pe->sim->now)
            continue;
        c->called = 0;
        pe->users--;
        csl_activate_task(pe, c->callback, c->pos);
        moved = true;
    }
    return moved;
}

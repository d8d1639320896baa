/* vm.c - the processor of a PE: byte code. */
#include <string.h>

#include "sim.h"

/* How far a task may run ahead of the wafer's clock while nothing else can touch its memory. */
#define AHEAD_MAX 100000u

/* The place of `size` bytes at an address; all must lie in one variable. */
static const uint8_t *memory(struct pe *pe, int64_t address, unsigned size)
{
    uint32_t a = (uint32_t)(address & 0xffff);
    unsigned object = csl_object_at(pe->program, a);
    if (object == 0 || a + size > pe->program->objects[object].end ||
        a < pe->program->objects[object].start)
        csl_trap(pe, csl_main_pos(pe), "memory at address %u is no variable's", a);
    return pe->memory + a;
}

/* The same, for writing. */
static uint8_t *writable(struct pe *pe, int64_t address, unsigned size)
{
    const uint8_t *p = memory(pe, address, size);
    csl_check_writable(pe, csl_main_pos(pe), csl_object_at(pe->program, address & 0xffff));
    return pe->memory + (p - pe->memory);
}

static int64_t load(const uint8_t *p, unsigned tc)
{
    switch (tc) {
    case TC_I8:
        return (int8_t)*p;
    case TC_U8:
        return *p;
    case TC_I16:
    case TC_F16:
    case TC_U16: {
        uint16_t v;
        memcpy(&v, p, 2);
        return tc == TC_I16 ? (int16_t)v : (int64_t)v;
    }
    case TC_I32:
    case TC_U32:
    case TC_F32: {
        uint32_t v;
        memcpy(&v, p, 4);
        return tc == TC_I32 ? (int32_t)v : (int64_t)v;
    }
    default: {
        int64_t v;
        memcpy(&v, p, 8);
        return v;
    }
    }
}

/* ---- calls ---- */

static void enter(struct pe *pe, const struct func *func, uint32_t base, uint16_t result)
{
    if (pe->depth == FRAMES || base + func->registers > pe->reg_count)
        csl_trap(pe, csl_main_pos(pe), "functions call each other too deeply");
    pe->frames[pe->depth++] = (struct frame){func, 0, base, result};
}

void csl_call_func(struct pe *pe, uint16_t func, const char *name)
{
    pe->depth = 0;
    pe->task_name = name != NULL ? name : pe->program->funcs[func]->name;
    pe->state = MAIN_RUN;
    pe->counters.tasks++;
    enter(pe, pe->program->funcs[func], 0, NO_ID);
    csl_emit_event(pe, CSL_EVENT_TASK_START, pe->task_name, 0, 0, 0);
}

static void end_task(struct pe *pe)
{
    uint64_t now = pe->sim->now;
    pe->sim->now = pe->wake > now ? pe->wake : now; /* the event's time */
    csl_emit_event(pe, CSL_EVENT_TASK_END, pe->task_name, 0, 0, 0);
    pe->sim->now = now;
    pe->state = MAIN_IDLE;
}

/* The LFSR of the documents, x^23 + x^18 + 1. */
static uint16_t random16(struct pe *pe)
{
    for (unsigned k = 0; k < 128; k++)
        pe->random = (pe->random << 1 & 0x7fffff) | ((pe->random >> 22 ^ pe->random >> 17) & 1);
    return pe->random & 0xffff;
}

static void timer_op(struct pe *pe, const struct insn *i, const int64_t *r, struct pos pos)
{
    const uint64_t time = pe->timer_on ? pe->wake - pe->timer_start : pe->timer_start;
    if (i->imm == 3) {
        uint8_t *p = writable(pe, r[i->a], 6);
        csl_check_race(pe, pos, (uint32_t)(r[i->a] & 0xffff), 6, true);
        memcpy(p, &time, 6);
    } else if (i->imm == 2) {
        pe->timer_start = pe->timer_on ? pe->wake : 0;
    } else if (pe->timer_on != (i->imm == 0)) {
        pe->timer_on = i->imm == 0;
        pe->timer_start = pe->timer_on ? pe->wake : time;
    }
}

static void system_op(struct pe *pe, const struct insn *i, int64_t *r)
{
    struct csl_sim *sim = pe->sim;
    struct pos pos = csl_main_pos(pe);
    switch (i->op) {
    case OP_ACTIVATE:
        csl_activate_task(pe, (uint32_t)r[i->a], pos);
        break;
    case OP_BLOCK:
    case OP_UNBLOCK:
        csl_set_blocked(pe, (enum id_kind)i->imm, (uint32_t)r[i->a], i->op == OP_BLOCK, pos);
        break;
    case OP_UNBLOCK_CMD:
        if (pe->cmd_busy) {
            pe->cmd_busy = false;
            sim->cmd_busy--;
            if (sim->last_unblock < pe->wake)
                sim->last_unblock = pe->wake;
            csl_emit_event(pe, CSL_EVENT_UNBLOCK_CMD, NULL, 0, 0, 0);
        }
        break;
    case OP_TIMER:
        timer_op(pe, i, r, pos);
        break;
    case OP_RANDOM:
        r[i->a] = random16(pe);
        break;
    case OP_RANDOM_IN:
        r[i->a] = csl_alu_between(i, r[i->b], r[i->c], random16(pe));
        break;
    case OP_DSR_LOAD:
        pe->dsr[i->imm].dsd = (uint64_t)r[i->a];
        pe->dsr[i->imm].moves = i->x;
        break;
    case OP_DSR_GET:
        r[i->a] = (int64_t)pe->dsr[i->imm].dsd;
        break;
    case OP_DSR_NEXT:
        if (pe->dsr[i->imm].moves) {
            struct dsd d = dsd_unpack(pe->dsr[i->imm].dsd);
            d.base = (uint16_t)(d.base + d.extent * d.stride);
            pe->dsr[i->imm].dsd = dsd_pack(d);
        }
        break;
    case OP_PRINT:
        csl_print(pe, i, r);
        break;
    case OP_COLLECTIVE:
        csl_collective(pe, i, r + i->a);
        break;
    case OP_CONTROL:
        r[i->a] = (uint32_t)i->imm | (uint32_t)r[i->b] << CONTROL_DATA_AT;
        break;
    default:
        r[i->a] = i->imm ? pe->y : pe->x;
        break;
    }
}

static void dsd_op(struct pe *pe, const struct insn *i, int64_t *r)
{
    struct dsd d = dsd_unpack((uint64_t)r[i->b]);
    switch (i->op) {
    case OP_DSD_MAKE:
        d = (struct dsd){.kind = DSD_MEM, .extent = (uint16_t)r[i->c], .size = i->tc};
        d.object = (uint8_t)csl_object_at(pe->program, (uint16_t)r[i->b]);
        d.base = (uint16_t)(r[i->b] + r[i->wide] * i->tc);
        d.stride = (int16_t)(r[i->imm] * i->tc);
        break;
    case OP_DSD_BASE:
        d = dsd_at(d, (uint16_t)r[i->c], (uint8_t)csl_object_at(pe->program, (uint16_t)r[i->c]),
                   (uint8_t)i->imm);
        break;
    case OP_DSD_OFFSET:
        d.base = (uint16_t)(d.base + r[i->c] * i->imm);
        break;
    case OP_DSD_LENGTH:
        d.extent = (uint16_t)r[i->c];
        break;
    case OP_DSD_STRIDE:
        d.stride = (int16_t)(r[i->c] * d.size);
        break;
    case OP_DSD_COUNT:
        r[i->a] = d.extent;
        return;
    case OP_DSD_GET:
        r[i->a] =
            csl_dsd_element(pe, csl_main_pos(pe), &d, (uint32_t)r[i->c], (enum type_code)i->tc);
        return;
    default:
        csl_dsd_put(pe, csl_main_pos(pe), &d, (uint32_t)r[i->c], (enum type_code)i->tc, r[i->a]);
        return;
    }
    r[i->a] = (int64_t)dsd_pack(d);
}

static void same_variable(struct pe *pe, int64_t a, int64_t b)
{
    unsigned object = csl_object_at(pe->program, (uint32_t)(a & 0xffff));
    if (object == 0 || object != csl_object_at(pe->program, (uint32_t)(b & 0xffff)) ||
        b != (b & 0xffff))
        csl_trap(pe, csl_main_pos(pe), "index outside of '%s'",
                 object ? pe->program->objects[object].name : "?");
}

/* Did a return end the task? */
static bool leave(struct pe *pe, const struct insn *i, const int64_t *r)
{
    const struct frame *f = &pe->frames[--pe->depth];
    int64_t value = i->b ? r[i->a] : 0;
    if (pe->depth == 0) {
        end_task(pe);
        return true;
    }
    if (f->result != NO_ID)
        pe->regs[pe->frames[pe->depth - 1].base + f->result] = value;
    return false;
}

static void check_memory_op(struct pe *pe, const struct insn *i, const int64_t *r)
{
    bool bulk = i->op == OP_COPY || i->op == OP_CLEAR,
         fixed = i->op == OP_LOAD_AT || i->op == OP_STORE_AT;
    bool write = i->op != OP_LOAD && i->op != OP_LOAD_AT;
    int64_t address = bulk ? r[i->a] : fixed ? i->imm : r[i->b] + i->imm;
    csl_check_race(pe, csl_main_pos(pe), (uint32_t)(address & 0xffff),
                   bulk ? (uint32_t)i->imm : csl_code_bytes[i->tc], write);
}

/* Moves and copies of memory. */
static void memory_op(struct pe *pe, const struct insn *i, int64_t *r)
{
    if (pe->users > 0)
        check_memory_op(pe, i, r);
    switch (i->op) {
    case OP_LOAD:
        r[i->a] = load(memory(pe, r[i->b] + i->imm, csl_code_bytes[i->tc]), i->tc);
        break;
    case OP_STORE:
        memcpy(writable(pe, r[i->b] + i->imm, csl_code_bytes[i->tc]), &r[i->a],
               csl_code_bytes[i->tc]);
        break;
    case OP_LOAD_AT:
        r[i->a] = load(pe->memory + i->imm, i->tc);
        break;
    case OP_STORE_AT:
        memcpy(pe->memory + i->imm, &r[i->a], csl_code_bytes[i->tc]);
        break;
    case OP_COPY:
        memmove(writable(pe, r[i->a], (unsigned)i->imm), memory(pe, r[i->b], (unsigned)i->imm),
                (size_t)i->imm);
        break;
    default:
        memset(writable(pe, r[i->a], (unsigned)i->imm), 0, (size_t)i->imm);
        break;
    }
}

/* Moves a value, or computes one. */
static void value_op(struct pe *pe, const struct insn *i, int64_t *r)
{
    switch (i->op) {
    case OP_CONST:
        r[i->a] = i->imm;
        break;
    case OP_CONST2:
        r[i->a] = (int64_t)((uint64_t)(uint32_t)i->imm | (uint64_t)i->wide << 32);
        break;
    case OP_MOVE:
        r[i->a] = r[i->b];
        break;
    case OP_NEG:
        r[i->a] = i->tc == TC_F32   ? r[i->b] ^ 0x80000000
                  : i->tc == TC_F16 ? r[i->b] ^ 0x8000
                                    : csl_wrap_code(i->tc, (int64_t)(0 - (uint64_t)r[i->b]));
        break;
    case OP_INVERT:
        r[i->a] = csl_wrap_code(i->tc, ~r[i->b]);
        break;
    case OP_NOT:
        r[i->a] = !r[i->b];
        break;
    case OP_CONVERT:
        r[i->a] = csl_alu_convert(pe, i, r[i->b]);
        break;
    case OP_MATH:
        r[i->a] = csl_alu_math(i, r[i->b], r[i->c]);
        break;
    case OP_BOUND:
        if ((uint64_t)r[i->a] >= (uint64_t)i->imm)
            csl_trap(pe, csl_main_pos(pe), "index %lld is outside of 0 to %d", (long long)r[i->a],
                     i->imm - 1);
        break;
    case OP_INDEX:
        r[i->a] = r[i->b] * i->imm + r[i->c];
        break;
    case OP_SAME:
        same_variable(pe, r[i->a], r[i->b]);
        break;
    default:
        r[i->a] = csl_alu(pe, i, r[i->b], r[i->c]);
        break;
    }
}

/* Decides what comes next; false if the task is over or must wait. */
static bool control_op(struct pe *pe, struct frame *f, const struct insn *i, int64_t *r)
{
    switch (i->op) {
    case OP_JUMP:
        f->pc = (uint32_t)i->imm;
        break;
    case OP_JUMP_IF:
        if (r[i->a])
            f->pc = (uint32_t)i->imm;
        break;
    case OP_JUMP_UNLESS:
        if (!r[i->a])
            f->pc = (uint32_t)i->imm;
        break;
    case OP_CALL: {
        const struct func *callee = pe->program->funcs[i->imm];
        uint32_t base = f->base + f->func->registers;
        enter(pe, callee, base, i->c ? i->b : NO_ID);
        memcpy(pe->regs + base, r + i->a, i->x * sizeof *r);
        break;
    }
    case OP_RETURN:
        return !leave(pe, i, r);
    case OP_ASSERT:
        if (!r[i->a])
            csl_trap(pe, csl_main_pos(pe),
                     i->x ? "a fabric DSD of @map is longer than another DSD: how many wavelets "
                            "are taken is not said"
                          : "assertion failed");
        break;
    default: /* OP_DSD */
        if (!csl_start_dsd(pe, &pe->program->dsd_sites[i->imm], r, pe->wake - i->cost)) {
            f->pc--; /* the fabric has not reached that time yet */
            pe->wake -= i->cost;
            pe->counters.cycles -= i->cost;
            pe->counters.instructions--;
            return false;
        }
        return pe->state == MAIN_RUN;
    }
    return true;
}

/* Executes one instruction; false if the task is over or must wait. */
static bool execute(struct pe *pe, struct frame *f, const struct insn *i)
{
    int64_t *r = pe->regs + f->base;
    switch (i->op) {
    case OP_JUMP:
    case OP_JUMP_IF:
    case OP_JUMP_UNLESS:
    case OP_CALL:
    case OP_RETURN:
    case OP_ASSERT:
    case OP_DSD:
        return control_op(pe, f, i, r);
    case OP_LOAD:
    case OP_STORE:
    case OP_LOAD_AT:
    case OP_STORE_AT:
    case OP_COPY:
    case OP_CLEAR:
        memory_op(pe, i, r);
        break;
    case OP_DSD_MAKE:
    case OP_DSD_BASE:
    case OP_DSD_OFFSET:
    case OP_DSD_LENGTH:
    case OP_DSD_STRIDE:
    case OP_DSD_COUNT:
    case OP_DSD_GET:
    case OP_DSD_PUT:
        dsd_op(pe, i, r);
        break;
    case OP_ACTIVATE:
    case OP_BLOCK:
    case OP_UNBLOCK:
    case OP_UNBLOCK_CMD:
    case OP_TIMER:
    case OP_RANDOM:
    case OP_RANDOM_IN:
    case OP_CONTROL:
    case OP_COLLECTIVE:
    case OP_PRINT:
    case OP_DSR_LOAD:
    case OP_DSR_GET:
    case OP_DSR_NEXT:
    case OP_COORD:
        system_op(pe, i, r);
        break;
    default:
        value_op(pe, i, r);
        break;
    }
    return true;
}

void csl_run_main(struct pe *pe)
{
    uint64_t limit = pe->sim->now + (pe->busy_threads > 0 ? 0 : AHEAD_MAX);
    while (pe->state == MAIN_RUN && pe->wake <= limit) {
        struct frame *f = &pe->frames[pe->depth - 1];
        const struct insn *i = &f->func->code[f->pc++];
        pe->wake += i->cost;
        pe->counters.cycles += i->cost;
        pe->counters.instructions++;
        if (!execute(pe, f, i))
            return;
    }
}

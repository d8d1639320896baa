/* emit.c - instructions, registers and memory of a program. */
#include <string.h>

#include "sema.h"

struct insn *csl_emit(struct sema *s, const struct node *n, enum op op, enum csl_cost cost)
{
#define X(name, estimated, fitted, bytes) bytes,
    static const uint16_t bytes[] = {CSL_SCALAR_COSTS(X)};
#undef X
    struct func *f = s->func;
    if (s->comptime || f == NULL)
        FAIL(s, n, "this must be known when compiling");
    f->code = csl_grow(s->arena, f->code, f->count, &f->capacity, sizeof *f->code);
    f->places = csl_grow(s->arena, f->places, f->count, &f->place_capacity, sizeof *f->places);
    f->places[f->count] = n->pos;
    struct insn *i = &f->code[f->count++];
    *i = (struct insn){.op = (uint16_t)op, .cost = s->l->options->costs->cycles[cost]};
    s->program->code_bytes += bytes[cost];
    if (s->program->code_bytes > PE_MEMORY_BYTES)
        FAIL(s, n, "the program does not fit into the 48 KB of a PE");
    return i;
}

uint16_t csl_new_reg(struct sema *s, const struct node *n)
{
    if (s->next_reg == UINT16_MAX)
        FAIL(s, n, "the function has too many variables");
    uint16_t reg = s->next_reg++;
    if (s->func != NULL && s->func->registers < s->next_reg)
        s->func->registers = s->next_reg;
    return reg;
}

struct operand csl_known(struct value v)
{
    return (struct operand){.v = v, .known = true};
}

struct operand csl_in(const struct type *t, uint16_t reg)
{
    return (struct operand){.v = {.type = t}, .reg = reg};
}

static void emit_const(struct sema *s, const struct node *n, int64_t bits, uint16_t to)
{
    bool wide = bits != (int32_t)bits, small = bits == (int16_t)bits || bits == (uint16_t)bits;
    struct insn *i =
        csl_emit(s, n, wide ? OP_CONST2 : OP_CONST, small ? COST_CONST16 : COST_CONST32);
    i->a = to;
    i->imm = (int32_t)bits;
    i->wide = (uint32_t)((uint64_t)bits >> 32);
}

static void need_scalar(struct sema *s, const struct node *n, const struct operand *o)
{
    if (!csl_is_scalar(o->v.type))
        FAIL(s, n, "a value of type %s cannot be used at run time", TYPE(s, o->v.type));
}

uint16_t csl_in_reg(struct sema *s, const struct node *n, const struct operand *o)
{
    need_scalar(s, n, o);
    if (!o->known)
        return o->reg;
    uint16_t reg = csl_new_reg(s, n);
    emit_const(s, n, csl_register_bits(&o->v), reg);
    return reg;
}

void csl_into(struct sema *s, const struct node *n, const struct operand *o, uint16_t to)
{
    need_scalar(s, n, o);
    if (o->known) {
        emit_const(s, n, csl_register_bits(&o->v), to);
        return;
    }
    if (o->reg == to)
        return;
    /* Moves the result of the last instruction from its temporary register into this one. */
    struct func *f = s->func;
    if (f != NULL && !s->comptime && f->count > s->barrier && o->reg > to) {
        struct insn *last = &f->code[f->count - 1];
        bool computes = (last->op >= OP_MOVE && last->op <= OP_MATH) || last->op == OP_LOAD ||
                        last->op == OP_LOAD_AT;
        if (computes && last->a == o->reg && o->reg + 1 == s->next_reg) {
            last->a = to;
            return;
        }
    }
    struct insn *i = csl_emit(s, n, OP_MOVE, COST_MOVE);
    i->a = to;
    i->b = o->reg;
}

void csl_jump(struct sema *s, const struct node *n, enum op op, uint16_t reg, struct patches *p)
{
    struct insn *i = csl_emit(s, n, op, op == OP_JUMP ? COST_JUMP : COST_BRANCH);
    i->a = reg;
    p->at = csl_grow(s->arena, p->at, p->count, &p->capacity, sizeof *p->at);
    p->at[p->count++] = (uint32_t)(s->func->count - 1);
}

void csl_jump_to(struct sema *s, const struct node *n, size_t where)
{
    struct insn *i = csl_emit(s, n, OP_JUMP, COST_JUMP);
    i->imm = (int32_t)where;
}

size_t csl_label(struct sema *s)
{
    s->barrier = s->func->count;
    return s->func->count;
}

void csl_patch_here(struct sema *s, struct patches *p)
{
    for (size_t i = 0; i < p->count; i++)
        s->func->code[p->at[i]].imm = (int32_t)csl_label(s);
}

unsigned csl_object_at(const struct program *p, uint32_t address)
{
    return address < p->data_end ? p->object_of[address / 2] : 0;
}

uint32_t csl_allocate(struct sema *s, const struct node *n, const struct type *t,
                      const struct value *initial, struct str name, uint32_t align)
{
    struct program *p = s->program;
    if (p == NULL)
        FAIL(s, n, "variables in memory belong to a PE's program, not to the layout");
    if (p->object_count == OBJECT_MAX)
        FAIL(s, n, "more than %d variables in memory", OBJECT_MAX);
    uint32_t size = csl_size(t), item = t->kind == T_ARRAY ? csl_size(t->element) : size;
    uint32_t step = item > 4 ? 4 : item < 2 ? 2 : item;
    if (align > step)
        step = align;
    uint32_t start = (p->data_end + step - 1) / step * step;
    if (size > PE_MEMORY_BYTES || start + size > PE_MEMORY_BYTES)
        FAIL(s, n, "'%.*s' of %u bytes does not fit into the 48 KB of a PE", STR_ARG(name), size);
    p->data_end = (start + size + 1) & ~1u;
    struct object *o = &p->objects[++p->object_count];
    *o = (struct object){start, start + size, csl_format(s->arena, "%.*s", STR_ARG(name)), false};
    memset(p->object_of + start / 2, (int)p->object_count, (size + 1) / 2);
    if (initial == NULL)
        return start;
    if (t->kind == T_ARRAY && initial->bytes != NULL)
        memcpy(p->data + start, initial->bytes, size);
    else if (t->kind != T_ARRAY)
        csl_store_value(initial, p->data + start);
    return start;
}

/*
 * map.c - @map: a loop that calls a function. A DSD in memory gives and takes elements by index; a
 * fabric DSD does so by an operation on one wavelet, which waits like any other.
 */
#include "sema.h"

#define MAP_ARGS 15

struct map {
    const struct fn *fn;
    struct operand args[MAP_ARGS];
    size_t count, inputs; /* without and with the output */
    uint16_t index, length;
    bool has_length;
};

static bool is_fabric(const struct type *t)
{
    return t == &csl_fabin || t == &csl_fabout;
}

static struct operand constant(int64_t i)
{
    return csl_known(csl_int_value(&csl_i64, i));
}

static void take_length(struct sema *s, const struct node *n, struct map *m, uint16_t dsd)
{
    uint16_t mark = s->next_reg, count = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, OP_DSD_COUNT, COST_NONE);
    i->a = count;
    i->b = dsd;
    i = csl_emit(s, n, OP_MATH, COST_NONE);
    i->a = m->length;
    i->b = m->has_length ? m->length : count;
    i->c = count;
    i->imm = (int32_t)MATH_MIN;
    i->tc = TC_U16;
    m->has_length = true;
    s->next_reg = mark;
}

/* A longer fabric DSD is refused: no document says whether the remaining wavelets are read. */
static void check_fabric_length(struct sema *s, const struct node *n, const struct map *m,
                                uint16_t dsd)
{
    uint16_t mark = s->next_reg, count = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, OP_DSD_COUNT, COST_NONE);
    i->a = count;
    i->b = dsd;
    i = csl_emit(s, n, OP_LE, COST_NONE);
    i->a = count;
    i->b = count;
    i->c = m->length;
    i->tc = TC_U16;
    i = csl_emit(s, n, OP_ASSERT, COST_NONE);
    i->a = count;
    i->x = 1;
    s->next_reg = mark;
}

/* A fabric DSD with the same queue, for one wavelet. */
static struct operand one_wavelet(struct sema *s, const struct node *n, const struct operand *dsd)
{
    uint16_t to = csl_new_reg(s, n);
    struct operand one = constant(1);
    uint16_t length = csl_in_reg(s, n, &one);
    struct insn *i = csl_emit(s, n, OP_DSD_LENGTH, COST_DSD_CHANGE);
    i->a = to;
    i->b = dsd->reg;
    i->c = length;
    return csl_in(dsd->v.type, to);
}

static void check_element(struct sema *s, const struct node *n, const struct type *t)
{
    if (!csl_is_word(t, 16) && !csl_is_word(t, 32))
        FAIL(s, n, "%s cannot be the element of a DSD", TYPE(s, t));
}

static void element_access(struct sema *s, const struct node *n, enum op op, uint16_t value,
                           const struct map *m, uint16_t dsd, const struct type *t)
{
    struct insn *i = csl_emit(s, n, op, op == OP_DSD_GET ? COST_LOAD16 : COST_STORE16);
    i->a = value;
    i->b = dsd;
    i->c = m->index;
    i->tc = (uint8_t)csl_code(t);
}

static struct dsd_site move_site(const struct node *n, const struct type *t)
{
    return (struct dsd_site){.op = csl_size(t) == 2 ? DSD_mov16 : DSD_mov32,
                             .from_count = 1,
                             .activate = NO_ID,
                             .unblock = NO_ID,
                             .thread = NO_ID,
                             .index = NO_ID,
                             .pos = n->pos};
}

/* The next wavelet, by way of memory. */
static struct operand receive(struct sema *s, const struct node *n, uint16_t dsd,
                              const struct type *t)
{
    struct place at = {.kind = PLACE_MEM,
                       .type = t,
                       .fixed = true,
                       .offset = csl_allocate(s, n, t, NULL, csl_str("@map"), 0)};
    struct operand address = constant(at.offset);
    struct dsd_site site = move_site(n, t);
    site.to = (struct dsd_operand){.kind = OPERAND_POINTER, .reg = csl_in_reg(s, n, &address)};
    site.from[0] = (struct dsd_operand){.kind = OPERAND_DSD, .reg = dsd, .fabric = true};
    csl_emit_dsd(s, n, &site);
    return csl_load_place(s, n, &at);
}

static void send(struct sema *s, const struct node *n, uint16_t dsd, const struct operand *value)
{
    struct dsd_site site = move_site(n, value->v.type);
    site.to = (struct dsd_operand){.kind = OPERAND_DSD, .reg = dsd, .fabric = true};
    site.from[0] = (struct dsd_operand){.kind = OPERAND_SCALAR, .reg = csl_in_reg(s, n, value)};
    csl_emit_dsd(s, n, &site);
}

/* Elements of DSDs have the type of the callback's parameter. */
static const struct type *param(struct sema *s, const struct node *n, const struct fn *fn, size_t i)
{
    if (fn->decl == NULL)
        return csl_library_type(fn->text); /* of the library's, those with _f32 and _f16 */
    const struct type *t = csl_signature(s, fn);
    if (i >= t->param_count)
        FAIL(s, n, "'%.*s' takes %zu arguments", STR_ARG(fn->decl->text), t->param_count);
    return t->params[i];
}

/* Evaluates the arguments behind the callback (DSDs into registers), and the shortest length. */
static void arguments(struct sema *s, const struct node *n, struct map *m)
{
    for (size_t i = 0; i < m->count; i++) {
        struct operand *o = &m->args[i];
        *o = csl_expr(s, n->kid[i + 1], NULL);
        if (o->v.type == (i < m->inputs ? &csl_fabout : &csl_fabin))
            FAIL(s, n->kid[i + 1], "a %s cannot be the %s of @map", TYPE(s, o->v.type),
                 i < m->inputs ? "input" : "output");
        if (o->v.type != &csl_mem1d && !is_fabric(o->v.type))
            continue;
        if (i >= m->inputs)
            csl_not_const(s, n->kid[i + 1], o);
        *o = csl_in(o->v.type, csl_in_reg(s, n, o));
        take_length(s, n, m, o->reg);
    }
    if (!m->has_length)
        FAIL(s, n, "@map needs a DSD");
    for (size_t i = 0; i < m->count; i++)
        if (is_fabric(m->args[i].v.type)) {
            check_fabric_length(s, n, m, m->args[i].reg);
            m->args[i] = one_wavelet(s, n, &m->args[i]);
        }
}

static void put(struct sema *s, const struct node *n, const struct map *m,
                const struct operand *result)
{
    const struct operand *to = &m->args[m->inputs];
    const struct type *t = to->v.type;
    if (t == &csl_mem1d || t == &csl_fabout)
        check_element(s, n, result->v.type);
    if (t == &csl_mem1d) {
        uint16_t reg = csl_in_reg(s, n, result);
        element_access(s, n, OP_DSD_PUT, reg, m, to->reg, result->v.type);
        return;
    }
    if (t == &csl_fabout) {
        send(s, n, to->reg, result);
        return;
    }
    if (t->kind != T_POINTER || t->is_const || t->many || t->element != result->v.type)
        FAIL(s, n, "the output of @map is a DSD or a pointer to %s, not %s",
             TYPE(s, result->v.type), TYPE(s, t));
    struct place p = {.kind = PLACE_MEM,
                      .type = t->element,
                      .fixed = to->known,
                      .offset = to->known ? (uint32_t)to->v.i : 0,
                      .reg = to->reg};
    csl_store_place(s, n, &p, result);
}

/* One turn: the inputs' next elements, the call, the output. */
static void step(struct sema *s, const struct node *n, const struct map *m)
{
    struct operand values[MAP_ARGS];
    for (size_t k = 0; k < m->inputs; k++) {
        values[k] = m->args[k];
        bool fabric = is_fabric(values[k].v.type);
        if (values[k].v.type != &csl_mem1d && !fabric)
            continue;
        const struct type *t = param(s, n, m->fn, k);
        check_element(s, n, t);
        if (fabric) {
            values[k] = receive(s, n, m->args[k].reg, t);
            continue;
        }
        values[k] = csl_in(t, csl_new_reg(s, n));
        element_access(s, n, OP_DSD_GET, values[k].reg, m, m->args[k].reg, t);
    }
    struct operand result = csl_call_fn(s, n, m->fn, values, m->inputs);
    if (m->count > m->inputs)
        put(s, n, m, &result);
}

struct operand csl_map(struct sema *s, const struct node *n)
{
    struct value callback = csl_known_expr(s, n->kid[0], NULL);
    if (callback.type->kind != T_FN)
        FAIL(s, n, "the first argument of @map is a function");
    if (s->comptime)
        FAIL(s, n, "@map runs later: not here");
    struct map m = {.fn = callback.fn, .count = n->count - 1};
    bool gives = m.fn->decl == NULL || csl_signature(s, m.fn)->element->kind != T_VOID;
    m.inputs = m.count - gives;
    uint16_t mark = s->next_reg;
    m.index = csl_new_reg(s, n);
    m.length = csl_new_reg(s, n);
    arguments(s, n, &m);
    struct operand zero = constant(0), one = constant(1);
    csl_into(s, n, &zero, m.index);
    size_t top = csl_label(s);
    struct patches end = {0};
    uint16_t test = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, OP_LT, COST_COMPARE16);
    i->a = test;
    i->b = m.index;
    i->c = m.length;
    i->tc = TC_I64;
    csl_jump(s, n, OP_JUMP_UNLESS, test, &end);
    s->conditional++;
    step(s, n, &m);
    s->conditional--;
    uint16_t by = csl_in_reg(s, n, &one);
    i = csl_emit(s, n, OP_ADD, COST_ALU16);
    i->a = i->b = m.index;
    i->c = by;
    i->tc = TC_I64;
    csl_jump_to(s, n, top);
    csl_patch_here(s, &end);
    s->next_reg = mark;
    return csl_known((struct value){.type = &csl_void});
}

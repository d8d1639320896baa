/* loop.c - while and for: the compiler runs them or emits them. */
#include "sema.h"

struct range {
    const struct type *type;
    struct operand start, stop, step;
};

/* A known number only has to fit: start, stop and step are converted to the range's type. */
static struct operand range_number(struct sema *s, const struct node *n, const struct type *type)
{
    struct operand o = csl_expr(s, n, type);
    if (o.known && o.v.type->kind == T_INT)
        o.v.type = &csl_comptime_int;
    return csl_coerce(s, n, o, type);
}

struct operand csl_range_value(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 2, 4);
    if (n->count == 3)
        FAIL(s, n, "@range takes a type and a stop, or a type, start, stop and step");
    struct range *r = csl_alloc(s->arena, sizeof *r);
    r->type = csl_type_expr(s, n->kid[0]);
    if (!csl_is_integer(r->type))
        FAIL(s, n, "a range is of integers, not %s", TYPE(s, r->type));
    r->start = csl_known(csl_int_value(r->type, 0));
    r->step = csl_known(csl_int_value(r->type, 1));
    r->stop = range_number(s, n->kid[n->count == 2 ? 1 : 2], r->type);
    if (n->count == 4) {
        r->start = range_number(s, n->kid[1], r->type);
        r->step = range_number(s, n->kid[3], r->type);
    }
    if (!r->step.known || r->step.v.i == 0)
        FAIL(s, n, "the step of a range must be known when compiling, and not 0");
    return csl_known((struct value){.type = &csl_range, .range = r});
}

/* Does a comptime loop go on after its body? */
static bool goes_on(struct sema *s, struct target *t, enum flow *flow)
{
    if (*flow == FLOW_JUMP && s->jump == t && s->jump_continue)
        *flow = FLOW_NEXT;
    return *flow == FLOW_NEXT;
}

static enum flow comptime_while(struct sema *s, const struct node *n, struct target *t)
{
    enum flow flow = FLOW_NEXT;
    for (;;) {
        struct operand condition = csl_condition(s, n->kid[0]);
        if (!condition.known)
            FAIL(s, n, "this must be known when compiling");
        if (condition.v.i == 0)
            return flow;
        flow = csl_statement(s, n->kid[2]);
        if (!goes_on(s, t, &flow))
            return flow;
        if (n->kid[1] != NULL)
            csl_statement(s, n->kid[1]);
    }
}

static enum flow emit_while(struct sema *s, const struct node *n, struct target *t)
{
    struct operand condition;
    struct patches end = {0};
    size_t top = csl_label(s);
    s->conditional++;
    condition = csl_condition(s, n->kid[0]);
    if (condition.known && condition.v.i == 0) {
        s->conditional--;
        return FLOW_NEXT;
    }
    if (!condition.known)
        csl_jump(s, n, OP_JUMP_UNLESS, condition.reg, &end);
    enum flow flow = csl_statement(s, n->kid[2]);
    csl_patch_here(s, &t->continues);
    if (flow == FLOW_NEXT || t->continues.count > 0) {
        if (n->kid[1] != NULL)
            csl_statement(s, n->kid[1]);
        csl_jump_to(s, n, top);
    }
    s->conditional--;
    csl_patch_here(s, &end);
    /* without a condition, only a break ends the loop */
    return condition.known ? FLOW_RETURN : FLOW_NEXT;
}

static void declare_element(struct sema *s, const struct node *n, size_t which, struct value v)
{
    if (which >= n->name_count || csl_str_is(n->names[which], "_"))
        return;
    csl_declare(s, n, n->names[which], SYMBOL_KNOWN, v.type, true)->value = v;
}

static enum flow comptime_body(struct sema *s, const struct node *n, struct value element,
                               uint64_t index)
{
    struct scope scope;
    csl_step(s, n);
    csl_push(s, &scope);
    declare_element(s, n, 0, element);
    declare_element(s, n, 1, csl_int_value(&csl_u16, (int64_t)(uint16_t)index));
    enum flow flow = csl_statement(s, n->kid[1]);
    csl_pop(s, &scope);
    return flow;
}

static enum flow comptime_for(struct sema *s, const struct node *n, const struct value *over,
                              struct target *t)
{
    enum flow flow = FLOW_NEXT;
    uint64_t index = 0;
    if (over->type->kind == T_ARRAY) {
        uint32_t size = csl_size(over->type->element);
        static const uint8_t zero[8];
        for (; index < over->type->count; index++) {
            const uint8_t *at = over->bytes != NULL ? over->bytes + index * size : zero;
            flow = comptime_body(s, n, csl_load_value(over->type->element, at), index);
            if (!goes_on(s, t, &flow))
                return flow;
        }
        return flow;
    }
    const struct range *r = over->range;
    if (!r->start.known || !r->stop.known)
        FAIL(s, n, "this must be known when compiling");
    int64_t at = r->start.v.i, step = r->step.v.i, stop = r->stop.v.i;
    while (step > 0 ? at < stop : at > stop) {
        flow = comptime_body(s, n, csl_int_value(r->type, at), index++);
        if (!goes_on(s, t, &flow) || __builtin_add_overflow(at, step, &at))
            return flow;
    }
    return flow;
}

static void emit_step(struct sema *s, const struct node *n, uint16_t reg, int64_t by)
{
    uint16_t mark = s->next_reg;
    uint16_t step =
        csl_in_reg(s, n, &(struct operand){.v = csl_int_value(&csl_i64, by), .known = true});
    struct insn *i = csl_emit(s, n, OP_ADD, COST_ALU16);
    i->a = i->b = reg;
    i->c = step;
    i->tc = TC_I64; /* so that the counter can pass the type's last value */
    s->next_reg = mark;
}

/* Counts reg from its value to stop, and the index beside it if there is one; runs body(...) each
 * time. */
struct counted {
    uint16_t reg, stop, index;
    int64_t step;
    const struct type *type;
};

/* The name that the body has for the element, if any. */
static void name_element(struct sema *s, const struct node *n, const struct counted *c,
                         const struct place *array)
{
    if (csl_str_is(n->names[0], "_"))
        return;
    const struct type *type = array != NULL ? array->type->element : c->type;
    struct symbol *element = csl_declare(s, n, n->names[0], SYMBOL_REG, type, true);
    struct operand value = csl_in(c->type, c->reg);
    if (array != NULL) {
        uint16_t pointer = csl_in_reg(s, n,
                                      &(struct operand){.v = csl_int_value(&csl_i64, array->offset),
                                                        .known = array->fixed,
                                                        .reg = array->reg});
        uint16_t at = csl_new_reg(s, n);
        struct insn *i = csl_emit(s, n, OP_INDEX, COST_INDEX);
        i->a = at;
        i->b = c->reg;
        i->c = pointer;
        i->imm = (int32_t)csl_size(type);
        value = csl_load_place(s, n, &(struct place){.kind = PLACE_MEM, .type = type, .reg = at});
    }
    s->barrier = s->func->count;
    if (element->kind == SYMBOL_MEM)
        csl_store_place(s, n,
                        &(struct place){.kind = PLACE_MEM,
                                        .type = element->type,
                                        .fixed = true,
                                        .offset = element->address},
                        &value);
    else
        csl_into(s, n, &value, element->reg);
}

static void name_index(struct sema *s, const struct node *n, const struct counted *c)
{
    struct symbol *index = csl_declare(s, n, n->names[1], SYMBOL_REG, &csl_u16, true);
    if (index->kind != SYMBOL_REG)
        FAIL(s, n, "the index of a loop has no address");
    csl_into(s, n, &(struct operand){.v = {.type = &csl_u16}, .reg = c->index}, index->reg);
}

static void emit_counted(struct sema *s, const struct node *n, struct target *t,
                         const struct counted *c, const struct place *array)
{
    struct patches end = {0};
    struct scope scope;
    size_t top = csl_label(s);
    uint16_t mark = s->next_reg, test = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, OP_LT, COST_COMPARE16);
    i->a = test;
    i->b = c->step > 0 ? c->reg : c->stop;
    i->c = c->step > 0 ? c->stop : c->reg;
    i->tc = TC_I64;
    csl_jump(s, n, OP_JUMP_UNLESS, test, &end);
    s->next_reg = mark;
    csl_push(s, &scope);
    name_element(s, n, c, array);
    if (n->name_count == 2)
        name_index(s, n, c);
    s->barrier = s->func->count;
    csl_statement(s, n->kid[1]);
    csl_pop(s, &scope);
    csl_patch_here(s, &t->continues);
    emit_step(s, n, c->reg, c->step);
    if (c->index != c->reg)
        emit_step(s, n, c->index, 1);
    csl_jump_to(s, n, top);
    csl_patch_here(s, &end);
    s->next_reg = mark;
}

static uint16_t counter(struct sema *s, const struct node *n, const struct operand *from)
{
    uint16_t reg = csl_new_reg(s, n);
    csl_into(s, n,
             &(struct operand){
                 .v = {.type = &csl_i64, .i = from->v.i}, .known = from->known, .reg = from->reg},
             reg);
    s->barrier = s->func->count;
    return reg;
}

static void emit_for(struct sema *s, const struct node *n, const struct value *over,
                     const struct place *array, struct target *t)
{
    struct operand zero = csl_known(csl_int_value(&csl_i64, 0));
    struct counted c = {.step = 1, .type = &csl_u16};
    if (array != NULL) {
        struct operand count = csl_known(csl_int_value(&csl_i64, array->type->count));
        c.reg = c.index = counter(s, n, &zero);
        c.stop = counter(s, n, &count);
    } else {
        const struct range *r = over->range;
        if (r->type->kind == T_COMPTIME_INT)
            FAIL(s, n, "the range of a loop of the run time needs a type of fixed width");
        c.type = r->type;
        c.step = r->step.v.i;
        c.reg = counter(s, n, &r->start);
        c.stop = counter(s, n, &r->stop);
        c.index = n->name_count == 2 ? counter(s, n, &zero) : c.reg;
    }
    s->conditional++;
    emit_counted(s, n, t, &c, array);
    s->conditional--;
}

static enum flow for_loop(struct sema *s, const struct node *n, struct target *t)
{
    struct place p = csl_place(s, n->kid[0]);
    if (p.type->kind != T_ARRAY && p.type->kind != T_RANGE)
        FAIL(s, n, "a for statement runs over an array or a range, not %s", TYPE(s, p.type));
    if (s->comptime) {
        struct operand o = csl_load_place(s, n, &p);
        return comptime_for(s, n, &o.v, t);
    }
    if (p.type->kind == T_RANGE) {
        emit_for(s, n, p.box, NULL, t);
        return FLOW_NEXT;
    }
    csl_to_memory(s, n, &p);
    if (!p.fixed && p.offset != 0) {
        struct operand pointer = csl_address(s, n, &p);
        p.reg = pointer.reg;
        p.offset = 0;
    }
    emit_for(s, n, NULL, &p, t);
    return FLOW_NEXT;
}

enum flow csl_loop(struct sema *s, const struct node *n)
{
    struct target t;
    struct scope scope;
    uint16_t mark = s->next_reg;
    csl_enter_target(s, &t, n, true);
    csl_push(s, &scope);
    enum flow flow = n->kind == N_FOR ? for_loop(s, n, &t)
                     : s->comptime    ? comptime_while(s, n, &t)
                                      : emit_while(s, n, &t);
    csl_pop(s, &scope);
    s->next_reg = mark;
    return csl_leave_target(s, &t, flow);
}

/* stmt.c - statements, blocks and branches. */
#include "sema.h"

void csl_push(struct sema *s, struct scope *scope)
{
    *scope = (struct scope){.up = s->scope};
    s->scope = scope;
}

void csl_pop(struct sema *s, struct scope *scope)
{
    s->scope = scope->up;
}

struct target *csl_enter_target(struct sema *s, struct target *t, const struct node *n, bool loop)
{
    for (const struct target *have = s->targets; have != NULL && n->text.n != 0; have = have->up)
        if (csl_str_same(have->label, n->text))
            FAIL(s, n, "the label '%.*s' is already used around this", STR_ARG(n->text));
    *t = (struct target){.up = s->targets,
                         .label = n->text,
                         .loop = loop,
                         .comptime = s->comptime,
                         .conditional = s->conditional};
    s->targets = t;
    return t;
}

static enum flow with_scope(struct sema *s, const struct node *n)
{
    struct scope scope;
    uint16_t mark = s->next_reg;
    csl_push(s, &scope);
    enum flow flow = csl_statement(s, n);
    csl_pop(s, &scope);
    s->next_reg = mark;
    return flow;
}

static enum flow statements(struct sema *s, const struct node *n)
{
    struct scope scope;
    uint16_t mark = s->next_reg;
    enum flow flow = FLOW_NEXT;
    csl_push(s, &scope);
    for (size_t i = 0; i < n->count && flow == FLOW_NEXT; i++)
        flow = csl_statement(s, n->kid[i]);
    csl_pop(s, &scope);
    s->next_reg = mark;
    return flow;
}

enum flow csl_leave_target(struct sema *s, struct target *t, enum flow flow)
{
    s->targets = t->up;
    if (t->comptime)
        return flow == FLOW_JUMP && s->jump == t ? FLOW_NEXT : flow;
    if (t->breaks.count == 0 && !t->has_value)
        return flow;
    csl_patch_here(s, &t->breaks);
    return FLOW_NEXT;
}

enum flow csl_block(struct sema *s, const struct node *n)
{
    if (n->text.n == 0)
        return statements(s, n);
    struct target t;
    csl_enter_target(s, &t, n, false);
    enum flow flow = statements(s, n);
    if (t.has_value)
        FAIL(s, n, "the value of this block is not used");
    return csl_leave_target(s, &t, flow);
}

struct operand csl_block_value(struct sema *s, const struct node *n, const struct type *want)
{
    struct target t;
    uint16_t to = s->comptime || s->func == NULL ? 0 : csl_new_reg(s, n);
    csl_enter_target(s, &t, n, false);
    t.want = want;
    t.reg = to;
    enum flow flow = statements(s, n);
    if (t.has_value && flow == FLOW_NEXT)
        FAIL(s, n, "the end of this block is reached without a value");
    if (csl_leave_target(s, &t, flow) != FLOW_NEXT)
        FAIL(s, n, "a jump cannot stand in an expression");
    return t.has_value ? t.value : csl_known((struct value){.type = &csl_void});
}

/* ---- branches: statements if want is NULL and value is too ---- */

static struct operand void_operand(void)
{
    return csl_known((struct value){.type = &csl_void});
}

/* Compiles one branch; its value goes to *to. The first branch decides the type. */
static enum flow branch(struct sema *s, const struct node *n, const struct type **want,
                        struct operand *value, uint16_t to)
{
    if (value == NULL)
        return with_scope(s, n);
    struct operand o = *want != NULL ? csl_expr_as(s, n, *want) : csl_expr(s, n, NULL);
    if (csl_comptime_only(o.v.type))
        FAIL(s, n, "which branch is taken is known at run time only: give the value a type");
    *want = o.v.type;
    if (o.v.type->kind != T_VOID)
        csl_into(s, n, &o, to);
    s->barrier = s->func->count;
    *value = csl_in(o.v.type, to);
    return FLOW_NEXT;
}

static enum flow known_branch(struct sema *s, const struct node *n, const struct type *want,
                              struct operand *value)
{
    if (value == NULL)
        return n == NULL ? FLOW_NEXT : with_scope(s, n);
    *value = n == NULL ? void_operand() : csl_expr(s, n, want);
    return FLOW_NEXT;
}

static enum flow if_branches(struct sema *s, const struct node *n, const struct type *want,
                             struct operand *value)
{
    struct operand condition = csl_condition(s, n->kid[0]);
    if (condition.known)
        return known_branch(s, condition.v.i ? n->kid[1] : n->kid[2], want, value);
    struct patches otherwise = {0}, end = {0};
    uint16_t reg = csl_in_reg(s, n, &condition), to = value != NULL ? csl_new_reg(s, n) : 0;
    csl_jump(s, n, OP_JUMP_UNLESS, reg, &otherwise);
    s->conditional++;
    enum flow yes = branch(s, n->kid[1], &want, value, to), no = FLOW_NEXT;
    if (n->kid[2] != NULL && yes == FLOW_NEXT)
        csl_jump(s, n, OP_JUMP, 0, &end);
    csl_patch_here(s, &otherwise);
    if (n->kid[2] != NULL)
        no = branch(s, n->kid[2], &want, value, to);
    else if (value != NULL && value->v.type->kind != T_VOID)
        FAIL(s, n, "an if with a value needs an else");
    s->conditional--;
    csl_patch_here(s, &end);
    return yes != FLOW_NEXT && no != FLOW_NEXT ? FLOW_RETURN : FLOW_NEXT;
}

struct operand csl_if_value(struct sema *s, const struct node *n, const struct type *want)
{
    struct operand value = void_operand();
    if_branches(s, n, want, &value);
    return value;
}

/* Checks the values of all cases: known, of the input's type, each once. */
static int64_t *case_values(struct sema *s, const struct node *n, const struct type *type)
{
    size_t count = 0, at = 0;
    for (size_t c = 1; c < n->count; c++)
        count += n->kid[c]->count;
    int64_t *values = csl_alloc_array(s->arena, count, sizeof *values);
    for (size_t c = 1; c < n->count; c++)
        for (size_t i = 0; i + 1 < n->kid[c]->count; i++) {
            values[at] = csl_known_expr(s, n->kid[c]->kid[i], type).i;
            for (size_t have = 0; have < at; have++)
                if (values[have] == values[at])
                    FAIL(s, n->kid[c]->kid[i], "this value has a branch already");
            at++;
        }
    return values;
}

static enum flow switch_branches(struct sema *s, const struct node *n, const struct type *want,
                                 struct operand *value)
{
    struct operand input = csl_expr(s, n->kid[0], NULL);
    const struct type *type = input.v.type;
    if (type->kind != T_INT)
        FAIL(s, n, "a switch is over an integer of fixed width, not %s", TYPE(s, type));
    const struct node *otherwise = NULL;
    for (size_t c = 1; c < n->count; c++)
        if (n->kid[c]->count == 1) {
            if (otherwise != NULL)
                FAIL(s, n->kid[c], "a switch has one else");
            otherwise = n->kid[c]->kid[0];
        }
    if (otherwise == NULL)
        FAIL(s, n, "the switch does not cover all values of %s: an else is needed", TYPE(s, type));
    const int64_t *values = case_values(s, n, type);
    size_t at = 0;
    struct patches end = {0};
    uint16_t to = 0, reg = 0;
    if (!input.known) {
        to = csl_new_reg(s, n);
        reg = csl_in_reg(s, n, &input);
    }
    enum flow flow = FLOW_RETURN;
    s->conditional += !input.known;
    for (size_t c = 1; c < n->count; c++) {
        const struct node *branch_node = n->kid[c];
        struct patches here = {0}, next = {0};
        const struct node *body = branch_node->kid[branch_node->count - 1];
        if (body == otherwise)
            continue;
        for (size_t i = 0; i + 1 < branch_node->count; i++, at++) {
            if (input.known && input.v.i == values[at])
                return known_branch(s, body, want, value);
            if (input.known)
                continue;
            struct operand equal = csl_binary(s, branch_node, TOK_EQ, csl_in(type, reg),
                                              csl_known(csl_int_value(type, values[at])));
            csl_jump(s, branch_node, OP_JUMP_IF, equal.reg, &here);
        }
        if (input.known)
            continue;
        csl_jump(s, branch_node, OP_JUMP, 0, &next);
        csl_patch_here(s, &here);
        if (branch(s, body, &want, value, to) == FLOW_NEXT) {
            csl_jump(s, branch_node, OP_JUMP, 0, &end);
            flow = FLOW_NEXT;
        }
        csl_patch_here(s, &next);
    }
    if (input.known)
        return known_branch(s, otherwise, want, value);
    if (branch(s, otherwise, &want, value, to) == FLOW_NEXT)
        flow = FLOW_NEXT;
    s->conditional--;
    csl_patch_here(s, &end);
    return flow;
}

static enum flow switch_statement(struct sema *s, const struct node *n)
{
    return switch_branches(s, n, NULL, NULL);
}

struct operand csl_switch_value(struct sema *s, const struct node *n, const struct type *want)
{
    struct operand value = void_operand();
    switch_branches(s, n, want, &value);
    return value;
}

/* ---- single statements ---- */

static struct value zero_of(struct sema *s, const struct node *n, const struct type *t)
{
    if (csl_comptime_only(t) && !csl_is_number(t))
        FAIL(s, n, "a variable of type %s needs a value", TYPE(s, t));
    return (struct value){.type = t};
}

static void declare_known(struct sema *s, const struct node *n, struct operand *o,
                          const struct type *type)
{
    if (!o->known)
        FAIL(s, n, "the value of '%.*s' must be known when compiling", STR_ARG(n->text));
    bool is_const = n->op == TOK_CONST;
    struct symbol *sym =
        csl_declare(s, n, n->text, is_const ? SYMBOL_KNOWN : SYMBOL_BOX, type, is_const);
    sym->value = (struct value){.type = type};
    if (is_const) {
        sym->value = o->v;
        return;
    }
    struct place p = {
        .kind = PLACE_BOX, .type = type, .box = &sym->value, .conditional = s->conditional};
    csl_store_place(s, n, &p, o);
}

static void declare(struct sema *s, const struct node *n)
{
    const struct type *type = n->kid[0] != NULL ? csl_type_expr(s, n->kid[0]) : NULL;
    uint16_t mark = s->next_reg;
    bool comptime = s->comptime, known_now = comptime || (n->flags & NODE_COMPTIME);
    struct operand o;
    if (n->kid[1] == NULL) {
        o = csl_known(zero_of(s, n, type));
    } else {
        s->comptime = known_now;
        o = type != NULL ? csl_expr_as(s, n->kid[1], type) : csl_expr(s, n->kid[1], NULL);
        s->comptime = comptime;
        type = o.v.type;
    }
    if ((type->kind == T_VOID && n->op != TOK_CONST) || (type->kind == T_MODULE && !known_now))
        FAIL(s, n, "a variable cannot hold a value of type %s", TYPE(s, type));
    if (known_now || (o.known && n->op == TOK_CONST)) {
        declare_known(s, n, &o, type);
        return;
    }
    if (csl_comptime_only(type))
        FAIL(s, n, "'%.*s' would be %s: a variable of the run time needs a type", STR_ARG(n->text),
             TYPE(s, type));
    uint16_t top = s->next_reg;
    s->next_reg = mark;
    struct symbol *sym = csl_declare(s, n, n->text, SYMBOL_REG, type, n->op == TOK_CONST);
    uint16_t after = s->next_reg;
    s->next_reg = top > after ? top : after;
    if (sym->kind == SYMBOL_REG) {
        csl_into(s, n, &o, sym->reg);
    } else if (n->kid[1] != NULL) {
        struct place p = {.kind = PLACE_MEM, .type = type, .fixed = true, .offset = sym->address};
        csl_store_place(s, n, &p, &o);
    }
    s->next_reg = after;
}

static void assign(struct sema *s, const struct node *n)
{
    static const enum token_kind plain[] = {TOK_SHL, TOK_SHR, TOK_ADD, TOK_SUB, TOK_MUL,
                                            TOK_DIV, TOK_REM, TOK_AND, TOK_OR,  TOK_XOR};
    struct place p = csl_place(s, n->kid[0]);
    struct operand o;
    if (n->op == TOK_SET) {
        o = csl_expr_as(s, n->kid[1], p.type);
    } else {
        struct operand old = csl_load_place(s, n->kid[0], &p);
        struct operand by = csl_expr(s, n->kid[1], NULL);
        o = csl_coerce(s, n, csl_binary(s, n, plain[n->op - TOK_SHL_SET], old, by), p.type);
    }
    csl_store_place(s, n, &p, &o);
}

static struct target *find_target(struct sema *s, const struct node *n)
{
    struct target *t = s->targets;
    while (t != NULL && !(n->text.n == 0 ? t->loop : csl_str_same(t->label, n->text)))
        t = t->up;
    if (t == NULL)
        FAIL(s, n, "there is no loop or block to leave here");
    if (t->comptime != s->comptime)
        FAIL(s, n, "comptime code cannot leave what runs later");
    return t;
}

/* Is this statement surely reached: under no run-time condition, and behind no break out of a block
 * around it? */
static bool surely_here(const struct sema *s, unsigned conditional, const struct target *around)
{
    for (const struct target *t = s->targets; t != around; t = t->up)
        if (t->breaks.count > 0)
            return false;
    return s->conditional == conditional;
}

static void break_value(struct sema *s, const struct node *n, struct target *t)
{
    struct operand o =
        t->want != NULL ? csl_expr_as(s, n->kid[0], t->want) : csl_expr(s, n->kid[0], NULL);
    if (t->loop)
        FAIL(s, n, "a loop has no value");
    bool first = !t->has_value && t->breaks.count == 0;
    t->has_value = true;
    if (s->comptime || (o.known && first && surely_here(s, t->conditional, t))) {
        t->value = o;
        return;
    }
    if (csl_comptime_only(o.v.type))
        FAIL(s, n, "which value the block has is known at run time only: give it a type");
    t->want = o.v.type;
    csl_into(s, n, &o, t->reg);
    t->value = csl_in(o.v.type, t->reg);
}

static enum flow jump(struct sema *s, const struct node *n)
{
    struct target *t = find_target(s, n);
    if (n->kind == N_CONTINUE && !t->loop)
        FAIL(s, n, "only a loop can be continued");
    if (n->kid[0] != NULL)
        break_value(s, n, t);
    if (s->comptime) {
        s->jump = t;
        s->jump_continue = n->kind == N_CONTINUE;
        return FLOW_JUMP;
    }
    if (!(t->has_value && t->value.known))
        csl_jump(s, n, OP_JUMP, 0, n->kind == N_BREAK ? &t->breaks : &t->continues);
    return FLOW_JUMP;
}

static enum flow give_back(struct sema *s, const struct node *n)
{
    struct call *c = s->call;
    if (c == NULL || c->comptime != s->comptime)
        FAIL(s, n, "there is no function to return from here");
    struct operand o = void_operand();
    if (n->kid[0] != NULL)
        o = csl_expr_as(s, n->kid[0], c->result);
    else if (c->result->kind != T_VOID)
        FAIL(s, n, "the function returns a value of type %s", TYPE(s, c->result));
    bool value = o.v.type->kind != T_VOID, first = c->returns.count == 0;
    c->has_value = true;
    if (s->comptime ||
        (c->inlined && value && o.known && first && surely_here(s, c->conditional, NULL))) {
        c->value = o;
        return FLOW_RETURN;
    }
    if (c->inlined) {
        if (value)
            csl_into(s, n, &o, c->value.reg);
        csl_jump(s, n, OP_JUMP, 0, &c->returns);
        return FLOW_RETURN;
    }
    uint16_t reg = value ? csl_in_reg(s, n, &o) : 0;
    struct insn *i = csl_emit(s, n, OP_RETURN, COST_RETURN);
    i->a = reg;
    i->b = value;
    return FLOW_RETURN;
}

static void expression(struct sema *s, const struct node *n)
{
    struct operand o = csl_expr(s, n, NULL);
    if (o.v.type->kind != T_VOID)
        FAIL(s, n, "the result of type %s is not used", TYPE(s, o.v.type));
}

enum flow csl_statement(struct sema *s, const struct node *n)
{
    enum flow flow = FLOW_NEXT;
    uint16_t mark = s->next_reg;
    csl_step(s, n);
    switch (n->kind) {
    case N_VAR:
        declare(s, n);
        mark = s->next_reg;
        break;
    case N_ASSIGN:
        assign(s, n);
        break;
    case N_IF:
        flow = if_branches(s, n, NULL, NULL);
        break;
    case N_BLOCK:
        flow = csl_block(s, n);
        break;
    case N_SWITCH:
        flow = switch_statement(s, n);
        break;
    case N_WHILE:
    case N_FOR:
        flow = csl_loop(s, n);
        break;
    case N_BREAK:
    case N_CONTINUE:
        flow = jump(s, n);
        break;
    case N_RETURN:
        flow = give_back(s, n);
        break;
    default:
        expression(s, n);
        break;
    }
    s->next_reg = mark;
    if (s->func != NULL)
        s->barrier = s->func->count;
    return flow;
}

/* call.c - functions: the compiler computes a call, expands it in place, or emits it. */
#include "sema.h"

/* ---- which locals must be in memory ---- */

static void scan(struct sema *s, struct fn *fn, const struct node *n)
{
    if (n == NULL)
        return;
    if (n->kind == N_ADDRESS) {
        const struct node *root = n->kid[0];
        while (root->kind == N_INDEX)
            root = root->kid[0];
        if (root->kind == N_IDENT) {
            fn->taken = csl_grow(s->arena, fn->taken, fn->taken_count, &fn->taken_capacity,
                                 sizeof *fn->taken);
            fn->taken[fn->taken_count++] = root->text;
        }
    }
    for (size_t i = 0; i < n->count; i++)
        scan(s, fn, n->kid[i]);
}

const struct fn *csl_fn_of(struct sema *s, struct module *m, const struct node *decl,
                           struct str text)
{
    for (const struct fn *have = s->fns; have != NULL; have = have->next)
        if (have->module == m && have->decl == decl &&
            (decl != NULL || csl_str_same(have->text, text)))
            return have;
    struct fn *fn = csl_alloc(s->arena, sizeof *fn);
    *fn = (struct fn){.decl = decl, .module = m, .text = text, .next = s->fns};
    if (decl != NULL)
        scan(s, fn, decl->kid[decl->count - 1]);
    s->fns = fn;
    return fn;
}

/* ---- the callee's view, and back ---- */

static struct sema enter(struct sema *s, const struct fn *fn, struct scope *scope)
{
    struct sema before = *s;
    s->module = fn->module;
    s->scope = scope;
    return before;
}

static void leave(struct sema *s, const struct sema *before)
{
    s->module = before->module;
    s->scope = before->scope;
}

static size_t param_count(const struct fn *fn)
{
    return fn->decl->count - 2;
}

static const struct type *param_type(struct sema *s, const struct fn *fn, size_t i,
                                     struct scope *scope)
{
    struct sema before = enter(s, fn, scope);
    const struct type *t = csl_type_expr(s, fn->decl->kid[i]->kid[0]);
    leave(s, &before);
    return t;
}

static const struct type *result_type(struct sema *s, const struct fn *fn, struct scope *scope)
{
    struct sema before = enter(s, fn, scope);
    const struct type *t = csl_type_expr(s, fn->decl->kid[param_count(fn)]);
    leave(s, &before);
    return t;
}

const struct type *csl_signature(struct sema *s, const struct fn *fn)
{
    struct scope scope = {0};
    size_t count = param_count(fn);
    const struct type **params = csl_alloc_array(s->arena, count, sizeof *params);
    for (size_t i = 0; i < count; i++)
        params[i] = param_type(s, fn, i, &scope);
    return csl_fn_type(&s->l->types, params, count, result_type(s, fn, &scope));
}

static struct symbol *bind(struct sema *s, const struct fn *fn, size_t i, struct scope *scope,
                           enum symbol_kind kind, const struct type *type)
{
    struct sema before = enter(s, fn, scope);
    struct symbol *sym = csl_declare(s, fn->decl->kid[i], fn->decl->kid[i]->text, kind, type, true);
    leave(s, &before);
    return sym;
}

/* Compiles the body as a function of its own; comptime arguments are bound in scope. */
static void compile_body(struct sema *s, const struct node *n, struct instance *inst,
                         struct scope *scope)
{
    const struct fn *fn = inst->fn;
    struct sema before = *s;
    struct program *p = s->program;
    struct call call = {.fn = fn, .result = inst->result};
    if (++s->depth > CALL_DEPTH)
        FAIL(s, n, "functions call each other more than %u deep", CALL_DEPTH);
    s->func = p->funcs[inst->func];
    s->module = fn->module;
    s->scope = scope;
    s->comptime = s->in_place = false;
    s->where = WHERE_CODE;
    s->conditional = 0;
    s->targets = NULL;
    s->barrier = 0;
    s->next_reg = 0;
    s->call = &call;
    for (size_t i = 0; i < param_count(fn); i++) {
        const struct node *param = fn->decl->kid[i];
        if (i < inst->arg_count && inst->args[i].type != NULL)
            continue;
        const struct type *t = param_type(s, fn, i, scope);
        if (csl_comptime_only(t) || t->kind == T_ARRAY)
            FAIL(s, param, "a parameter of type %s must be comptime", TYPE(s, t));
        struct symbol *sym = csl_declare(s, param, param->text, SYMBOL_KNOWN, t, true);
        sym->kind = SYMBOL_REG;
        sym->reg = csl_new_reg(s, param);
        for (size_t k = 0; k < fn->taken_count; k++)
            if (csl_str_same(fn->taken[k], param->text))
                FAIL(s, param, "the address of a parameter cannot be taken");
    }
    enum flow flow = csl_block(s, fn->decl->kid[fn->decl->count - 1]);
    if (flow == FLOW_NEXT && inst->result->kind != T_VOID)
        FAIL(s, fn->decl, "the end of '%.*s' is reached without a value", STR_ARG(fn->decl->text));
    csl_emit(s, fn->decl, OP_RETURN, COST_RETURN);
    p->registers += s->func->registers;
    before.instances = s->instances;
    before.fns = s->fns;
    *s = before;
}

/* The function compiled for args (those with a type are comptime), which calls, @block and the like
 * refer to. */
uint16_t csl_instance(struct sema *s, const struct node *n, const struct fn *fn,
                      const struct value *args, size_t count, const struct type **result)
{
    struct instance *have = s->instances;
    for (; have != NULL; have = have->next) {
        bool same = have->fn == fn && have->arg_count == count;
        for (size_t i = 0; same && i < count; i++)
            same = args[i].type == NULL
                       ? have->args[i].type == NULL
                       : have->args[i].type != NULL && csl_same_value(&args[i], &have->args[i]);
        if (same)
            break;
    }
    if (have != NULL && have->busy)
        FAIL(s, n, "'%.*s' calls itself: recursion is not in the subset", STR_ARG(fn->decl->text));
    if (have == NULL) {
        struct program *p = s->program;
        struct scope scope = {0};
        have = csl_alloc(s->arena, sizeof *have);
        struct value *copy = csl_alloc_array(s->arena, count, sizeof *copy);
        for (size_t i = 0; i < count; i++)
            copy[i] = args[i];
        p->funcs = csl_grow(s->arena, p->funcs, p->func_count, &p->func_capacity, sizeof *p->funcs);
        if (p->func_count == NO_ID)
            FAIL(s, n, "too many functions");
        *have = (struct instance){.fn = fn,
                                  .args = copy,
                                  .arg_count = count,
                                  .func = (uint16_t)p->func_count,
                                  .busy = true,
                                  .next = s->instances};
        struct func *func = csl_alloc(s->arena, sizeof *func);
        func->name = csl_format(s->arena, "%.*s", STR_ARG(fn->decl->text));
        p->funcs[p->func_count++] = func;
        s->instances = have;
        for (size_t i = 0; i < count; i++)
            if (args[i].type != NULL)
                bind(s, fn, i, &scope, SYMBOL_KNOWN, args[i].type)->value = args[i];
        have->result = result_type(s, fn, &scope);
        if (csl_comptime_only(have->result) || have->result->kind == T_ARRAY)
            FAIL(s, n, "'%.*s' returns %s: call it with comptime", STR_ARG(fn->decl->text),
                 TYPE(s, have->result));
        compile_body(s, n, have, &scope);
        have->busy = false;
    }
    if (result != NULL)
        *result = have->result;
    return have->func;
}

/* ---- three ways to call ---- */

static struct operand run_comptime(struct sema *s, const struct node *n, const struct fn *fn,
                                   struct scope *scope, bool inlined)
{
    struct call call = {.up = s->call,
                        .fn = fn,
                        .comptime = !inlined,
                        .inlined = inlined,
                        .conditional = s->conditional};
    struct sema before = *s;
    call.result = result_type(s, fn, scope);
    if (++s->depth > CALL_DEPTH)
        FAIL(s, n, "functions call each other more than %u deep", CALL_DEPTH);
    bool value = inlined && call.result->kind != T_VOID;
    if (value && !csl_is_scalar(call.result))
        FAIL(s, n, "an inline function that runs later cannot return %s", TYPE(s, call.result));
    call.value = value ? csl_in(call.result, csl_new_reg(s, n))
                       : csl_known((struct value){.type = &csl_void});
    s->module = fn->module;
    s->scope = scope;
    s->call = &call;
    s->targets = NULL;
    s->in_place = false;
    enum flow flow = csl_block(s, fn->decl->kid[fn->decl->count - 1]);
    s->in_place = before.in_place;
    if (flow == FLOW_NEXT && call.result->kind != T_VOID)
        FAIL(s, n, "the end of '%.*s' is reached without a value", STR_ARG(fn->decl->text));
    if (inlined)
        csl_patch_here(s, &call.returns);
    s->module = before.module;
    s->scope = before.scope;
    s->call = before.call;
    s->targets = before.targets;
    s->depth = before.depth;
    return call.value;
}

/* Argument i, from its node or from args. */
static struct operand argument(struct sema *s, const struct node *n, struct operand *args, size_t i,
                               const struct type *type)
{
    return args != NULL ? csl_coerce(s, n, args[i], type) : csl_expr_as(s, n->kid[i + 1], type);
}

static struct operand call_now(struct sema *s, const struct node *n, const struct fn *fn,
                               struct operand *args, bool inlined)
{
    struct scope scope = {0};
    for (size_t i = 0; i < param_count(fn); i++) {
        const struct type *type = param_type(s, fn, i, &scope);
        struct operand o = argument(s, n, args, i, type);
        if (!o.known && (!inlined || (fn->decl->kid[i]->flags & NODE_COMPTIME)))
            FAIL(s, n, "argument %zu must be known when compiling", i + 1);
        struct symbol *sym = bind(s, fn, i, &scope, SYMBOL_KNOWN, type);
        sym->value = o.v;
        if (!o.known) {
            sym->kind = SYMBOL_REG;
            sym->reg = o.reg;
        }
    }
    return run_comptime(s, n, fn, &scope, inlined);
}

static struct operand call_later(struct sema *s, const struct node *n, const struct fn *fn,
                                 struct operand *args)
{
    struct scope scope = {0};
    size_t count = param_count(fn);
    struct value *known = csl_alloc_array(s->arena, count, sizeof *known);
    uint16_t base = s->next_reg, passed = 0;
    for (size_t i = 0; i < count; i++)
        passed = (uint16_t)(passed + !(fn->decl->kid[i]->flags & NODE_COMPTIME));
    for (uint16_t i = 0; i < passed; i++)
        csl_new_reg(s, n);
    uint16_t result_reg = csl_new_reg(s, n), mark = s->next_reg, at = base;
    for (size_t i = 0; i < count; i++) {
        const struct type *type = param_type(s, fn, i, &scope);
        struct operand o = argument(s, n, args, i, type);
        if (fn->decl->kid[i]->flags & NODE_COMPTIME) {
            if (!o.known)
                FAIL(s, n, "argument %zu must be known when compiling", i + 1);
            known[i] = o.v;
            bind(s, fn, i, &scope, SYMBOL_KNOWN, type)->value = o.v;
        } else {
            csl_into(s, n, &o, at++);
        }
        s->next_reg = mark;
    }
    const struct type *result;
    uint16_t func = csl_instance(s, n, fn, known, count, &result);
    struct insn *i = csl_emit(s, n, OP_CALL, COST_CALL);
    i->a = base;
    i->b = result_reg;
    i->c = result->kind != T_VOID;
    i->imm = func;
    i->x = (uint8_t)passed;
    s->barrier = s->func->count;
    if (result->kind == T_VOID)
        return csl_known((struct value){.type = &csl_void});
    return csl_in(result, result_reg);
}

struct operand csl_call_fn(struct sema *s, const struct node *n, const struct fn *fn,
                           struct operand *args, size_t count)
{
    if (fn->decl == NULL)
        return csl_library_call(s, n, fn, args, count);
    if (fn->decl->flags & NODE_TASK)
        FAIL(s, n, "'%.*s' is a task and cannot be called", STR_ARG(fn->decl->text));
    if (count != param_count(fn))
        FAIL(s, n, "'%.*s' takes %zu arguments, not %zu", STR_ARG(fn->decl->text), param_count(fn),
             count);
    if (s->comptime)
        return call_now(s, n, fn, args, false);
    if (fn->decl->flags & NODE_INLINE)
        return call_now(s, n, fn, args, true);
    return call_later(s, n, fn, args);
}

struct operand csl_call(struct sema *s, const struct node *n)
{
    struct place p = csl_place(s, n->kid[0]);
    if (p.kind != PLACE_BOX || p.box->type->kind != T_FN)
        FAIL(s, n, "a value of type %s cannot be called", TYPE(s, p.type));
    const struct fn *fn = p.box->fn;
    if (fn->decl != NULL)
        return csl_call_fn(s, n, fn, NULL, n->count - 1);
    struct operand *args = csl_alloc_array(s->arena, n->count, sizeof *args);
    for (size_t i = 1; i < n->count; i++)
        args[i - 1] = csl_expr(s, n->kid[i], NULL);
    return csl_library_call(s, n, fn, args, n->count - 1);
}

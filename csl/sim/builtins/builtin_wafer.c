/* builtin_wafer.c - builtins about colors, queues, tasks and what a PE shows the host. */
#include <string.h>

#include "sema.h"

static void only_top(struct sema *s, const struct node *n)
{
    csl_only(s, n, WHERE_TOP, "top-level comptime block");
}

struct operand csl_make_handle(struct sema *s, const struct node *n, const struct type *t,
                               int64_t least, int64_t most)
{
    csl_arguments(s, n, 1, 1);
    struct operand o = csl_expr(s, n->kid[0], NULL);
    if (o.known && csl_is_integer(o.v.type) && (o.v.i < least || o.v.i > most))
        FAIL(s, n, "%lld is not a %s: %lld to %lld are", (long long)o.v.i, TYPE(s, t),
             (long long)least, (long long)most);
    if (o.known ? !csl_is_integer(o.v.type) : o.v.type != &csl_u16)
        FAIL(s, n, "a %s is made of a known integer or a u16, not of %s", TYPE(s, t),
             TYPE(s, o.v.type));
    o.v.type = t;
    return o;
}

static struct operand data_task_id(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 1, 1);
    bool wse2 = s->l->arch == CSL_WSE2;
    const struct type *from = wse2 ? &csl_color : &csl_input_queue;
    struct operand o = csl_expr_as(s, n->kid[0], from);
    o.v.type = &csl_data_task;
    return o;
}

static bool handle_builtin(struct sema *s, const struct node *n, struct operand *result)
{
    bool wse2 = s->l->arch == CSL_WSE2;
    if (csl_str_is(n->text, "get_color"))
        *result = csl_make_handle(s, n, &csl_color, 0, COLORS - 1);
    else if (csl_str_is(n->text, "get_input_queue"))
        *result = csl_make_handle(s, n, &csl_input_queue, 0, QUEUES - 1);
    else if (csl_str_is(n->text, "get_output_queue"))
        *result = csl_make_handle(s, n, &csl_output_queue, 0, wse2 ? 5 : QUEUES - 1);
    else if (csl_str_is(n->text, "get_local_task_id"))
        *result = csl_make_handle(s, n, &csl_local_task, wse2 ? 0 : 8, LOCAL_TASKS - 1);
    else if (csl_str_is(n->text, "get_ut_id"))
        *result = csl_make_handle(s, n, &csl_ut, 0, QUEUES - 1);
    else if (csl_str_is(n->text, "get_data_task_id"))
        *result = data_task_id(s, n);
    else
        return false;
    return true;
}

/* ---- tasks and queues of a PE ---- */

/* Bodies are compiled after all top-level comptime blocks have run, because they may name tasks
 * that are bound later. */
void csl_defer(struct sema *s, const struct node *n, const struct fn *fn, enum deferred_kind kind,
               size_t index, size_t params)
{
    struct deferred *d = csl_alloc(s->arena, sizeof *d);
    *d = (struct deferred){s->deferred, n, fn, kind, index, params};
    s->deferred = d;
}

/* The queue in which a color's wavelets arrive. On WSE-2 the simulator finds one where the program
 * names none. */
static unsigned queue_of_color(struct sema *s, const struct node *n, size_t color)
{
    struct program *p = s->program;
    for (unsigned q = 0; q < QUEUES; q++)
        if (p->in_color[q] == (int)color)
            return q;
    for (unsigned q = QUEUES; q-- > 1;) /* the first is memcpy's */
        if (p->in_color[q] < 0) {
            p->in_color[q] = (int8_t)color;
            return q;
        }
    FAIL(s, n, "no input queue is left for color %zu", color);
}

static void place_data_task(struct sema *s, const struct deferred *d, uint16_t func)
{
    struct program *p = s->program;
    bool wse2 = s->l->arch == CSL_WSE2;
    unsigned q = wse2 ? queue_of_color(s, d->node, d->index) : (unsigned)d->index;
    const struct type *t = csl_signature(s, d->fn);
    if (wse2 && p->local_task[d->index] != NO_ID)
        FAIL(s, d->node, "on WSE-2 tasks share their ids with colors: %zu is a local task",
             d->index);
    for (size_t i = 0; i < d->params; i++)
        p->data_task_codes[q][i] = (uint8_t)csl_code(t->params[i]);
    p->data_task_params[q] = (uint8_t)d->params;
    p->data_task[q] = func;
    if (wse2 && (s->color_blocked >> d->index & 1))
        p->queue_blocked |= (uint8_t)(1u << q);
}

/* A queue without a data task is blocked for control wavelets too, unless the program says
 * otherwise. */
static void open_queues(struct sema *s)
{
    struct program *p = s->program;
    for (size_t color = 0; color < COLORS; color++)
        if (s->color_open >> color & 1)
            s->queue_open |= (uint8_t)(1u << queue_of_color(s, s->open_node, color));
    for (unsigned q = 0; q < QUEUES; q++)
        if (p->data_task[q] == NO_ID && !(s->queue_open >> q & 1))
            p->queue_blocked |= (uint8_t)(1u << q);
}

void csl_compile_deferred(struct sema *s)
{
    struct program *p = s->program;
    struct value none[15] = {{0}};
    for (const struct deferred *d = s->deferred; d != NULL; d = d->next) {
        uint16_t func = csl_instance(s, d->node, d->fn, none, d->params, NULL);
        if (d->kind == DEFER_LOCAL)
            p->local_task[d->index] = func;
        else if (d->kind == DEFER_DATA)
            place_data_task(s, d, func);
        else if (d->kind == DEFER_CONTROL)
            p->control_task[d->index] = func;
        else
            p->exports[d->index].func = func;
    }
    open_queues(s);
}

const struct fn *csl_task_of(struct sema *s, const struct node *n)
{
    struct value v = csl_known_expr(s, n, NULL);
    if (v.type->kind != T_FN || v.fn->decl == NULL || !(v.fn->decl->flags & NODE_TASK))
        FAIL(s, n, "expected a task");
    if (csl_signature(s, v.fn)->element->kind != T_VOID)
        FAIL(s, n, "a task returns nothing");
    return v.fn;
}

static void bind_local(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 2, 2);
    const struct fn *fn = csl_task_of(s, n->kid[0]);
    int64_t id = csl_known_expr(s, n->kid[1], &csl_local_task).i;
    csl_not_reserved(s, n, &csl_local_task, id);
    if (fn->decl->count != 2)
        FAIL(s, n, "a local task has no arguments");
    if (s->program->local_task[id] != NO_ID)
        FAIL(s, n, "local task %lld is bound already", (long long)id);
    s->program->local_task[id] = 0;
    s->local_fn[id] = fn;
    csl_defer(s, n, fn, DEFER_LOCAL, (size_t)id, 0);
}

static void bind_data(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 2, 2);
    const struct fn *fn = csl_task_of(s, n->kid[0]);
    int64_t id = csl_known_expr(s, n->kid[1], &csl_data_task).i;
    const struct type *t = csl_signature(s, fn);
    csl_not_reserved(s, n, s->l->arch == CSL_WSE2 ? &csl_color : &csl_input_queue, id);
    if (t->param_count < 1 || t->param_count > 2)
        FAIL(s, n, "a data task has one argument or two, not %zu", t->param_count);
    for (size_t i = 0; i < t->param_count; i++)
        if (!csl_is_word(t->params[i], 16) &&
            !(t->param_count == 1 && csl_is_word(t->params[i], 32)))
            FAIL(s, n,
                 "a data task has a number of 16 or 32 bits or two of 16 as arguments, not %s",
                 TYPE(s, t->params[i]));
    for (const struct deferred *d = s->deferred; d != NULL; d = d->next)
        if (d->kind == DEFER_DATA && d->index == (size_t)id)
            FAIL(s, n, "data task %lld is bound already", (long long)id);
    csl_defer(s, n, fn, DEFER_DATA, (size_t)id, t->param_count);
}

static void initialize_queue(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 1, 2);
    struct program *p = s->program;
    bool wse2 = s->l->arch == CSL_WSE2;
    struct value queue = csl_known_expr(s, n->kid[0], NULL);
    bool in = queue.type == &csl_input_queue;
    if (!in && queue.type != &csl_output_queue)
        FAIL(s, n, "expected a queue, found %s", TYPE(s, queue.type));
    csl_not_reserved(s, n, queue.type, queue.i);
    struct tuple none = {0}, *config = &none;
    if (n->count == 2)
        config = csl_known_expr(s, n->kid[1], &csl_struct).fields;
    const struct value *color = csl_field(config, "color");
    if (config->count > (color != NULL))
        FAIL(s, n, "a queue's configuration is .{ .color = ... }; others are not in the subset");
    if (color != NULL && color->type != &csl_color)
        FAIL(s, n, "expected color, found %s", TYPE(s, color->type));
    if (!in && wse2 && config->count > 0)
        FAIL(s, n, "on WSE-2 an output queue has no configuration");
    if ((in || !wse2) && color == NULL)
        FAIL(s, n, "the queue needs a .color");
    if (in) {
        bool same = wse2 && p->in_color[queue.i] == color->i; /* a fabin_dsd has named it */
        if (s->queue_ready >> queue.i & 1)
            FAIL(s, n, "input queue %lld is initialized already", (long long)queue.i);
        s->queue_ready = (uint8_t)(s->queue_ready | 1u << queue.i);
        if (p->in_color[queue.i] >= 0 && !same)
            FAIL(s, n, "input queue %lld has a color already", (long long)queue.i);
        for (unsigned q = 0; q < QUEUES; q++)
            if (p->in_color[q] == color->i && q != queue.i)
                FAIL(s, n, "color %lld arrives in input queue %u already", (long long)color->i, q);
        p->in_color[queue.i] = (int8_t)color->i;
        return;
    }
    if (p->out_ready[queue.i])
        FAIL(s, n, "output queue %lld is initialized already", (long long)queue.i);
    p->out_ready[queue.i] = true;
    p->out_color[queue.i] = color != NULL ? (int8_t)color->i : -1;
}

uint16_t csl_local_task_of(struct sema *s, const struct node *n, const struct operand *o)
{
    if (!o->known)
        FAIL(s, n, "the task must be known when compiling");
    if (o->v.type == &csl_local_task)
        return (uint16_t)o->v.i;
    if (o->v.type->kind == T_FN && o->v.fn->decl != NULL)
        for (uint16_t id = 0; id < LOCAL_TASKS; id++)
            if (s->local_fn[id] == o->v.fn)
                return id;
    FAIL(s, n, "expected a local_task_id, or a task that is bound to one, found %s",
         TYPE(s, o->v.type));
}

static enum id_kind id_kind_of(struct sema *s, const struct node *n, const struct type *t)
{
    bool wse2 = s->l->arch == CSL_WSE2;
    if (t == &csl_local_task)
        return ID_LOCAL;
    if (t == &csl_data_task)
        return wse2 ? ID_COLOR : ID_QUEUE;
    if (wse2 && t == &csl_color)
        return ID_COLOR;
    if (!wse2 && t == &csl_input_queue)
        return ID_QUEUE;
    FAIL(s, n, "@%.*s is not for %s", STR_ARG(n->text), TYPE(s, t));
}

static void set_blocked(struct sema *s, enum id_kind kind, int64_t id, bool block)
{
    struct program *p = s->program;
    if (kind == ID_LOCAL) {
        p->blocked = block ? p->blocked | 1u << id : p->blocked & ~(1u << id);
        return;
    }
    if (kind == ID_COLOR) { /* its queue may be named later */
        s->color_blocked = block ? s->color_blocked | 1u << id : s->color_blocked & ~(1u << id);
        s->color_open = block ? s->color_open & ~(1u << id) : s->color_open | 1u << id;
        return;
    }
    unsigned q = (unsigned)id;
    s->queue_open = (uint8_t)(block ? s->queue_open & ~(1u << q) : s->queue_open | 1u << q);
    p->queue_blocked =
        (uint8_t)(block ? p->queue_blocked | 1u << q : p->queue_blocked & ~(1u << q));
}

static void task_state(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 1, 1);
    bool activate = csl_str_is(n->text, "activate"), block = csl_str_is(n->text, "block");
    struct operand o = csl_expr(s, n->kid[0], NULL);
    if (o.v.type->kind == T_FN)
        o = csl_known(csl_int_value(&csl_local_task, csl_local_task_of(s, n, &o)));
    if (activate && o.v.type != &csl_local_task)
        FAIL(s, n, "@activate is for a local_task_id, not %s", TYPE(s, o.v.type));
    enum id_kind kind = id_kind_of(s, n, o.v.type);
    if (s->comptime) {
        only_top(s, n);
        if (activate) {
            s->program->activated |= 1u << o.v.i;
            s->activated[o.v.i] = n;
        } else {
            set_blocked(s, kind, o.v.i, block);
            s->open_node = n;
        }
        return;
    }
    uint16_t reg = csl_in_reg(s, n, &o);
    struct insn *i = csl_emit(s, n,
                              activate ? OP_ACTIVATE
                              : block  ? OP_BLOCK
                                       : OP_UNBLOCK,
                              COST_TASK_STATE);
    i->a = reg;
    i->imm = (int32_t)kind;
}

/* ---- exports ---- */

static void export_function(struct sema *s, const struct node *n, const struct export_name *name,
                            const struct fn *fn, struct export *e)
{
    if (fn->decl == NULL || fn->decl->flags & NODE_TASK)
        FAIL(s, n, "only functions and variables can be exported");
    const struct type *t = csl_signature(s, fn);
    if (t != name->type)
        FAIL(s, n, "'%.*s' was exported with another type", STR_ARG(name->name));
    for (size_t i = 0; i < t->param_count; i++) {
        if (!csl_is_scalar(t->params[i]) || csl_size(t->params[i]) > 4)
            FAIL(s, n, "the host cannot pass an argument of type %s", TYPE(s, t->params[i]));
        e->params[i] = (uint8_t)csl_code(t->params[i]);
    }
    e->is_func = true;
    e->param_count = (unsigned)t->param_count;
    csl_defer(s, n, fn, DEFER_EXPORT, s->program->export_count, t->param_count);
}

static void export_variable(struct sema *s, const struct node *n, const struct export_name *name,
                            struct export *e)
{
    struct place p = csl_place(s, n->kid[0]);
    if (p.type != name->type)
        FAIL(s, n, "'%.*s' was exported as %s, but is %s", STR_ARG(name->name), TYPE(s, name->type),
             TYPE(s, p.type));
    bool is_pointer = p.type->kind == T_POINTER;
    const struct type *of = is_pointer ? p.type->element : p.type;
    if (of->kind == T_ARRAY)
        of = of->element;
    bool fixed_pointer = p.is_const;
    csl_to_memory(s, n, &p);
    if (name->is_mutable == fixed_pointer)
        FAIL(s, n, "'%.*s' was exported as %s", STR_ARG(name->name),
             name->is_mutable ? "mutable" : "immutable");
    e->is_pointer = is_pointer;
    e->address = p.offset;
    e->tc = (uint8_t)csl_code(of);
}

static void export_symbol(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 1, 2);
    struct program *p = s->program;
    struct str text = n->count == 2 ? csl_known_expr(s, n->kid[1], &csl_string).s : n->kid[0]->text;
    if (n->kid[0]->kind != N_IDENT && n->kid[0]->kind != N_FIELD)
        FAIL(s, n, "a symbol is exported by its name");
    struct export_name *name = s->l->exports;
    while (name != NULL && !csl_str_same(name->name, text))
        name = name->next;
    if (name == NULL)
        FAIL(s, n, "the layout does not @export_name '%.*s'", STR_ARG(text));
    name->used = true;
    struct export e = {.name = csl_format(s->arena, "%.*s", STR_ARG(text))};
    if (name->type->kind == T_FN) {
        struct value v = csl_known_expr(s, n->kid[0], NULL);
        if (v.type->kind != T_FN)
            FAIL(s, n, "'%.*s' was exported as a function", STR_ARG(text));
        export_function(s, n, name, v.fn, &e);
    } else {
        export_variable(s, n, name, &e);
    }
    for (size_t i = 0; i < p->export_count; i++)
        if (strcmp(p->exports[i].name, e.name) == 0)
            FAIL(s, n, "'%s' is exported twice", e.name);
    p->exports = csl_grow(s->arena, p->exports, p->export_count, &p->export_capacity, sizeof e);
    p->exports[p->export_count++] = e;
}

bool csl_wafer_builtin(struct sema *s, const struct node *n, struct operand *result)
{
    static const struct {
        const char *name;
        void (*run)(struct sema *s, const struct node *n);
        bool top;
    } all[] = {
        {"bind_local_task", bind_local, true},
        {"bind_data_task", bind_data, true},
        {"initialize_queue", initialize_queue, true},
        {"export_symbol", export_symbol, true},
        {"activate", task_state, false},
        {"block", task_state, false},
        {"unblock", task_state, false},
    };
    if (handle_builtin(s, n, result) || csl_layout_builtin(s, n, result) ||
        csl_control_builtin(s, n, result) || csl_dsr_builtin(s, n, result))
        return true;
    if (csl_str_is(n->text, "set_local_color_config")) {
        only_top(s, n);
        csl_arguments(s, n, 2, 2);
        csl_set_route(s, n, 0, s->program->routes);
        return true;
    }
    for (size_t i = 0; i < COUNT(all); i++)
        if (csl_str_is(n->text, all[i].name)) {
            if (all[i].top)
                only_top(s, n);
            all[i].run(s, n);
            return true;
        }
    return false;
}

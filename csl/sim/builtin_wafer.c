/* builtin_wafer.c - builtins about colors, queues, tasks, the layout and what the host sees. */
#include <string.h>

#include "sema.h"

static void only(struct sema *s, const struct node *n, enum where where, const char *place)
{
    if (s->where != where)
        FAIL(s, n, "@%.*s stands in a %s", STR_ARG(n->text), place);
}

static void only_top(struct sema *s, const struct node *n)
{
    only(s, n, WHERE_TOP, "top-level comptime block");
}

/* A known handle made of an integer, or at run time of a u16. */
static struct operand make_handle(struct sema *s, const struct node *n, const struct type *t,
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
        *result = make_handle(s, n, &csl_color, 0, COLORS - 1);
    else if (csl_str_is(n->text, "get_input_queue"))
        *result = make_handle(s, n, &csl_input_queue, 0, QUEUES - 1);
    else if (csl_str_is(n->text, "get_output_queue"))
        *result = make_handle(s, n, &csl_output_queue, 0, wse2 ? 5 : QUEUES - 1);
    else if (csl_str_is(n->text, "get_local_task_id"))
        *result = make_handle(s, n, &csl_local_task, wse2 ? 0 : 8, LOCAL_TASKS - 1);
    else if (csl_str_is(n->text, "get_ut_id"))
        *result = make_handle(s, n, &csl_ut, 0, QUEUES - 1);
    else if (csl_str_is(n->text, "get_data_task_id"))
        *result = data_task_id(s, n);
    else
        return false;
    return true;
}

/* What the memcpy library takes for itself: colors 21 to 23, tasks 27 to 30, the first queues. */
static void not_reserved(struct sema *s, const struct node *n, const struct type *t, int64_t id)
{
    bool taken = t == &csl_color         ? id >= 21
                 : t == &csl_local_task  ? id >= 27
                 : t == &csl_input_queue ? id == 0 || (id == 1 && s->l->arch == CSL_WSE3)
                                         : id == 0;
    if (taken)
        FAIL(s, n, "%s %lld is reserved for <memcpy>, or for the system", TYPE(s, t),
             (long long)id);
}

/* ---- layout ---- */

static struct tile *tile_at(struct sema *s, const struct node *n)
{
    if (s->l->tiles == NULL)
        FAIL(s, n, "@set_rectangle comes first");
    uint32_t x = (uint32_t)csl_int_expr(s, n->kid[0], 0, s->l->width - 1, "x");
    uint32_t y = (uint32_t)csl_int_expr(s, n->kid[1], 0, s->l->height - 1, "y");
    return &s->l->tiles[y * s->l->width + x];
}

static void set_rectangle(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 2, 2);
    struct loader *l = s->l;
    if (l->tiles != NULL)
        FAIL(s, n, "@set_rectangle is called twice");
    l->width = (uint32_t)csl_int_expr(s, n->kid[0], 1, 757, "the width");
    l->height = (uint32_t)csl_int_expr(s, n->kid[1], 1, 996, "the height");
    uint32_t fw = l->options->fabric_width, fh = l->options->fabric_height;
    if (fw != 0 && (l->width + 7 > fw || l->height + 2 > fh))
        FAIL(s, n,
             "a fabric of %u x %u is too small for %u x %u PEs: 7 columns and 2 rows more are "
             "needed",
             fw, fh, l->width, l->height);
    l->tiles = csl_alloc_array(s->arena, (size_t)l->width * l->height, sizeof *l->tiles);
}

static struct operand get_rectangle(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 0, 0);
    static const char *const names[] = {"width", "height"};
    if (s->l->tiles == NULL)
        FAIL(s, n, "@set_rectangle comes first");
    struct str *fields = csl_alloc_array(s->arena, 2, sizeof *fields);
    struct value *values = csl_alloc_array(s->arena, 2, sizeof *values);
    for (unsigned i = 0; i < 2; i++) {
        fields[i] = csl_str(names[i]);
        values[i] = csl_int_value(&csl_u16, i == 0 ? s->l->width : s->l->height);
    }
    return csl_known(csl_tuple_value(s, n, 2, fields, values));
}

static void set_tile_code(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 2, 4);
    struct tile *t = tile_at(s, n);
    if (t->file != NULL)
        FAIL(s, n, "this PE has code already");
    t->file = s->module->file;
    if (n->count >= 3) {
        struct str name = csl_known_expr(s, n->kid[2], &csl_string).s;
        t->file =
            csl_load_file(s->l, csl_path_beside(s->arena, s->module->file->source, name), n->pos);
    }
    if (n->count == 4) {
        struct value v = csl_known_expr(s, n->kid[3], &csl_struct);
        if (v.fields->names == NULL && v.fields->count > 0)
            FAIL(s, n, "parameters are given by name");
        t->params = v.fields;
    }
}

static uint8_t directions(struct sema *s, const struct node *n, const struct value *v)
{
    unsigned mask = 0;
    if (v->type == &csl_direction)
        return (uint8_t)(1u << v->i);
    if (v->type->kind != T_STRUCT || (v->fields->names != NULL && v->fields->count > 0))
        FAIL(s, n, "a route is a direction, or a tuple of directions");
    for (size_t i = 0; i < v->fields->count; i++) {
        if (v->fields->values[i].type != &csl_direction)
            FAIL(s, n, "a route has directions, not %s", TYPE(s, v->fields->values[i].type));
        unsigned bit = 1u << v->fields->values[i].i;
        if (mask & bit)
            FAIL(s, n, "a direction is given twice");
        mask |= bit;
    }
    return (uint8_t)mask;
}

static void set_route(struct sema *s, const struct node *n, size_t at, struct route *routes)
{
    int64_t color = csl_known_expr(s, n->kid[at], &csl_color).i;
    not_reserved(s, n, &csl_color, color);
    struct value v = csl_known_expr(s, n->kid[at + 1], &csl_struct);
    const struct value *config = csl_field(v.fields, "routes");
    if (config == NULL || config->type->kind != T_STRUCT || v.fields->count != 1)
        FAIL(s, n,
             "a color's configuration is .{ .routes = ... }; switches, filters and teardown are "
             "not in the subset");
    struct route *r = &routes[color];
    if (r->set)
        FAIL(s, n, "color %lld of this PE is configured already", (long long)color);
    r->set = true;
    for (size_t i = 0; i < config->fields->count; i++) {
        struct str name =
            config->fields->names != NULL ? config->fields->names[i] : (struct str){0};
        if (csl_str_is(name, "rx"))
            r->rx = directions(s, n, &config->fields->values[i]);
        else if (csl_str_is(name, "tx"))
            r->tx = directions(s, n, &config->fields->values[i]);
        else
            FAIL(s, n, "routes have rx and tx, not '%.*s'", STR_ARG(name));
    }
}

static void export_name(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 2, 3);
    struct export_name *e = csl_alloc(s->arena, sizeof *e);
    e->name = csl_known_expr(s, n->kid[0], &csl_string).s;
    e->type = csl_type_expr(s, n->kid[1]);
    if (e->type->kind != T_FN && n->count != 3)
        FAIL(s, n, "@export_name of a variable says whether it is mutable");
    if (e->type->kind == T_FN && e->type->param_count > 15)
        FAIL(s, n, "an exported function has up to 15 parameters");
    if (n->count == 3)
        e->is_mutable = csl_known_expr(s, n->kid[2], &csl_bool).i != 0;
    if (e->type->kind != T_FN && !csl_is_scalar(e->type))
        FAIL(s, n, "a symbol of type %s cannot be exported", TYPE(s, e->type));
    for (const struct export_name *have = s->l->exports; have != NULL; have = have->next)
        if (csl_str_same(have->name, e->name))
            FAIL(s, n, "'%.*s' is exported twice", STR_ARG(e->name));
    e->next = s->l->exports;
    s->l->exports = e;
}

static bool layout_builtin(struct sema *s, const struct node *n, struct operand *result)
{
    bool rectangle = csl_str_is(n->text, "set_rectangle"),
         code = csl_str_is(n->text, "set_tile_code");
    bool color = csl_str_is(n->text, "set_color_config"), name = csl_str_is(n->text, "export_name");
    if (csl_str_is(n->text, "get_rectangle")) {
        *result = get_rectangle(s, n);
        return true;
    }
    if (!rectangle && !code && !color && !name)
        return false;
    only(s, n, WHERE_LAYOUT, "layout block");
    if (rectangle) {
        set_rectangle(s, n);
    } else if (code) {
        set_tile_code(s, n);
    } else if (name) {
        export_name(s, n);
    } else {
        csl_arguments(s, n, 4, 4);
        set_route(s, n, 2, tile_at(s, n)->routes);
    }
    return true;
}

/* ---- tasks and queues of a PE ---- */

/* Bodies are compiled when all top-level comptime blocks have run: they may name tasks that are
 * bound later. */
static void defer(struct sema *s, const struct node *n, const struct fn *fn,
                  enum deferred_kind kind, size_t index, size_t params)
{
    struct deferred *d = csl_alloc(s->arena, sizeof *d);
    *d = (struct deferred){s->deferred, n, fn, kind, index, params};
    s->deferred = d;
}

/* The queue that a color's wavelets arrive in: on WSE-2 one is found where the program names none.
 */
static unsigned queue_of_color(struct sema *s, const struct node *n, size_t color)
{
    struct program *p = s->program;
    for (unsigned q = 0; q < QUEUES; q++)
        if (p->in_color[q] == (int)color)
            return q;
    for (unsigned q = QUEUES; q-- > 0;)
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
        else
            p->exports[d->index].func = func;
    }
}

static const struct fn *task_of(struct sema *s, const struct node *n)
{
    struct value v = csl_known_expr(s, n, NULL);
    if (v.type->kind != T_FN || v.fn->decl == NULL || !(v.fn->decl->flags & NODE_TASK))
        FAIL(s, n, "expected a task");
    return v.fn;
}

static void bind_local(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 2, 2);
    const struct fn *fn = task_of(s, n->kid[0]);
    int64_t id = csl_known_expr(s, n->kid[1], &csl_local_task).i;
    not_reserved(s, n, &csl_local_task, id);
    if (fn->decl->count != 2)
        FAIL(s, n, "a local task has no arguments");
    if (s->program->local_task[id] != NO_ID)
        FAIL(s, n, "local task %lld is bound already", (long long)id);
    s->program->local_task[id] = 0;
    s->local_fn[id] = fn;
    defer(s, n, fn, DEFER_LOCAL, (size_t)id, 0);
}

static void bind_data(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 2, 2);
    const struct fn *fn = task_of(s, n->kid[0]);
    int64_t id = csl_known_expr(s, n->kid[1], &csl_data_task).i;
    const struct type *t = csl_signature(s, fn);
    if (t->param_count < 1 || t->param_count > 2)
        FAIL(s, n, "a data task has one argument, or two of 16 bits");
    for (size_t i = 0; i < t->param_count; i++)
        if (!csl_is_scalar(t->params[i]) ||
            csl_size(t->params[i]) > (t->param_count == 2 ? 2u : 4u))
            FAIL(s, n, "a wavelet's 32 bits do not hold the arguments of this task");
    for (const struct deferred *d = s->deferred; d != NULL; d = d->next)
        if (d->kind == DEFER_DATA && d->index == (size_t)id)
            FAIL(s, n, "data task %lld is bound already", (long long)id);
    defer(s, n, fn, DEFER_DATA, (size_t)id, t->param_count);
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
    not_reserved(s, n, queue.type, queue.i);
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
        if (p->in_color[queue.i] >= 0 && !(wse2 && p->in_color[queue.i] == color->i))
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
        return;
    }
    unsigned q = (unsigned)id;
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
        if (activate)
            s->program->activated |= 1u << o.v.i;
        else
            set_blocked(s, kind, o.v.i, block);
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
    defer(s, n, fn, DEFER_EXPORT, s->program->export_count, t->param_count);
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
    if (name->is_mutable == fixed_pointer && !is_pointer)
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
    const struct export_name *name = s->l->exports;
    while (name != NULL && !csl_str_same(name->name, text))
        name = name->next;
    if (name == NULL)
        FAIL(s, n, "the layout does not @export_name '%.*s'", STR_ARG(text));
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
    if (handle_builtin(s, n, result) || layout_builtin(s, n, result))
        return true;
    if (csl_str_is(n->text, "set_local_color_config")) {
        only_top(s, n);
        csl_arguments(s, n, 2, 2);
        set_route(s, n, 0, s->program->routes);
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

/* load.c - files, modules, the layout, and a program for every PE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sema.h"

#define FILE_MAX   ((size_t)4 << 20)
#define FIRST_DATA 16u /* so that 0 is no variable's address */

/* ---- files ---- */

const char *csl_path_beside(struct arena *arena, const struct source *source, struct str name)
{
    const char *slash = strrchr(source->path, '/');
    size_t folder =
        slash == NULL || (name.n > 0 && name.p[0] == '/') ? 0 : (size_t)(slash + 1 - source->path);
    char *path = csl_alloc(arena, folder + name.n + 1);
    memcpy(path, source->path, folder);
    if (name.n > 0)
        memcpy(path + folder, name.p, name.n);
    return path;
}

static const char *read_file(struct arena *arena, const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    char *text = NULL;
    if (fseek(f, 0, SEEK_END) == 0) {
        long n = ftell(f);
        if (n >= 0 && (size_t)n <= FILE_MAX && fseek(f, 0, SEEK_SET) == 0) {
            text = malloc((size_t)n + 1);
            if (text != NULL && fread(text, 1, (size_t)n, f) != (size_t)n) {
                free(text);
                text = NULL;
            }
            *size = (size_t)n;
        }
    }
    fclose(f);
    if (text == NULL)
        return NULL;
    char *copy = csl_alloc(arena, *size + 1);
    memcpy(copy, text, *size);
    free(text);
    return copy;
}

struct file *csl_load_file(struct loader *l, const char *path, struct pos pos)
{
    for (struct loaded_file *f = l->files; f != NULL; f = f->next)
        if (strcmp(f->path, path) == 0)
            return f->file;
    struct source *source = csl_alloc(l->arena, sizeof *source);
    source->path = csl_format(l->arena, "%s", path);
    source->text = l->options->read != NULL
                       ? l->options->read(l->options->read_context, path, &source->size)
                       : read_file(l->arena, path, &source->size);
    if (source->text == NULL && pos.source != NULL)
        csl_fail_at(l->arena, pos, "'%s' cannot be read", path);
    if (source->text == NULL)
        csl_fail(l->arena, CSL_ERR_FILE, "%s: cannot be read", path);
    struct loaded_file *f = csl_alloc(l->arena, sizeof *f);
    *f = (struct loaded_file){l->files, source->path, csl_parse(l->arena, source)};
    l->files = f;
    return f->file;
}

/* ---- modules ---- */

struct global *csl_find_global(struct module *m, struct str name)
{
    for (size_t i = 0; i < m->count; i++)
        if (csl_str_same(m->globals[i].decl->text, name))
            return &m->globals[i];
    return NULL;
}

/* The view of a module's globals, for an initializer or comptime block. */
static struct sema view(struct sema *s, struct module *m, enum where where)
{
    struct sema before = *s;
    s->module = m;
    s->scope = NULL;
    s->where = where;
    s->comptime = true;
    s->in_place = false;
    s->call = NULL;
    s->targets = NULL;
    if (++s->depth > CALL_DEPTH)
        csl_fail_at(s->arena, (struct pos){m->file->source, 1, 1},
                    "modules or constants are nested more than %u deep", CALL_DEPTH);
    return before;
}

static void view_back(struct sema *s, const struct sema *before)
{
    s->module = before->module;
    s->scope = before->scope;
    s->where = before->where;
    s->comptime = before->comptime;
    s->in_place = before->in_place;
    s->call = before->call;
    s->targets = before->targets;
    s->depth = before->depth;
}

static struct operand initial(struct sema *s, struct global *g, const struct type *type)
{
    const struct node *n = g->decl;
    const struct value *bound = NULL;
    for (size_t i = 0;
         n->op == TOK_PARAM && g->module->params != NULL && i < g->module->params->count; i++)
        if (csl_str_same(g->module->params->names[i], n->text))
            bound = &g->module->params->values[i];
    if (bound != NULL && type == &csl_color && s->program == NULL &&
        bound->type->kind == T_COMPTIME_INT && bound->i >= 0 && bound->i < COLORS)
        return csl_known(csl_int_value(type, bound->i)); /* cslc --params=NAME:NUMBER */
    if (bound != NULL && type != NULL && bound->type->kind == T_INT && type->kind == T_INT)
        /* an integer of another type that fits: the public programs pass such */
        return csl_coerce(s, n, csl_known(csl_int_value(&csl_comptime_int, bound->i)), type);
    if (bound != NULL)
        return type != NULL ? csl_coerce(s, n, csl_known(*bound), type) : csl_known(*bound);
    if (n->kid[1] != NULL)
        return type != NULL ? csl_expr_as(s, n->kid[1], type) : csl_expr(s, n->kid[1], NULL);
    if (n->op == TOK_PARAM)
        FAIL(s, n, "param '%.*s' has no value: give it one where the file is used",
             STR_ARG(n->text));
    return csl_known((struct value){.type = type});
}

static void resolve(struct sema *s, struct global *g)
{
    const struct node *n = g->decl;
    if (n->kind == N_FN) {
        const struct fn *fn = csl_fn_of(s, g->module, n, n->text);
        bool generic = false;
        for (size_t i = 0; i + 2 < n->count; i++)
            generic = generic || n->kid[i]->flags & NODE_COMPTIME;
        g->type = generic ? &csl_any_fn : csl_signature(s, fn);
        g->value = (struct value){.type = g->type, .fn = fn};
        return;
    }
    const struct type *type = n->kid[0] != NULL ? csl_type_expr(s, n->kid[0]) : NULL;
    struct operand o = initial(s, g, type);
    if (!o.known)
        FAIL(s, n, "the value of '%.*s' must be known when compiling", STR_ARG(n->text));
    g->value = o.v;
    g->type = o.v.type;
    if (n->op == TOK_VAR && (g->type->kind == T_VOID || csl_comptime_only(g->type)))
        FAIL(s, n, "'%.*s' would be %s: a variable needs a type of the run time", STR_ARG(n->text),
             TYPE(s, g->type));
}

void csl_resolve_global(struct sema *s, struct global *g, struct pos pos)
{
    if (g->state == GLOBAL_READY)
        return;
    if (g->state == GLOBAL_BUSY)
        csl_fail_at(s->arena, pos, "'%.*s' depends on itself", STR_ARG(g->decl->text));
    g->state = GLOBAL_BUSY;
    struct sema before = view(s, g->module, s->where == WHERE_LAYOUT ? WHERE_LAYOUT : WHERE_INIT);
    resolve(s, g);
    view_back(s, &before);
    g->state = GLOBAL_READY;
}

/* What every PE with this file has, used or not: modules, and the top-level comptime blocks. */
static void run_top(struct sema *s, struct module *m)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct node *n = m->globals[i].decl;
        if (n->kind == N_VAR && n->kid[1] != NULL && n->kid[1]->kind == N_BUILTIN &&
            csl_str_is(n->kid[1]->text, "import_module"))
            csl_resolve_global(s, &m->globals[i], n->pos);
    }
    for (size_t i = 0; i < m->count; i++) /* the host's tools see it, so it is in memory */
        if (m->globals[i].decl->flags & NODE_EXPORT && m->globals[i].decl->kind == N_VAR)
            csl_keep_global(s, &m->globals[i]);
    for (size_t i = 0; i < m->file->count; i++)
        if (m->file->decls[i]->kind == N_COMPTIME) {
            struct sema before = view(s, m, WHERE_TOP);
            csl_statement(s, m->file->decls[i]->kid[0]);
            view_back(s, &before);
        }
}

static struct module *make_module(struct sema *s, const struct file *file, struct tuple *params,
                                  struct pos pos)
{
    struct module *m = csl_alloc(s->arena, sizeof *m);
    *m = (struct module){.file = file, .params = params};
    m->globals = csl_alloc_array(s->arena, file->count, sizeof *m->globals);
    for (size_t i = 0; i < file->count; i++) {
        struct node *n = file->decls[i];
        if (n->kind != N_VAR && n->kind != N_FN)
            continue;
        if (csl_find_global(m, n->text) != NULL)
            FAIL(s, n, "'%.*s' is declared twice", STR_ARG(n->text));
        if (csl_named_type(n->text) != NULL)
            FAIL(s, n, "'%.*s' is the name of a type", STR_ARG(n->text));
        m->globals[m->count++] = (struct global){.decl = n, .module = m};
    }
    for (size_t i = 0; params != NULL && i < params->count; i++) {
        const struct global *g = csl_find_global(m, params->names[i]);
        if (g == NULL || g->decl->kind != N_VAR || g->decl->op != TOK_PARAM) {
            if (pos.source == NULL)
                pos.source = file->source;
            csl_fail_at(s->arena, pos, "%s has no param '%.*s'", file->source->path,
                        STR_ARG(params->names[i]));
        }
    }
    return m;
}

struct value csl_import(struct sema *s, const struct node *n)
{
    struct str name = csl_known_expr(s, n->kid[0], &csl_string).s;
    struct tuple *params = NULL;
    if (n->count == 2)
        params = csl_known_expr(s, n->kid[1], &csl_struct).fields;
    if (params != NULL && params->names == NULL && params->count > 0)
        FAIL(s, n, "parameters are given by name");
    struct module *m;
    enum library library = csl_library(name);
    if (library != LIB_NONE) {
        m = csl_alloc(s->arena, sizeof *m);
        *m = (struct module){.library = library, .file = s->module->file, .params = params};
        bool layout = s->program == NULL;
        if (library == LIB_GET_PARAMS &&
            (!layout || params == NULL || csl_field(params, "width") == NULL ||
             csl_field(params, "height") == NULL))
            FAIL(s, n, "<memcpy/get_params> is for layouts, with .width and .height");
        if (library == LIB_GET_PARAMS)
            csl_memcpy_params(s, n, params);
        if ((library == LIB_COLLECTIVE_PARAMS && !layout) || (library == LIB_COLLECTIVE && layout))
            FAIL(s, n, "%.*s is for %s", STR_ARG(name), layout ? "PE programs" : "layouts");
        if (library == LIB_COLLECTIVE)
            csl_check_collective(s, n, params);
        if (library == LIB_SIMPRINT || library == LIB_DEBUG)
            csl_check_print(s, n, library, params);
        if (library == LIB_MEMCPY && (layout || params == NULL))
            FAIL(s, n, "<memcpy/memcpy> is for PE programs, with what get_params gave");
        for (size_t i = 0; library == LIB_MEMCPY && i < params->count; i++)
            if (!csl_is_stream(params->names[i]))
                FAIL(s, n, "<memcpy/memcpy> has no param '%.*s'", STR_ARG(params->names[i]));
        return (struct value){.type = &csl_module, .module = m};
    }
    if (name.n > 0 && name.p[0] == '<')
        FAIL(s, n, "the module %.*s is not in the subset", STR_ARG(name));
    const struct file *file =
        csl_load_file(s->l, csl_path_beside(s->arena, s->module->file->source, name), n->pos);
    m = make_module(s, file, params, n->pos);
    if (s->program != NULL) {
        if (++s->depth > CALL_DEPTH)
            FAIL(s, n, "modules import each other more than %u deep", CALL_DEPTH);
        run_top(s, m);
        s->depth--;
    }
    return (struct value){.type = &csl_module, .module = m};
}

/* ---- programs ---- */

static struct program *new_program(struct loader *l)
{
    struct program *p = csl_alloc(l->arena, sizeof *p);
    p->data = csl_alloc(l->arena, PE_MEMORY_BYTES + 8);
    p->object_of = csl_alloc(l->arena, PE_MEMORY_BYTES / 2 + 8);
    p->data_end = FIRST_DATA;
    p->code_bytes = RUNTIME_CODE_BYTES;
    for (unsigned i = 0; i < LOCAL_TASKS; i++)
        p->local_task[i] = NO_ID;
    for (unsigned i = 0; i < CONTROL_TASKS; i++)
        p->control_task[i] = NO_ID;
    for (unsigned i = 0; i < QUEUES; i++) {
        p->data_task[i] = NO_ID;
        p->in_color[i] = p->out_color[i] = -1;
    }
    return p;
}

static void check_program(struct loader *l, struct sema *s)
{
    const struct program *p = s->program;
    uint32_t total = p->data_end + p->code_bytes + STACK_BYTES;
    if (total > PE_MEMORY_BYTES)
        csl_fail_at(l->arena, (struct pos){s->module->file->source, 1, 1},
                    "%u bytes of data, about %u of code and %u of stack do not fit into the 48 KB "
                    "of a PE",
                    p->data_end, p->code_bytes, STACK_BYTES);
    for (uint32_t id = 0; id < LOCAL_TASKS; id++)
        if ((p->activated >> id & 1) && p->local_task[id] == NO_ID)
            FAIL(s, s->activated[id], "local task %u is activated but not bound", id);
}

static struct program *compile_tile(struct loader *l, struct tile *tile)
{
    struct tuple none = {0};
    struct value mine = {.type = &csl_struct,
                         .fields = tile->params != NULL ? tile->params : &none};
    for (struct compiled *c = l->programs; c != NULL; c = c->next) {
        struct value have = {.type = &csl_struct, .fields = c->params != NULL ? c->params : &none};
        if (c->file == tile->file && csl_same_value(&mine, &have))
            return c->program;
    }
    struct sema s = {.l = l, .arena = l->arena, .program = new_program(l)};
    s.module = make_module(&s, tile->file, tile->params, (struct pos){NULL, 1, 1});
    run_top(&s, s.module);
    csl_compile_deferred(&s);
    check_program(l, &s);
    struct compiled *c = csl_alloc(l->arena, sizeof *c);
    *c = (struct compiled){l->programs, tile->file, tile->params, s.program};
    l->programs = c;
    return s.program;
}

static struct tuple *layout_params(struct loader *l)
{
    const struct csl_options *o = l->options;
    struct tuple *t = csl_alloc(l->arena, sizeof *t);
    t->names = csl_alloc_array(l->arena, o->param_count + 1, sizeof *t->names);
    t->values = csl_alloc_array(l->arena, o->param_count + 1, sizeof *t->values);
    for (; t->count < o->param_count; t->count++) {
        const struct csl_param *p = &o->params[t->count];
        t->names[t->count] = csl_str(csl_format(l->arena, "%s", p->name));
        t->values[t->count] = p->type == CSL_PARAM_INT
                                  ? csl_int_value(&csl_comptime_int, p->i)
                                  : (struct value){.type = &csl_comptime_float, .f = p->f};
    }
    return t;
}

static void join_routes(struct loader *l, struct tile *t, uint32_t i)
{
    for (unsigned c = 0; c < COLORS; c++) {
        const struct route *local = &t->program->routes[c];
        if ((t->routes[c].set || local->set) && l->stream[c] != STREAM_NONE)
            csl_fail(l->arena, CSL_ERR_SOURCE,
                     "PE(%u,%u): color %u is streamed by memcpy, which sets its routes",
                     i % l->width, i / l->width, c);
        if (!local->set)
            continue;
        if (t->routes[c].set)
            csl_fail(l->arena, CSL_ERR_SOURCE,
                     "PE(%u,%u): color %u is configured by the layout and by the PE", i % l->width,
                     i / l->width, c);
        t->routes[c] = *local;
    }
    for (unsigned c = 0; c < COLORS; c++)
        if (t->routes[c].swap_x != t->routes[c ^ 1].swap_x ||
            t->routes[c].swap_y != t->routes[c ^ 1].swap_y)
            csl_fail(l->arena, CSL_ERR_SOURCE,
                     "PE(%u,%u): one of colors %u and %u is swapped: that is not in the subset",
                     i % l->width, i / l->width, c & ~1u, c | 1);
}

/* A layout file's own comptime blocks. If the file is also a PE's code, they belong to the PE. */
static void run_layout_checks(struct sema *s, const struct file *file)
{
    const struct loader *l = s->l;
    for (uint32_t i = 0; i < l->width * l->height; i++)
        if (l->tiles[i].file == file)
            return;
    for (size_t i = 0; i < file->count; i++)
        if (file->decls[i]->kind == N_COMPTIME)
            csl_statement(s, file->decls[i]->kid[0]);
}

void csl_load_layout(struct loader *l, const char *path)
{
    const struct file *file = csl_load_file(l, path, (struct pos){0});
    struct sema s = {.l = l, .arena = l->arena, .comptime = true, .where = WHERE_LAYOUT};
    s.module = make_module(&s, file, layout_params(l), (struct pos){NULL, 1, 1});
    const struct node *layout = NULL;
    for (size_t i = 0; i < file->count; i++)
        if (file->decls[i]->kind == N_LAYOUT) {
            if (layout != NULL)
                csl_fail_at(l->arena, file->decls[i]->pos, "a file has one layout block");
            layout = file->decls[i];
        }
    if (layout == NULL)
        csl_fail_at(l->arena, (struct pos){file->source, 1, 1}, "the file has no layout block");
    csl_statement(&s, layout->kid[0]);
    if (l->tiles == NULL)
        csl_fail_at(l->arena, layout->pos, "the layout does not call @set_rectangle");
    for (uint32_t i = 0; i < l->width * l->height; i++)
        if (l->tiles[i].file == NULL)
            csl_fail_at(l->arena, layout->pos, "PE(%u,%u) has no code: @set_tile_code",
                        i % l->width, i / l->width);
    if (l->memcpy != NULL && (l->memcpy_width != l->width || l->memcpy_height != l->height))
        FAIL(&s, l->memcpy,
             "<memcpy/get_params> is for %u x %u PEs, but @set_rectangle has %u x %u",
             l->memcpy_width, l->memcpy_height, l->width, l->height);
    run_layout_checks(&s, file);
    for (uint32_t i = 0; i < l->width * l->height; i++) {
        l->tiles[i].program = compile_tile(l, &l->tiles[i]);
        join_routes(l, &l->tiles[i], i);
    }
    for (const struct export_name *e = l->exports; e != NULL; e = e->next)
        if (!e->used)
            FAIL(&s, e->node, "no PE has an @export_symbol of '%.*s'", STR_ARG(e->name));
}

/* builtin_layout.c - builtins of the layout: the rectangle, code, routes, names for the host. */
#include "sema.h"

void csl_only(struct sema *s, const struct node *n, enum where where, const char *place)
{
    if (s->where != where)
        FAIL(s, n, "@%.*s stands in a %s", STR_ARG(n->text), place);
}

/* What the memcpy library keeps for itself: colors 21 to 23, tasks 27 to 30, the first queues and
 * microthread. */
void csl_not_reserved(struct sema *s, const struct node *n, const struct type *t, int64_t id)
{
    bool taken = t == &csl_color         ? id >= 21
                 : t == &csl_local_task  ? id >= 27
                 : t == &csl_input_queue ? id == 0 || (id == 1 && s->l->arch == CSL_WSE3)
                                         : id == 0;
    if (taken)
        FAIL(s, n, "%s %lld is reserved for <memcpy>, or for the system", TYPE(s, t),
             (long long)id);
}

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

/* A type that has a size and is one value. A DSD does not count: its bits are not published. */
static void check_exported(struct sema *s, const struct node *n, const struct type *t)
{
    if (!csl_is_scalar(t) || csl_is_dsd(t))
        FAIL(s, n, "a symbol of type %s cannot be exported", TYPE(s, t));
}

static void export_name(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 2, 3);
    struct export_name *e = csl_alloc(s->arena, sizeof *e);
    e->node = n;
    e->name = csl_known_expr(s, n->kid[0], &csl_string).s;
    e->type = csl_type_expr(s, n->kid[1]);
    if (e->type->kind != T_FN && n->count != 3)
        FAIL(s, n, "@export_name of a variable says whether it is mutable");
    if (e->type->kind == T_FN && e->type->param_count > 15)
        FAIL(s, n, "an exported function has up to 15 parameters");
    if (n->count == 3)
        e->is_mutable = csl_known_expr(s, n->kid[2], &csl_bool).i != 0;
    if (e->type->kind != T_FN)
        check_exported(s, n, e->type);
    for (size_t i = 0; e->type->kind == T_FN && i < e->type->param_count; i++)
        check_exported(s, n, e->type->params[i]);
    for (const struct export_name *have = s->l->exports; have != NULL; have = have->next)
        if (csl_str_same(have->name, e->name))
            FAIL(s, n, "'%.*s' is exported twice", STR_ARG(e->name));
    e->next = s->l->exports;
    s->l->exports = e;
}

bool csl_layout_builtin(struct sema *s, const struct node *n, struct operand *result)
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
    csl_only(s, n, WHERE_LAYOUT, "layout block");
    if (rectangle) {
        set_rectangle(s, n);
    } else if (code) {
        set_tile_code(s, n);
    } else if (name) {
        export_name(s, n);
    } else {
        csl_arguments(s, n, 4, 4);
        csl_set_route(s, n, 2, tile_at(s, n)->routes);
    }
    return true;
}

/* collectives.c - <collectives_2d>: its parameters in the layout, its calls in a PE. */
#include <string.h>

#include "sema.h"

/* ---- <collectives_2d/params> ---- */

/* Two handles of one type that differ, as for x_colors and the like. */
static void check_pair(struct sema *s, const struct node *n, const char *name,
                       const struct value *v, const struct type *type)
{
    if (v->type->kind != T_STRUCT || v->fields->names != NULL || v->fields->count != 2 ||
        v->fields->values[0].type != type || v->fields->values[1].type != type ||
        v->fields->values[0].i == v->fields->values[1].i)
        FAIL(s, n, ".%s are two different values of type %s", name, TYPE(s, type));
    for (unsigned i = 0; i < 2; i++)
        csl_not_reserved(s, n, type, v->fields->values[i].i);
}

/* The library owns these colors; the program must not route by them. */
static void take_colors(struct sema *s, const struct node *n, struct tile *t,
                        const struct value *colors)
{
    for (unsigned i = 0; i < 2; i++) {
        struct route *r = &t->routes[colors->fields->values[i].i];
        if (r->set)
            FAIL(s, n, "color %lld of this PE is configured already",
                 (long long)colors->fields->values[i].i);
        r->set = true;
    }
}

/* What the module of one axis gets: the axis and the PE's place on it, or false if it is not used.
 */
static bool axis_params(struct sema *s, const struct node *n, struct tile *t,
                        const struct tuple *ids, bool y, int64_t place, struct value *result)
{
    const char *color_name = y ? "y_colors" : "x_colors";
    const char *task_name = y ? "y_entrypoints" : "x_entrypoints";
    const struct value *colors = csl_field(ids, color_name), *tasks = csl_field(ids, task_name);
    if (colors == NULL && tasks == NULL)
        return false;
    if (colors == NULL || tasks == NULL)
        FAIL(s, n, ".%s and .%s belong together", color_name, task_name);
    check_pair(s, n, color_name, colors, &csl_color);
    check_pair(s, n, task_name, tasks, &csl_local_task);
    take_colors(s, n, t, colors);
    struct str *names = csl_alloc_array(s->arena, 2, sizeof *names);
    struct value *values = csl_alloc_array(s->arena, 2, sizeof *values);
    names[0] = csl_str("axis");
    values[0] = csl_int_value(&csl_u16, y);
    names[1] = csl_str("pe_id");
    values[1] = csl_int_value(&csl_u16, place);
    *result = csl_tuple_value(s, n, 2, names, values);
    return true;
}

struct operand csl_collective_params(struct sema *s, const struct node *n, struct operand *args)
{
    const struct loader *l = s->l;
    int64_t place[2];
    for (unsigned i = 0; i < 2; i++) {
        struct operand o = csl_coerce(s, n, args[i], &csl_u16);
        if (!o.known || o.v.i >= (i == 0 ? l->width : l->height) || l->tiles == NULL)
            FAIL(s, n, "get_params takes the coordinates of a PE of the rectangle");
        place[i] = o.v.i;
    }
    if (!args[2].known || args[2].v.type != &csl_struct)
        FAIL(s, n, "get_params takes a struct of colors and entry points");
    const struct tuple *ids = args[2].v.fields;
    struct tile *t = &l->tiles[(size_t)place[1] * l->width + (size_t)place[0]];
    struct str *names = csl_alloc_array(s->arena, 2, sizeof *names);
    struct value *values = csl_alloc_array(s->arena, 2, sizeof *values);
    size_t count = 0;
    for (unsigned i = 0; i < 2; i++)
        if (axis_params(s, n, t, ids, i == 1, place[i], &values[count]))
            names[count++] = csl_str(i == 0 ? "x" : "y");
    if (count == 0 || ids->count != 2 * count)
        FAIL(s, n, "the ids are x_colors and x_entrypoints, y_colors and y_entrypoints, or all");
    return csl_known(csl_tuple_value(s, n, count, names, values));
}

/* ---- <collectives_2d/pe> ---- */

/* The simulator does not need the library's resources; it only checks that the program gives what
 * the documents name. */
void csl_check_collective(struct sema *s, const struct node *n, const struct tuple *params)
{
    static const char *const names[] = {"dim_params", "queues", "dest_dsr_ids", "src0_dsr_ids",
                                        "src1_dsr_ids"};
    const struct value *axis = params != NULL ? csl_field(params, "dim_params") : NULL;
    if (axis == NULL || axis->type != &csl_struct || csl_field(axis->fields, "axis") == NULL ||
        csl_field(axis->fields, "pe_id") == NULL)
        FAIL(s, n, "<collectives_2d/pe> needs .dim_params: the .x or .y of get_params");
    for (size_t i = 0; i < params->count; i++) {
        bool known = false;
        for (size_t k = 0; k < COUNT(names); k++)
            known = known || csl_str_is(params->names[i], names[k]);
        if (!known)
            FAIL(s, n, "<collectives_2d/pe> has no param '%.*s'", STR_ARG(params->names[i]));
    }
}

struct value csl_collective_place(const struct module *m)
{
    return *csl_field(csl_field(m->params, "dim_params")->fields, "pe_id");
}

struct operand csl_collective_call(struct sema *s, const struct node *n, const struct module *m,
                                   struct str name, struct operand *args, size_t count)
{
    static const char *const names[] = {"init", "broadcast", "scatter", "gather", "reduce_fadds"};
    const struct type *items = csl_str_is(name, "reduce_fadds") ? &csl_f32 : &csl_u32;
    const struct type *pointer = csl_pointer_type(&s->l->types, items, true, false);
    unsigned which = 0;
    while (!csl_str_is(name, names[which]))
        which++;
    uint16_t base = s->next_reg;
    for (size_t i = 0; i < count; i++)
        csl_new_reg(s, n);
    for (size_t i = 0; i < count; i++) {
        const struct type *type = i == 0           ? &csl_u16
                                  : i + 2 < count  ? pointer
                                  : i + 2 == count ? &csl_u16
                                                   : &csl_local_task;
        struct operand o = csl_coerce(s, n, args[i], type);
        csl_into(s, n, &o, (uint16_t)(base + i));
    }
    struct insn *i = csl_emit(s, n, OP_COLLECTIVE, COST_CALL);
    i->a = base;
    i->imm = (int32_t)which;
    i->b = (uint16_t)csl_field(csl_field(m->params, "dim_params")->fields, "axis")->i;
    return csl_known((struct value){.type = &csl_void});
}

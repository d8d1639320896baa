/* dsr.c - DSRs that the program names: each holds the DSD of a vector in memory. */
#include "sema.h"

static unsigned file_of(const struct type *t)
{
    return (unsigned)(t->kind - T_DSR_DEST);
}

static struct operand get_dsr(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 2, 2);
    const struct type *t = csl_type_expr(s, n->kid[0]);
    if (!csl_is_dsr(t))
        FAIL(s, n, "%s is not a type of DSRs of the subset", TYPE(s, t));
    if (s->program == NULL)
        FAIL(s, n, "a layout has no DSRs");
    int64_t id = csl_int_expr(s, n->kid[1], 0, DSRS - 1, "a DSR's number");
    uint16_t *taken = &s->program->dsr_taken[file_of(t)];
    if (*taken >> id & 1)
        FAIL(s, n, "%s %lld is taken already", TYPE(s, t), (long long)id);
    *taken = (uint16_t)(*taken | 1u << id);
    return csl_known(csl_int_value(t, id));
}

int32_t csl_dsr_number(const struct operand *o)
{
    return (int32_t)(file_of(o->v.type) * DSRS) + (int32_t)o->v.i;
}

static void load_to_dsr(struct sema *s, const struct node *n)
{
    csl_arguments(s, n, 2, 3);
    struct operand dsr = csl_expr(s, n->kid[0], NULL);
    if (!dsr.known || !csl_is_dsr(dsr.v.type))
        FAIL(s, n, "@load_to_dsr takes a DSR that is known when compiling");
    if (s->comptime)
        FAIL(s, n, "@load_to_dsr when compiling is not in the subset");
    struct operand dsd = csl_expr(s, n->kid[1], NULL);
    if (dsd.v.type != &csl_mem1d)
        FAIL(s, n, "a DSR holds a mem1d_dsd in the subset, not %s", TYPE(s, dsd.v.type));
    bool save = false;
    struct field fields[4];
    size_t count = n->count == 3 ? csl_fields(s, n->kid[2], fields, COUNT(fields)) : 0;
    for (size_t i = 0; i < count; i++) {
        if (!csl_str_is(fields[i].name, "save_address"))
            FAIL(s, n, "the setting '%.*s' is not in the subset", STR_ARG(fields[i].name));
        if (!fields[i].value.known || fields[i].value.v.type != &csl_bool)
            FAIL(s, n, ".save_address is a bool that is known when compiling");
        save = fields[i].value.v.i != 0;
    }
    uint16_t from = csl_in_reg(s, n, &dsd);
    struct insn *i = csl_emit(s, n, OP_DSR_LOAD, COST_DSD_CHANGE);
    i->a = from;
    i->x = save;
    i->imm = csl_dsr_number(&dsr);
}

bool csl_dsr_builtin(struct sema *s, const struct node *n, struct operand *result)
{
    if (csl_str_is(n->text, "get_dsr"))
        *result = get_dsr(s, n);
    else if (csl_str_is(n->text, "load_to_dsr"))
        load_to_dsr(s, n);
    else
        return false;
    return true;
}

/* print.c - <simprint> and <debug>: what a program writes to the trace. */
#include <string.h>

#include "sema.h"

static const struct {
    const char *name;
    const struct type *type; /* NULL: a string; csl_void: no argument */
    enum print_form form;
} prints[] = {
    {"print_string", NULL, PRINT_TEXT},
    {"print_u16_binary", &csl_u16, PRINT_BINARY},
    {"print_u16_decimal", &csl_u16, PRINT_DECIMAL},
    {"print_u16_hex", &csl_u16, PRINT_HEX},
    {"print_f16", &csl_f16, PRINT_DECIMAL},
    {"print_u32_binary", &csl_u32, PRINT_BINARY},
    {"print_u32_decimal", &csl_u32, PRINT_DECIMAL},
    {"print_u32_hex", &csl_u32, PRINT_HEX},
    {"print_f32", &csl_f32, PRINT_DECIMAL},
    {"trace_string", NULL, PRINT_TEXT},
    {"trace_bool", &csl_bool, PRINT_DECIMAL},
    {"trace_u8", &csl_u8, PRINT_DECIMAL},
    {"trace_i8", &csl_i8, PRINT_DECIMAL},
    {"trace_u16", &csl_u16, PRINT_DECIMAL},
    {"trace_i16", &csl_i16, PRINT_DECIMAL},
    {"trace_f16", &csl_f16, PRINT_DECIMAL},
    {"trace_u32", &csl_u32, PRINT_DECIMAL},
    {"trace_i32", &csl_i32, PRINT_DECIMAL},
    {"trace_f32", &csl_f32, PRINT_DECIMAL},
    {"trace_timestamp", &csl_void, PRINT_TIME},
};

static size_t find(struct str name)
{
    size_t i = 0;
    while (i < COUNT(prints) && !csl_str_is(name, prints[i].name))
        i++;
    return i;
}

bool csl_is_print(const struct module *m, struct str name)
{
    const char *prefix = m->library == LIB_SIMPRINT ? "print_" : "trace_";
    return (m->library == LIB_SIMPRINT || m->library == LIB_DEBUG) && find(name) < COUNT(prints) &&
           strncmp(name.p, prefix, 6) == 0;
}

void csl_check_print(struct sema *s, const struct node *n, enum library library,
                     const struct tuple *params)
{
    const struct value *v;
    size_t known = 0;
    if (library == LIB_SIMPRINT) {
        v = params != NULL ? csl_field(params, "enable") : NULL;
        if (v != NULL && v->type != &csl_bool)
            FAIL(s, n, ".enable is a bool, not %s", TYPE(s, v->type));
        known = v != NULL;
    } else {
        v = params != NULL ? csl_field(params, "key") : NULL;
        const struct value *size = params != NULL ? csl_field(params, "buffer_size") : NULL;
        if (v == NULL || v->type != &csl_string || size == NULL || !csl_is_integer(size->type) ||
            size->i < 0)
            FAIL(s, n, "<debug> needs a .key, a string, and a .buffer_size");
        known = 2;
    }
    if (params != NULL && params->count != known)
        FAIL(s, n, "the module has other params than these");
}

/* Keeps a string beyond compilation; returns its number in the program. */
static uint16_t keep_text(struct sema *s, const struct node *n, struct str text)
{
    struct program *p = s->program;
    if (p->text_count == NO_ID)
        FAIL(s, n, "too many strings");
    p->texts = csl_grow(s->arena, p->texts, p->text_count, &p->text_capacity, sizeof *p->texts);
    p->texts[p->text_count] = csl_format(s->arena, "%.*s", STR_ARG(text));
    return (uint16_t)p->text_count++;
}

struct operand csl_print_call(struct sema *s, const struct node *n, const struct fn *fn,
                              struct operand *args, size_t count)
{
    size_t which = find(fn->text);
    const struct module *m = fn->module;
    const struct value *enable = m->params != NULL ? csl_field(m->params, "enable") : NULL;
    const struct operand nothing = csl_known((struct value){.type = &csl_void});
    const struct type *type = prints[which].type;
    if (count != (type != &csl_void))
        FAIL(s, n, "'%.*s' takes %u arguments, not %zu", STR_ARG(fn->text), type != &csl_void,
             count);
    uint16_t value = 0;
    if (type == NULL) {
        if (!args[0].known || args[0].v.type != &csl_string)
            FAIL(s, n, "'%.*s' takes a string", STR_ARG(fn->text));
        value = keep_text(s, n, args[0].v.s);
    } else if (type != &csl_void) {
        struct operand o = csl_coerce(s, n, args[0], type);
        value = csl_in_reg(s, n, &o);
    }
    if (enable != NULL && !enable->i)
        return nothing;
    bool record = m->library == LIB_DEBUG;
    uint16_t key = record ? keep_text(s, n, csl_field(m->params, "key")->s) : 0;
    struct insn *i = csl_emit(s, n, OP_PRINT, COST_SYSTEM);
    i->a = value;
    i->b = key;
    i->c = record;
    i->imm = (int32_t)prints[which].form;
    i->tc = type != NULL && type != &csl_void ? (uint8_t)csl_code(type) : 0;
    return nothing;
}

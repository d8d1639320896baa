/* builtin.c - builtins about types, values and compiling. Other files have the other builtins; this
 * one asks them last. */
#include <string.h>

#include "sema.h"

void csl_arguments(struct sema *s, const struct node *n, size_t least, size_t most)
{
    if (n->count >= least && n->count <= most)
        return;
    if (least == most)
        FAIL(s, n, "@%.*s takes %zu arguments, not %zu", STR_ARG(n->text), least, n->count);
    FAIL(s, n, "@%.*s takes %zu to %zu arguments, not %zu", STR_ARG(n->text), least, most,
         n->count);
}

static struct operand void_result(void)
{
    return csl_known((struct value){.type = &csl_void});
}

static struct operand bool_result(bool b)
{
    return csl_known(csl_int_value(&csl_bool, b));
}

static struct str string_of(struct sema *s, const struct node *n)
{
    return csl_known_expr(s, n, &csl_string).s;
}

static const struct type *array_of(struct sema *s, const struct node *n)
{
    const struct type *t = csl_type_expr(s, n);
    if (t->kind != T_ARRAY)
        FAIL(s, n, "expected an array type, found %s", TYPE(s, t));
    return t;
}

static struct operand builtin_as(struct sema *s, const struct node *n)
{
    const struct type *t = csl_type_expr(s, n->kid[0]);
    return csl_convert(s, n, csl_expr(s, n->kid[1], NULL), t);
}

/* The code of an integer whose register holds the same bits. */
static enum type_code bits_code(const struct type *t)
{
    return t->kind == T_F16 ? TC_U16 : t->kind == T_F32 ? TC_U32 : csl_code(t);
}

static struct operand builtin_bitcast(struct sema *s, const struct node *n)
{
    const struct type *to = csl_type_expr(s, n->kid[0]);
    struct operand o = csl_expr(s, n->kid[1], NULL);
    const struct type *from = o.v.type;
    bool handle = csl_is_handle(from) && to == &csl_u16;
    if (!(csl_is_scalar(from) && csl_is_scalar(to)) || csl_is_dsd(from) || csl_is_dsd(to) ||
        from->kind == T_POINTER || (csl_is_handle(from) && !handle) || csl_is_handle(to) ||
        (to->kind == T_POINTER && from->kind != T_INT))
        FAIL(s, n, "@bitcast cannot make %s of %s", TYPE(s, to), TYPE(s, from));
    if (csl_size(from) != csl_size(to))
        FAIL(s, n, "@bitcast from %s to %s: the widths differ", TYPE(s, from), TYPE(s, to));
    if (o.known) {
        int64_t bits = csl_register_bits(&o.v);
        uint8_t bytes[8];
        memcpy(bytes, &bits, sizeof bits);
        return csl_known(csl_load_value(to, bytes));
    }
    enum type_code had = bits_code(from), tc = bits_code(to);
    if (had == tc) {
        o.v.type = to;
        return o;
    }
    /* the same bits, extended the other way */
    uint16_t from_reg = csl_in_reg(s, n, &o), reg = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, OP_CONVERT, COST_NONE);
    i->a = reg;
    i->b = from_reg;
    i->tc = (uint8_t)tc;
    i->imm = (int32_t)tc;
    return csl_in(to, reg);
}

static struct operand builtin_ptrcast(struct sema *s, const struct node *n)
{
    const struct type *to = csl_type_expr(s, n->kid[0]);
    struct operand o = csl_expr(s, n->kid[1], NULL);
    if (to->kind != T_POINTER || o.v.type->kind != T_POINTER)
        FAIL(s, n, "@ptrcast is from pointer to pointer, not from %s to %s", TYPE(s, o.v.type),
             TYPE(s, to));
    if (o.v.type->is_const && !to->is_const)
        FAIL(s, n, "@ptrcast cannot take away const");
    o.v.type = to;
    return o;
}

static struct operand builtin_constants(struct sema *s, const struct node *n)
{
    const struct type *t = array_of(s, n->kid[0]);
    struct value v = {.type = t};
    if (n->count == 1 && !csl_is_number(t->element))
        FAIL(s, n, "@zeros is for numbers, not %s: @constants", TYPE(s, t->element));
    if (n->count == 1)
        return csl_known(v);
    struct value item = csl_known_expr(s, n->kid[1], t->element);
    uint32_t size = csl_size(t->element);
    v.bytes = csl_alloc(s->arena, csl_size(t) + 8);
    for (uint32_t i = 0; i < t->count; i++)
        csl_store_value(&item, v.bytes + (size_t)i * size);
    return csl_known(v);
}

/* The type of an expression whose code is dropped. */
static const struct type *type_of(struct sema *s, const struct node *n)
{
    if (s->func == NULL || (s->comptime && !s->in_place))
        return csl_place(s, n).type;
    size_t count = s->func->count;
    uint32_t code_bytes = s->program->code_bytes;
    uint16_t mark = s->next_reg;
    bool comptime = s->comptime;
    s->comptime = false; /* a type may be known where the value is not */
    const struct type *t = csl_place(s, n).type;
    s->comptime = comptime;
    s->func->count = count;
    s->program->code_bytes = code_bytes;
    s->next_reg = mark;
    return t;
}

static struct operand builtin_assert(struct sema *s, const struct node *n)
{
    bool comptime = csl_str_is(n->text, "comptime_assert");
    struct operand o = csl_condition(s, n->kid[0]);
    struct str message = {0};
    if (n->count == 2)
        message = string_of(s, n->kid[1]);
    if (comptime && !o.known)
        FAIL(s, n, "@comptime_assert needs a condition that is known when compiling");
    if (o.known && (comptime || s->comptime)) {
        if (!o.v.i)
            FAIL(s, n, "assertion failed%s%.*s", n->count == 2 ? ": " : "", STR_ARG(message));
        return void_result();
    }
    uint16_t reg = csl_in_reg(s, n, &o);
    csl_emit(s, n, OP_ASSERT, COST_NONE)->a = reg;
    return void_result();
}

static struct operand builtin_field(struct sema *s, const struct node *n, bool has)
{
    struct value v = csl_known_expr(s, n->kid[0], NULL);
    struct str name = string_of(s, n->kid[1]);
    if (v.type->kind != T_STRUCT)
        FAIL(s, n, "a value of type %s has no fields", TYPE(s, v.type));
    for (size_t i = 0; v.fields->names != NULL && i < v.fields->count; i++)
        if (csl_str_same(v.fields->names[i], name))
            return has ? bool_result(true) : csl_known(v.fields->values[i]);
    if (!has)
        FAIL(s, n, "the struct has no field '%.*s'", STR_ARG(name));
    return bool_result(false);
}

static struct operand builtin_strcat(struct sema *s, const struct node *n)
{
    struct str all = {"", 0};
    for (size_t i = 0; i < n->count; i++) {
        struct str piece = string_of(s, n->kid[i]);
        if (piece.n > 65536 - all.n)
            FAIL(s, n, "the string is longer than 64 KB");
        char *joined = csl_alloc(s->arena, all.n + piece.n + 1);
        memcpy(joined, all.p, all.n);
        if (piece.n > 0)
            memcpy(joined + all.n, piece.p, piece.n);
        all = (struct str){joined, all.n + piece.n};
    }
    return csl_known((struct value){.type = &csl_string, .s = all});
}

/* SDK 2.10 has removed it; programs of SDK 1 use it. */
static struct operand builtin_concat(struct sema *s, const struct node *n)
{
    const struct tuple *a = csl_known_expr(s, n->kid[0], &csl_struct).fields;
    const struct tuple *b = csl_known_expr(s, n->kid[1], &csl_struct).fields;
    size_t count = a->count + b->count;
    if (a->count > 0 && b->count > 0 && (a->names == NULL) != (b->names == NULL))
        FAIL(s, n, "a struct with named fields and a tuple cannot be joined");
    bool named = a->names != NULL || b->names != NULL;
    struct str *names = csl_alloc_array(s->arena, count, sizeof *names);
    struct value *values = csl_alloc_array(s->arena, count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        const struct tuple *from = i < a->count ? a : b;
        size_t at = i < a->count ? i : i - a->count;
        values[i] = from->values[at];
        if (named)
            names[i] = from->names[at];
        for (size_t k = 0; named && k < i; k++)
            if (csl_str_same(names[k], names[i]))
                FAIL(s, n, "both structs have a field '%.*s'", STR_ARG(names[i]));
    }
    return csl_known(csl_tuple_value(s, n, count, named ? names : NULL, values));
}

static struct operand builtin_dimensions(struct sema *s, const struct node *n)
{
    const struct type *t = array_of(s, n->kid[0]);
    uint32_t rank = t->rank;
    uint8_t *bytes = csl_alloc(s->arena, sizeof t->dims + 8);
    memcpy(bytes, t->dims, rank * sizeof t->dims[0]);
    return csl_known(
        (struct value){.type = csl_array_type(&s->l->types, &csl_u32, 1, &rank), .bytes = bytes});
}

static struct operand builtin_get_int(struct sema *s, const struct node *n)
{
    struct operand o = csl_expr(s, n->kid[0], NULL);
    if (csl_is_handle(o.v.type))
        o.v.type = &csl_u16;
    else if (!csl_is_integer(o.v.type))
        FAIL(s, n, "@get_int is not for %s", TYPE(s, o.v.type));
    return o;
}

static struct operand builtin_random(struct sema *s, const struct node *n)
{
    uint16_t to = csl_new_reg(s, n);
    csl_emit(s, n, OP_RANDOM, COST_ALU16)->a = to;
    return csl_in(&csl_u16, to);
}

static struct operand builtin_is_arch(struct sema *s, const struct node *n)
{
    struct str name = string_of(s, n->kid[0]);
    if (!csl_str_is(name, "wse2") && !csl_str_is(name, "wse3"))
        FAIL(s, n, "there is no architecture '%.*s'", STR_ARG(name));
    return bool_result(csl_str_is(name, s->l->arch == CSL_WSE2 ? "wse2" : "wse3"));
}

static struct operand builtin_is_same_type(struct sema *s, const struct node *n)
{
    return bool_result(csl_type_expr(s, n->kid[0]) == csl_type_expr(s, n->kid[1]));
}

static struct operand builtin_print(struct sema *s, const struct node *n)
{
    for (size_t i = 0; i < n->count; i++)
        csl_known_expr(s, n->kid[i], NULL);
    return void_result();
}

static struct operand plain(struct sema *s, const struct node *n)
{
    switch (n->text.p[0]) {
    case 'e': /* element_type, element_count */
        return n->text.p[8] == 't'
                   ? csl_known(csl_type_value(array_of(s, n->kid[0])->element))
                   : csl_known(csl_int_value(&csl_u32, array_of(s, n->kid[0])->count));
    case 'h':
        return builtin_field(s, n, true);
    case 'f':
        return builtin_field(s, n, false);
    case 't':
        return csl_known(csl_type_value(type_of(s, n->kid[0])));
    case 'i':
        return bool_result(s->comptime);
    case 'r':
        return csl_known(csl_int_value(&csl_u16, array_of(s, n->kid[0])->rank));
    default: /* strlen */
        return csl_known(csl_int_value(&csl_comptime_int, (int64_t)string_of(s, n->kid[0]).n));
    }
}

static struct operand builtin_import(struct sema *s, const struct node *n)
{
    return csl_known(csl_import(s, n));
}

struct operand csl_builtin(struct sema *s, const struct node *n)
{
    static const struct {
        const char *name;
        size_t least, most;
        struct operand (*run)(struct sema *s, const struct node *n);
    } all[] = {
        {"as", 2, 2, builtin_as},
        {"bitcast", 2, 2, builtin_bitcast},
        {"ptrcast", 2, 2, builtin_ptrcast},
        {"zeros", 1, 1, builtin_constants},
        {"constants", 2, 2, builtin_constants},
        {"assert", 1, 1, builtin_assert},
        {"comptime_assert", 1, 2, builtin_assert},
        {"comptime_print", 0, 100, builtin_print},
        {"is_arch", 1, 1, builtin_is_arch},
        {"is_same_type", 2, 2, builtin_is_same_type},
        {"is_comptime", 0, 0, plain},
        {"type_of", 1, 1, plain},
        {"element_type", 1, 1, plain},
        {"element_count", 1, 1, plain},
        {"rank", 1, 1, plain},
        {"dimensions", 1, 1, builtin_dimensions},
        {"has_field", 2, 2, plain},
        {"field", 2, 2, plain},
        {"strlen", 1, 1, plain},
        {"strcat", 0, 100, builtin_strcat},
        {"concat_structs", 2, 2, builtin_concat},
        {"get_int", 1, 1, builtin_get_int},
        {"random16", 0, 0, builtin_random},
        {"range", 2, 4, csl_range_value},
        {"import_module", 1, 2, builtin_import},
        {"map", 2, 16, csl_map},
    };
    for (size_t i = 0; i < COUNT(all); i++)
        if (csl_str_is(n->text, all[i].name)) {
            csl_arguments(s, n, all[i].least, all[i].most);
            return all[i].run(s, n);
        }
    struct operand result = void_result();
    if (csl_wafer_builtin(s, n, &result) || csl_dsd_builtin(s, n, &result) ||
        csl_dsd_operation(s, n))
        return result;
    FAIL(s, n, "@%.*s is not in the subset", STR_ARG(n->text));
}

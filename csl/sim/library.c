/* library.c - the library modules: <memcpy/...>, <time>, <math>, <layout>. */
#include <math.h>
#include <string.h>

#include "sema.h"

enum library csl_library(struct str name)
{
    static const struct {
        const char *name;
        enum library library;
    } all[] = {
        {"<memcpy/get_params>", LIB_GET_PARAMS},
        {"<memcpy/memcpy>", LIB_MEMCPY},
        {"<time>", LIB_TIME},
        {"<math>", LIB_MATH},
        {"<layout>", LIB_LAYOUT},
        {"<empty>", LIB_EMPTY},
    };
    for (size_t i = 0; i < COUNT(all); i++)
        if (csl_str_is(name, all[i].name))
            return all[i].library;
    return LIB_NONE;
}

/* Functions: library, name, arguments. */
static const struct {
    enum library library;
    const char *name;
    unsigned args;
} functions[] = {
    {LIB_GET_PARAMS, "get_params", 1},
    {LIB_MEMCPY, "unblock_cmd_stream", 0},
    {LIB_TIME, "enable_tsc", 0},
    {LIB_TIME, "disable_tsc", 0},
    {LIB_TIME, "reset_tsc_counter", 0},
    {LIB_TIME, "get_timestamp", 1},
    {LIB_LAYOUT, "get_x_coord", 0},
    {LIB_LAYOUT, "get_y_coord", 0},
    {LIB_MATH, "POSITIVE_INF", 1},
    {LIB_MATH, "NEGATIVE_INF", 1},
    {LIB_MATH, "NaN", 1},
    {LIB_MATH, "abs", 1},
    {LIB_MATH, "max", 2},
    {LIB_MATH, "min", 2},
    {LIB_MATH, "sign", 1},
    {LIB_MATH, "ceil", 1},
    {LIB_MATH, "floor", 1},
    {LIB_MATH, "inv", 1},
    {LIB_MATH, "sqrt", 1},
    {LIB_MATH, "isNaN", 1},
    {LIB_MATH, "isInf", 1},
    {LIB_MATH, "isFinite", 1},
};

/* name without "_f32", or as it is. */
static struct str base_name(struct str name, bool *f32)
{
    *f32 = name.n > 4 && memcmp(name.p + name.n - 4, "_f32", 4) == 0;
    return *f32 ? (struct str){name.p, name.n - 4} : name;
}

struct value csl_library_member(struct sema *s, const struct node *n, struct module *m,
                                struct str name)
{
    bool f32 = false;
    struct str base = m->library == LIB_MATH ? base_name(name, &f32) : name;
    if (m->library == LIB_TIME && csl_str_is(name, "tsc_size_words"))
        return csl_int_value(&csl_comptime_int, 3);
    if (m->library == LIB_MATH) {
        double inf = csl_str_is(name, "POSITIVE_INF_f32")   ? (double)INFINITY
                     : csl_str_is(name, "NEGATIVE_INF_f32") ? -(double)INFINITY
                     : csl_str_is(name, "NaN_f32")          ? (double)NAN
                                                            : 0.0;
        if (inf != 0)
            return (struct value){.type = &csl_f32, .f = inf};
        if (csl_str_is(name, "PI") || csl_str_is(name, "E"))
            return (struct value){.type = &csl_comptime_float, .f = name.n == 2 ? M_PI : M_E};
    }
    for (size_t i = 0; i < COUNT(functions); i++)
        if (functions[i].library == m->library && csl_str_is(base, functions[i].name)) {
            const struct fn *fn = csl_fn_of(s, m, NULL, name);
            return (struct value){.type = &csl_any_fn, .fn = fn};
        }
    FAIL(s, n, "the module has no '%.*s' in the subset", STR_ARG(name));
}

static struct operand emit_math(struct sema *s, const struct node *n, enum math which,
                                const struct operand *a, const struct operand *b)
{
    const struct type *t = a->v.type;
    bool slow =
        which == MATH_SQRT || which == MATH_FLOOR || which == MATH_CEIL || which == MATH_INV;
    uint16_t x = csl_in_reg(s, n, a), y = b != NULL ? csl_in_reg(s, n, b) : x;
    uint16_t to = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, OP_MATH,
                              slow              ? COST_MATH
                              : csl_size(t) > 2 ? COST_COMPARE32
                                                : COST_COMPARE16);
    i->a = to;
    i->b = x;
    i->c = y;
    i->imm = (int32_t)which;
    i->tc = (uint8_t)csl_code(t);
    return csl_in(t, to);
}

static struct operand known_math(struct sema *s, const struct node *n, enum math which,
                                 struct operand a, const struct operand *b)
{
    struct operand zero =
        csl_coerce(s, n, csl_known(csl_int_value(&csl_comptime_int, 0)), a.v.type);
    switch (which) {
    case MATH_ABS:
        if (csl_binary(s, n, TOK_LT, a, zero).v.i)
            return csl_binary(s, n, TOK_SUB, zero, a);
        return a;
    case MATH_MIN:
        return csl_binary(s, n, TOK_LT, *b, a).v.i ? *b : a;
    case MATH_MAX:
        return csl_binary(s, n, TOK_GT, *b, a).v.i ? *b : a;
    default:
        FAIL(s, n, "this function runs later only");
    }
}

static struct operand classify(struct sema *s, const struct node *n, struct str name,
                               struct operand x)
{
    if (csl_str_is(name, "isNaN"))
        return csl_binary(s, n, TOK_NE, x, x);
    struct operand inf = csl_known((struct value){.type = &csl_f32, .f = (double)INFINITY});
    struct operand size = emit_math(s, n, MATH_ABS, &x, NULL);
    return csl_binary(s, n, csl_str_is(name, "isInf") ? TOK_EQ : TOK_LT, size, inf);
}

static struct operand math_call(struct sema *s, const struct node *n, const struct fn *fn,
                                struct operand *args, size_t count)
{
    static const struct {
        const char *name;
        enum math which;
        bool integers;
    } all[] = {
        {"abs", MATH_ABS, true},   {"min", MATH_MIN, true},    {"max", MATH_MAX, true},
        {"sign", MATH_SIGN, true}, {"ceil", MATH_CEIL, false}, {"floor", MATH_FLOOR, false},
        {"inv", MATH_INV, false},  {"sqrt", MATH_SQRT, false},
    };
    bool f32;
    struct str name = base_name(fn->text, &f32);
    if (csl_str_is(name, "POSITIVE_INF") || csl_str_is(name, "NEGATIVE_INF") ||
        csl_str_is(name, "NaN")) {
        if (!args[0].known || args[0].v.type != &csl_type || args[0].v.t != &csl_f32)
            FAIL(s, n, "'%.*s' is for f32", STR_ARG(name));
        double inf = name.n == 3        ? (double)NAN
                     : name.p[0] == 'P' ? (double)INFINITY
                                        : -(double)INFINITY;
        return csl_known((struct value){.type = &csl_f32, .f = inf});
    }
    for (size_t i = 0; i < count; i++)
        if (f32)
            args[i] = csl_coerce(s, n, args[i], &csl_f32);
    const struct type *t = args[0].v.type;
    if (count == 2) {
        if (t->kind == T_COMPTIME_INT || t->kind == T_COMPTIME_FLOAT)
            args[0] = csl_coerce(s, n, args[0], t = args[1].v.type);
        args[1] = csl_coerce(s, n, args[1], t);
    }
    if (csl_str_is(name, "isNaN") || csl_str_is(name, "isInf") || csl_str_is(name, "isFinite")) {
        args[0] = csl_coerce(s, n, args[0], &csl_f32);
        return classify(s, n, name, args[0]);
    }
    for (size_t i = 0; i < COUNT(all); i++) {
        if (!csl_str_is(name, all[i].name))
            continue;
        if (!csl_is_number(t) || (!all[i].integers && t->kind != T_F32))
            FAIL(s, n, "'%.*s' is not for %s", STR_ARG(name), TYPE(s, t));
        if (args[0].known && (count == 1 || args[1].known) && (s->comptime || !csl_is_scalar(t)))
            return known_math(s, n, all[i].which, args[0], count == 2 ? &args[1] : NULL);
        return emit_math(s, n, all[i].which, &args[0], count == 2 ? &args[1] : NULL);
    }
    FAIL(s, n, "'%.*s' is not in the subset", STR_ARG(name));
}

static struct operand time_call(struct sema *s, const struct node *n, struct str name,
                                const struct operand *args)
{
    uint16_t reg = 0;
    if (name.p[0] == 'g') {
        const struct type *t = args[0].v.type;
        if (t->kind != T_POINTER || t->is_const || t->element->kind != T_ARRAY ||
            t->element->element != &csl_u16 || t->element->count < 3)
            FAIL(s, n, "get_timestamp takes a pointer to [3]u16, not %s", TYPE(s, t));
        reg = csl_in_reg(s, n, &args[0]);
    }
    struct insn *i = csl_emit(s, n, OP_TIMER, COST_SYSTEM);
    i->a = reg;
    i->imm = name.p[0] == 'e' ? 0 : name.p[0] == 'd' ? 1 : name.p[0] == 'r' ? 2 : 3;
    return csl_known((struct value){.type = &csl_void});
}

struct operand csl_library_call(struct sema *s, const struct node *n, const struct fn *fn,
                                struct operand *args, size_t count)
{
    bool f32 = false;
    struct str name = fn->module->library == LIB_MATH ? base_name(fn->text, &f32) : fn->text;
    for (size_t i = 0; i < COUNT(functions); i++)
        if (functions[i].library == fn->module->library && csl_str_is(name, functions[i].name) &&
            functions[i].args != count)
            FAIL(s, n, "'%.*s' takes %u arguments, not %zu", STR_ARG(fn->text), functions[i].args,
                 count);
    uint16_t to;
    switch (fn->module->library) {
    case LIB_GET_PARAMS:
        if (!args[0].known || !csl_is_integer(args[0].v.type))
            FAIL(s, n, "get_params takes a column");
        return csl_known(csl_tuple_value(s, n, 0, NULL, NULL));
    case LIB_MEMCPY:
        csl_emit(s, n, OP_UNBLOCK_CMD, COST_SYSTEM);
        return csl_known((struct value){.type = &csl_void});
    case LIB_TIME:
        return time_call(s, n, name, args);
    case LIB_LAYOUT:
        to = csl_new_reg(s, n);
        {
            struct insn *i = csl_emit(s, n, OP_COORD, COST_LOAD16);
            i->a = to;
            i->imm = name.p[4] == 'y';
        }
        return csl_in(&csl_u16, to);
    default:
        return math_call(s, n, fn, args, count);
    }
}

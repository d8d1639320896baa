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
        {"<control>", LIB_CONTROL},
        {"<random>", LIB_RANDOM},
        {"<collectives_2d/params>", LIB_COLLECTIVE_PARAMS},
        {"<collectives_2d/pe>", LIB_COLLECTIVE},
        {"<simprint>", LIB_SIMPRINT},
        {"<debug>", LIB_DEBUG},
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
    {LIB_CONTROL, "encode_control_task_payload", 1},
    {LIB_CONTROL, "encode_single_payload", 4},
    {LIB_CONTROL, "encode_payload", 5},
    {LIB_RANDOM, "random_f16", 2},
    {LIB_RANDOM, "random_f32", 2},
    {LIB_COLLECTIVE_PARAMS, "get_params", 3},
    {LIB_COLLECTIVE, "init", 0},
    {LIB_COLLECTIVE, "broadcast", 4},
    {LIB_COLLECTIVE, "scatter", 5},
    {LIB_COLLECTIVE, "gather", 5},
    {LIB_COLLECTIVE, "reduce_fadds", 5},
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

/* The name without "_f32" or "_f16", and the type that this said; or the name as it is. */
static struct str base_name(struct str name, const struct type **type)
{
    *type = NULL;
    if (name.n > 4 && memcmp(name.p + name.n - 4, "_f32", 4) == 0)
        *type = &csl_f32;
    if (name.n > 4 && memcmp(name.p + name.n - 4, "_f16", 4) == 0)
        *type = &csl_f16;
    return *type != NULL ? (struct str){name.p, name.n - 4} : name;
}

const struct type *csl_library_type(struct str name)
{
    const struct type *type;
    base_name(name, &type);
    return type != NULL ? type : &csl_f32;
}

struct value csl_library_member(struct sema *s, const struct node *n, struct module *m,
                                struct str name)
{
    const struct type *type = NULL;
    struct str base = m->library == LIB_MATH ? base_name(name, &type) : name;
    if (m->library == LIB_MEMCPY &&
        csl_field(m->params, csl_format(s->arena, "%.*s", STR_ARG(name))))
        return *csl_field(m->params, csl_format(s->arena, "%.*s", STR_ARG(name)));
    if (m->library == LIB_COLLECTIVE && csl_str_is(name, "pe_id"))
        return csl_collective_place(m);
    if (m->library == LIB_CONTROL && csl_str_is(name, "opcode"))
        return csl_type_value(&csl_opcode);
    if (m->library == LIB_CONTROL && csl_str_is(name, "MAX_CMDS"))
        return csl_int_value(&csl_comptime_int, CONTROL_COMMANDS);
    if (m->library == LIB_TIME && csl_str_is(name, "tsc_size_words"))
        return csl_int_value(&csl_comptime_int, 3);
    if (m->library == LIB_MATH) {
        double inf = csl_str_is(base, "POSITIVE_INF")   ? (double)INFINITY
                     : csl_str_is(base, "NEGATIVE_INF") ? -(double)INFINITY
                     : csl_str_is(base, "NaN")          ? (double)NAN
                                                        : 0.0;
        if (inf != 0 && type != NULL)
            return (struct value){.type = type, .f = inf};
        if (csl_str_is(name, "PI") || csl_str_is(name, "E"))
            return (struct value){.type = &csl_comptime_float, .f = name.n == 2 ? M_PI : M_E};
    }
    for (size_t i = 0; i < COUNT(functions); i++)
        if (functions[i].library == m->library && csl_str_is(base, functions[i].name)) {
            const struct fn *fn = csl_fn_of(s, m, NULL, name);
            return (struct value){.type = &csl_any_fn, .fn = fn};
        }
    if (csl_is_print(m, name))
        return (struct value){.type = &csl_any_fn, .fn = csl_fn_of(s, m, NULL, name)};
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
    struct operand inf = csl_known((struct value){.type = x.v.type, .f = (double)INFINITY});
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
    const struct type *type;
    struct str name = base_name(fn->text, &type);
    if (csl_str_is(name, "POSITIVE_INF") || csl_str_is(name, "NEGATIVE_INF") ||
        csl_str_is(name, "NaN")) {
        if (!args[0].known || args[0].v.type != &csl_type ||
            (args[0].v.t != &csl_f16 && args[0].v.t != &csl_f32))
            FAIL(s, n, "'%.*s' is for f16 and f32", STR_ARG(name));
        double inf = name.n == 3        ? (double)NAN
                     : name.p[0] == 'P' ? (double)INFINITY
                                        : -(double)INFINITY;
        return csl_known((struct value){.type = args[0].v.t, .f = inf});
    }
    for (size_t i = 0; i < count; i++)
        if (type != NULL)
            args[i] = csl_coerce(s, n, args[i], type);
    const struct type *t = args[0].v.type;
    if (count == 2) {
        if (t->kind == T_COMPTIME_INT || t->kind == T_COMPTIME_FLOAT)
            args[0] = csl_coerce(s, n, args[0], t = args[1].v.type);
        args[1] = csl_coerce(s, n, args[1], t);
    }
    if (csl_str_is(name, "isNaN") || csl_str_is(name, "isInf") || csl_str_is(name, "isFinite")) {
        if (t->kind != T_F16)
            args[0] = csl_coerce(s, n, args[0], &csl_f32);
        return classify(s, n, name, args[0]);
    }
    for (size_t i = 0; i < COUNT(all); i++) {
        if (!csl_str_is(name, all[i].name))
            continue;
        if (!csl_is_number(t) || (!all[i].integers && t->kind != T_F16 && t->kind != T_F32))
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

/* Numbers in [lower, upper) from the PE's generator. The library's own formula is not published. */
static struct operand random_call(struct sema *s, const struct node *n, struct str name,
                                  struct operand *args)
{
    const struct type *t = csl_str_is(name, "random_f16") ? &csl_f16 : &csl_f32;
    for (unsigned i = 0; i < 2; i++)
        args[i] = csl_coerce(s, n, args[i], t);
    uint16_t lower = csl_in_reg(s, n, &args[0]), upper = csl_in_reg(s, n, &args[1]);
    uint16_t to = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, OP_RANDOM_IN, COST_MATH);
    i->a = to;
    i->b = lower;
    i->c = upper;
    i->tc = (uint8_t)csl_code(t);
    return csl_in(t, to);
}

struct operand csl_library_call(struct sema *s, const struct node *n, const struct fn *fn,
                                struct operand *args, size_t count)
{
    const struct type *type;
    struct str name = fn->module->library == LIB_MATH ? base_name(fn->text, &type) : fn->text;
    for (size_t i = 0; i < COUNT(functions); i++)
        if (functions[i].library == fn->module->library && csl_str_is(name, functions[i].name) &&
            functions[i].args != count)
            FAIL(s, n, "'%.*s' takes %u arguments, not %zu", STR_ARG(fn->text), functions[i].args,
                 count);
    uint16_t to;
    switch (fn->module->library) {
    case LIB_GET_PARAMS:
        if (!args[0].known || !csl_is_integer(args[0].v.type) || args[0].v.i < 0 ||
            args[0].v.i >= s->l->memcpy_width)
            FAIL(s, n, "get_params takes a column, 0 to %u", s->l->memcpy_width - 1);
        return csl_known(csl_stream_params(s, n, fn->module));
    case LIB_SIMPRINT:
    case LIB_DEBUG:
        return csl_print_call(s, n, fn, args, count);
    case LIB_COLLECTIVE_PARAMS:
        return csl_collective_params(s, n, args);
    case LIB_COLLECTIVE:
        return csl_collective_call(s, n, fn->module, name, args, count);
    case LIB_CONTROL:
        return csl_control_call(s, n, name, args, count);
    case LIB_RANDOM:
        return random_call(s, n, name, args);
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

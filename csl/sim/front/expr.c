/* expr.c - expressions, types and implicit conversions. */
#include <math.h>
#include <string.h>

#include "sema.h"

void csl_step(struct sema *s, const struct node *n)
{
    uint64_t most = s->l->options->max_steps != 0 ? s->l->options->max_steps : COMPTIME_STEPS;
    if (++s->l->steps > most)
        FAIL(s, n, "compiling takes more than %llu steps", (unsigned long long)most);
}

bool csl_comptime_only(const struct type *t)
{
    return !csl_is_scalar(t) && t->kind != T_VOID && t->kind != T_ARRAY;
}

struct value csl_tuple_value(struct sema *s, const struct node *n, size_t count, struct str *names,
                             struct value *values)
{
    struct tuple *fields = csl_alloc(s->arena, sizeof *fields);
    *fields = (struct tuple){.depth = 1, .count = count, .names = names, .values = values};
    for (size_t i = 0; i < count; i++)
        if (values[i].type->kind == T_STRUCT && values[i].fields->depth >= fields->depth)
            fields->depth = values[i].fields->depth + 1;
    if (fields->depth > STRUCT_DEPTH_MAX)
        FAIL(s, n, "structs are nested more than %u deep", STRUCT_DEPTH_MAX);
    return (struct value){.type = &csl_struct, .fields = fields};
}

static struct operand convert_number(struct sema *s, const struct node *n, struct operand o,
                                     const struct type *to)
{
    const struct type *from = o.v.type;
    if (from->kind == T_COMPTIME_INT && to->kind == T_INT) {
        if (!csl_fits(to, o.v.i))
            FAIL(s, n, "%lld does not fit in %s", (long long)o.v.i, TYPE(s, to));
        o.v.type = to;
        return o;
    }
    if (from->kind == T_COMPTIME_INT) { /* to a float */
        double f = (double)o.v.i;
        bool far = o.v.i > (INT64_C(1) << 62) || o.v.i < -(INT64_C(1) << 62);
        if (far || (int64_t)f != o.v.i || (to->kind == T_F32 && (double)(float)f != f) ||
            (to->kind == T_F16 && (double)csl_float_of(csl_half_of(f)) != f))
            FAIL(s, n, "%lld is not exact in %s", (long long)o.v.i, TYPE(s, to));
        o.v = (struct value){.type = to, .f = f};
        return o;
    }
    bool half = to->kind == T_F16;
    if (isfinite(o.v.f) && (half ? fabs(o.v.f) >= 65520 /* rounds to infinity */
                                 : fabs(o.v.f) > 3.4028235677973366e38))
        FAIL(s, n, "%g does not fit in %s", o.v.f, TYPE(s, to));
    o.v = (struct value){.type = to, .f = half ? csl_float_of(csl_half_of(o.v.f)) : (float)o.v.f};
    return o;
}

struct operand csl_coerce(struct sema *s, const struct node *n, struct operand o,
                          const struct type *to)
{
    const struct type *from = o.v.type;
    if (from == to)
        return o;
    if (from->kind == T_COMPTIME_INT && (to->kind == T_INT || csl_is_float(to)))
        return convert_number(s, n, o, to);
    if (from->kind == T_COMPTIME_FLOAT && csl_is_float(to))
        return convert_number(s, n, o, to);
    if (from->kind == T_POINTER && to->kind == T_POINTER && (to->is_const || !from->is_const)) {
        bool same = from->many == to->many && from->element == to->element;
        bool decays = !from->many && to->many && from->element->kind == T_ARRAY &&
                      from->element->element == to->element;
        if (same || decays) {
            o.v.type = to;
            return o;
        }
    }
    FAIL(s, n, "expected %s, found %s", TYPE(s, to), TYPE(s, from));
}

struct operand csl_expr_as(struct sema *s, const struct node *n, const struct type *type)
{
    return csl_coerce(s, n, csl_expr(s, n, type), type);
}

/* Evaluates what must be known when compiling; emits no run-time code. */
struct value csl_known_expr(struct sema *s, const struct node *n, const struct type *want)
{
    bool comptime = s->comptime, in_place = s->in_place;
    s->in_place = in_place || !comptime;
    s->comptime = true;
    struct operand o = want != NULL ? csl_expr_as(s, n, want) : csl_expr(s, n, NULL);
    s->comptime = comptime;
    s->in_place = in_place;
    if (!o.known)
        FAIL(s, n, "this must be known when compiling");
    return o.v;
}

int64_t csl_int_expr(struct sema *s, const struct node *n, int64_t least, int64_t most,
                     const char *what)
{
    struct value v = csl_known_expr(s, n, NULL);
    if (!csl_is_integer(v.type))
        FAIL(s, n, "%s must be an integer, not %s", what, TYPE(s, v.type));
    if (v.i < least || v.i > most)
        FAIL(s, n, "%s is %lld, but must be %lld to %lld", what, (long long)v.i, (long long)least,
             (long long)most);
    return v.i;
}

struct operand csl_condition(struct sema *s, const struct node *n)
{
    struct operand o = csl_expr(s, n, &csl_bool);
    if (o.v.type != &csl_bool)
        FAIL(s, n, "a condition must be bool, not %s", TYPE(s, o.v.type));
    return o;
}

/* ---- types ---- */

static const struct type *array_type(struct sema *s, const struct node *n)
{
    uint32_t dims[RANK_MAX];
    unsigned rank = (unsigned)n->count - 1;
    if (rank > RANK_MAX)
        FAIL(s, n, "arrays have up to %d dimensions", RANK_MAX);
    const struct type *of = csl_type_expr(s, n->kid[rank]);
    if (of->kind == T_ARRAY)
        FAIL(s, n, "the dimensions of an array stand in one pair of brackets: [N, M]T");
    if (!csl_is_scalar(of))
        FAIL(s, n, "an array cannot have elements of type %s", TYPE(s, of));
    uint64_t bytes = csl_size(of);
    for (unsigned i = 0; i < rank; i++) {
        dims[i] = (uint32_t)csl_int_expr(s, n->kid[i], 0, PE_MEMORY_BYTES, "an array's size");
        bytes *= dims[i];
        if (bytes > PE_MEMORY_BYTES)
            FAIL(s, n, "the array does not fit into the 48 KB of a PE");
    }
    return csl_array_type(&s->l->types, of, rank, dims);
}

static const struct type *fn_type(struct sema *s, const struct node *n)
{
    size_t count = n->count - 1;
    const struct type **params = csl_alloc_array(s->arena, count, sizeof *params);
    for (size_t i = 0; i < count; i++)
        params[i] = csl_type_expr(s, n->kid[i]);
    return csl_fn_type(&s->l->types, params, count, csl_type_expr(s, n->kid[count]));
}

static const struct type *pointer_type(struct sema *s, const struct node *n)
{
    const struct type *of = csl_type_expr(s, n->kid[0]);
    bool many = n->flags & NODE_MANY;
    if (of->kind == T_FN)
        FAIL(s, n, "function pointers are not in the subset");
    if (!csl_is_scalar(of) && (of->kind != T_ARRAY || many))
        FAIL(s, n, "there are no pointers to %s", TYPE(s, of));
    return csl_pointer_type(&s->l->types, of, many, (n->flags & NODE_CONST) != 0);
}

const struct type *csl_type_expr(struct sema *s, const struct node *n)
{
    switch (n->kind) {
    case N_ARRAY_TYPE:
        return array_type(s, n);
    case N_POINTER:
        return pointer_type(s, n);
    case N_FN_TYPE:
        return fn_type(s, n);
    default:
        break;
    }
    static const char *const refused[] = {"bf16",          "cb16",          "mem4d_dsd", "anytype",
                                          "dsr_fifo_dest", "dsr_fifo_src1", "xdsr"};
    for (size_t i = 0; n->kind == N_IDENT && i < COUNT(refused); i++)
        if (csl_str_is(n->text, refused[i]))
            FAIL(s, n, "%s is not in the subset", refused[i]);
    struct value v = csl_known_expr(s, n, NULL);
    if (v.type != &csl_type)
        FAIL(s, n, "expected a type, found a value of type %s", TYPE(s, v.type));
    return v.t;
}

/* ---- values ---- */

static struct operand struct_value(struct sema *s, const struct node *n)
{
    struct value *values = csl_alloc_array(s->arena, n->count, sizeof *values);
    for (size_t i = 0; i < n->count; i++) {
        struct operand o = csl_expr(s, n->kid[i], NULL);
        if (!o.known)
            FAIL(s, n->kid[i], "values of a struct must be known when compiling");
        values[i] = o.v;
    }
    return csl_known(csl_tuple_value(s, n, n->count, n->names, values));
}

/* [N]T{ ... } of known elements. */
static struct operand array_value(struct sema *s, const struct node *n)
{
    const struct type *t = csl_type_expr(s, n->kid[0]);
    if (n->count - 1 != t->count)
        FAIL(s, n, "%zu elements for %s", n->count - 1, TYPE(s, t));
    uint32_t size = csl_size(t->element);
    uint8_t *bytes = csl_alloc(s->arena, csl_size(t) + 8);
    for (size_t i = 1; i < n->count; i++) {
        struct operand o = csl_expr_as(s, n->kid[i], t->element);
        if (!o.known)
            FAIL(s, n->kid[i], "elements of an array value must be known when compiling");
        csl_store_value(&o.v, bytes + (i - 1) * size);
    }
    return csl_known((struct value){.type = t, .bytes = bytes});
}

static struct operand logical(struct sema *s, const struct node *n)
{
    bool is_and = n->op == TOK_LAND;
    struct operand a = csl_condition(s, n->kid[0]);
    if (a.known)
        return (a.v.i != 0) == is_and ? csl_condition(s, n->kid[1]) : a;
    uint16_t to = csl_new_reg(s, n);
    struct patches end = {0};
    csl_into(s, n, &a, to);
    csl_jump(s, n, is_and ? OP_JUMP_UNLESS : OP_JUMP_IF, to, &end);
    s->conditional++;
    struct operand b = csl_condition(s, n->kid[1]);
    csl_into(s, n, &b, to);
    s->conditional--;
    csl_patch_here(s, &end);
    return csl_in(&csl_bool, to);
}

static struct operand address(struct sema *s, const struct node *n)
{
    struct place p = csl_place(s, n->kid[0]);
    if (p.type->kind == T_FN)
        FAIL(s, n, "function pointers are not in the subset");
    return csl_address(s, n, &p);
}

static struct operand comptime_value(struct sema *s, const struct node *n)
{
    if (n->kid[0]->kind == N_BLOCK && n->kid[0]->text.n == 0) {
        bool comptime = s->comptime;
        s->comptime = true;
        csl_statement(s, n->kid[0]);
        s->comptime = comptime;
        return csl_known((struct value){.type = &csl_void});
    }
    return csl_known(csl_known_expr(s, n->kid[0], NULL));
}

static struct operand literal(const struct node *n)
{
    if (n->kind == N_FLOAT)
        return csl_known((struct value){.type = &csl_comptime_float, .f = n->f});
    if (n->kind == N_STRING)
        return csl_known((struct value){.type = &csl_string, .s = n->text});
    return csl_known(csl_int_value(n->kind == N_BOOL ? &csl_bool : &csl_comptime_int, n->i));
}

static struct operand binary(struct sema *s, const struct node *n)
{
    if (n->op == TOK_LAND || n->op == TOK_LOR)
        return logical(s, n);
    struct operand a = csl_expr(s, n->kid[0], NULL);
    struct operand b = csl_expr(s, n->kid[1], NULL);
    return csl_binary(s, n, n->op, a, b);
}

struct operand csl_expr(struct sema *s, const struct node *n, const struct type *want)
{
    struct place p;
    csl_step(s, n);
    switch (n->kind) {
    case N_INT:
    case N_FLOAT:
    case N_STRING:
    case N_BOOL:
        return literal(n);
    case N_IDENT:
        if (csl_str_is(n->text, "bf16") || csl_str_is(n->text, "cb16"))
            FAIL(s, n, "%.*s is not in the subset", STR_ARG(n->text));
        /* fall through */
    case N_FIELD:
    case N_INDEX:
    case N_DEREF:
        p = csl_place(s, n);
        return csl_load_place(s, n, &p);
    case N_BUILTIN:
        return csl_builtin(s, n);
    case N_CALL:
        return csl_call(s, n);
    case N_ADDRESS:
        return address(s, n);
    case N_UNARY:
        return csl_unary(s, n, want);
    case N_BINARY:
        return binary(s, n);
    case N_STRUCT:
        return struct_value(s, n);
    case N_ARRAY:
        return array_value(s, n);
    case N_TENSOR:
        return csl_known(csl_tensor(s, n));
    case N_COMPTIME:
        return comptime_value(s, n);
    case N_IF:
        return csl_if_value(s, n, want);
    case N_BLOCK:
        return csl_block_value(s, n, want);
    case N_SWITCH:
        return csl_switch_value(s, n, want);
    case N_ARRAY_TYPE:
    case N_POINTER:
    case N_FN_TYPE:
        return csl_known(csl_type_value(csl_type_expr(s, n)));
    case N_ASSIGN:
    case N_WHILE:
    case N_FOR:
    case N_BREAK:
    case N_CONTINUE:
    case N_RETURN:
        if (csl_statement(s, n) != FLOW_NEXT)
            FAIL(s, n, "a jump cannot stand in an expression");
        return csl_known((struct value){.type = &csl_void});
    default:
        FAIL(s, n, "this cannot stand in an expression");
    }
}

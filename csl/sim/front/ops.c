/* ops.c - operators, and @as: the compiler computes known values and emits code for others. */
#include <math.h>

#include "sema.h"

static const char *op_text(enum token_kind op)
{
    return csl_token_name(op);
}

static struct operand known_int(struct sema *s, const struct node *n, enum token_kind op,
                                const struct type *t, int64_t a, int64_t b)
{
    int64_t r = 0;
    bool over = false;
    bool is_u64 = t->kind == T_INT && t->bits == 64 && !t->is_signed;
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    if ((op == TOK_DIV || op == TOK_REM) && b == 0)
        FAIL(s, n, "division by zero");
    switch (op) {
    case TOK_ADD:
        over = is_u64 ? ua + ub < ua : __builtin_add_overflow(a, b, &r);
        r = (int64_t)(ua + ub);
        break;
    case TOK_SUB:
        over = is_u64 ? ub > ua : __builtin_sub_overflow(a, b, &r);
        r = (int64_t)(ua - ub);
        break;
    case TOK_MUL:
        over = is_u64 ? ub != 0 && ua > UINT64_MAX / ub : __builtin_mul_overflow(a, b, &r);
        r = (int64_t)(ua * ub);
        break;
    case TOK_DIV:
        over = !is_u64 && a == INT64_MIN && b == -1;
        r = is_u64 ? (int64_t)(ua / ub) : over ? 0 : a / b;
        break;
    case TOK_REM:
        r = is_u64 ? (int64_t)(ua % ub) : b == -1 ? 0 : a % b;
        break;
    case TOK_AND:
        r = a & b;
        break;
    case TOK_OR:
        r = a | b;
        break;
    default:
        r = a ^ b;
        break;
    }
    if (over || (!is_u64 && !csl_fits(t, r)))
        FAIL(s, n, "the result of '%s' does not fit in %s", op_text(op), TYPE(s, t));
    return csl_known(csl_int_value(t, r));
}

static bool compare(enum token_kind op, bool less, bool equal, bool ordered)
{
    switch (op) {
    case TOK_EQ:
        return equal;
    case TOK_NE:
        return !equal;
    case TOK_LT:
        return ordered && less;
    case TOK_LE:
        return ordered && (less || equal);
    case TOK_GT:
        return ordered && !less && !equal;
    default:
        return ordered && !less;
    }
}

static bool is_comparison(enum token_kind op)
{
    return op == TOK_EQ || op == TOK_NE || op == TOK_LT || op == TOK_LE || op == TOK_GT ||
           op == TOK_GE;
}

static struct operand known_float(struct sema *s, const struct node *n, enum token_kind op,
                                  const struct type *t, double a, double b)
{
    double r;
    bool single = csl_is_scalar(t);
    float fa = (float)a, fb = (float)b;
    switch (op) {
    case TOK_ADD:
        r = single ? (double)(fa + fb) : a + b;
        break;
    case TOK_SUB:
        r = single ? (double)(fa - fb) : a - b;
        break;
    case TOK_MUL:
        r = single ? (double)(fa * fb) : a * b;
        break;
    case TOK_DIV:
        if (b == 0 && !single)
            FAIL(s, n, "division by zero");
        r = single ? (double)(fa / fb) : a / b;
        break;
    default:
        FAIL(s, n, "'%s' is not for %s", op_text(op), TYPE(s, t));
    }
    if (isnan(r) && !single)
        FAIL(s, n, "the result is not a number");
    if (t->kind == T_F16)
        r = csl_float_of(csl_half_of(r));
    return csl_known((struct value){.type = t, .f = r});
}

static struct operand known_binary(struct sema *s, const struct node *n, enum token_kind op,
                                   const struct value *a, const struct value *b)
{
    const struct type *t = a->type;
    if (is_comparison(op)) {
        bool result;
        if (csl_is_float(t))
            result = compare(op, a->f < b->f, a->f == b->f, !isnan(a->f) && !isnan(b->f));
        else if (t->kind == T_STRING || t->kind == T_TYPE)
            result = compare(op, false, csl_same_value(a, b), true);
        else if (t->kind == T_INT && t->bits == 64 && !t->is_signed)
            result = compare(op, (uint64_t)a->i < (uint64_t)b->i, a->i == b->i, true);
        else
            result = compare(op, a->i < b->i, a->i == b->i, true);
        return csl_known(csl_int_value(&csl_bool, result));
    }
    if (csl_is_integer(t))
        return known_int(s, n, op, t, a->i, b->i);
    return known_float(s, n, op, t, a->f, b->f);
}

/* ---- emitted ---- */

static enum csl_cost by_bits(const struct type *t, enum csl_cost first)
{
    unsigned bits = t->kind == T_INT ? t->bits : 16;
    return bits <= 16 ? first : bits == 32 ? first + 1 : first + 2;
}

static enum csl_cost cost_of(const struct type *t, enum op op)
{
    bool is_float = csl_is_float(t);
    switch (op) {
    case OP_MUL:
        return is_float ? COST_FMUL : by_bits(t, COST_MUL16);
    case OP_DIV:
    case OP_REM:
        return is_float ? COST_FDIV : by_bits(t, COST_DIV16);
    case OP_SHL:
    case OP_SHR:
        return by_bits(t, COST_SHIFT16);
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
        return is_float ? COST_FCOMPARE : by_bits(t, COST_COMPARE16);
    default:
        return is_float ? COST_FADD : by_bits(t, COST_ALU16);
    }
}

static struct operand emit_binary(struct sema *s, const struct node *n, enum op op,
                                  const struct operand *a, const struct operand *b,
                                  const struct type *result)
{
    uint16_t x = csl_in_reg(s, n, a), y = csl_in_reg(s, n, b), to = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, op, cost_of(a->v.type, op));
    i->a = to;
    i->b = x;
    i->c = y;
    i->tc = (uint8_t)csl_code(a->v.type);
    return csl_in(result, to);
}

static enum op op_of(enum token_kind op)
{
    switch (op) {
    case TOK_ADD:
        return OP_ADD;
    case TOK_SUB:
        return OP_SUB;
    case TOK_MUL:
        return OP_MUL;
    case TOK_DIV:
        return OP_DIV;
    case TOK_REM:
        return OP_REM;
    case TOK_AND:
        return OP_AND;
    case TOK_OR:
        return OP_OR;
    case TOK_XOR:
        return OP_XOR;
    case TOK_EQ:
        return OP_EQ;
    case TOK_NE:
        return OP_NE;
    case TOK_LT:
    case TOK_GT:
        return OP_LT;
    default:
        return OP_LE;
    }
}

static void check_types(struct sema *s, const struct node *n, enum token_kind op,
                        const struct type *t)
{
    bool equality = op == TOK_EQ || op == TOK_NE;
    bool ok = csl_is_number(t);
    if (equality)
        ok = ok || t->kind == T_BOOL || t->kind == T_STRING || t->kind == T_DIRECTION ||
             csl_is_handle(t);
    if (op == TOK_REM || op == TOK_AND || op == TOK_OR || op == TOK_XOR)
        ok = csl_is_integer(t);
    if (!ok)
        FAIL(s, n, "'%s' is not for %s", op_text(op), TYPE(s, t));
}

static struct operand shift(struct sema *s, const struct node *n, enum token_kind op,
                            struct operand a, struct operand b)
{
    const struct type *t = a.v.type, *by = b.v.type;
    if (!csl_is_integer(t))
        FAIL(s, n, "'%s' is not for %s", op_text(op), TYPE(s, t));
    if (!csl_is_integer(by) || (by->kind == T_INT && by->is_signed) || (b.known && b.v.i < 0))
        FAIL(s, n, "the right operand of '%s' must be unsigned, not %s", op_text(op), TYPE(s, by));
    int64_t bits = t->kind == T_INT ? t->bits : 63;
    if (b.known && (uint64_t)b.v.i >= (uint64_t)bits)
        FAIL(s, n, "%s is shifted by %lld", TYPE(s, t), (long long)b.v.i);
    if (a.known && b.known) {
        int64_t r = op == TOK_SHL                       ? (int64_t)((uint64_t)a.v.i << b.v.i)
                    : t->kind == T_INT && !t->is_signed ? (int64_t)((uint64_t)a.v.i >> b.v.i)
                                                        : a.v.i >> b.v.i;
        if (op == TOK_SHL && t->kind == T_COMPTIME_INT && r >> b.v.i != a.v.i)
            FAIL(s, n, "the result of '<<' does not fit in 64 bits");
        return csl_known(csl_int_value(t, csl_wrap(t, r)));
    }
    if (t->kind == T_COMPTIME_INT)
        FAIL(s, n, "what is shifted must have a type: use @as");
    if (by->kind == T_COMPTIME_INT)
        b.v.type = &csl_u16;
    return emit_binary(s, n, op == TOK_SHL ? OP_SHL : OP_SHR, &a, &b, t);
}

struct operand csl_binary(struct sema *s, const struct node *n, enum token_kind op,
                          struct operand a, struct operand b)
{
    if (op == TOK_SHL || op == TOK_SHR)
        return shift(s, n, op, a, b);
    const struct type *ta = a.v.type, *tb = b.v.type;
    if (ta != tb && (ta->kind == T_COMPTIME_INT ||
                     (ta->kind == T_COMPTIME_FLOAT && tb->kind != T_COMPTIME_INT)))
        a = csl_coerce(s, n, a, tb);
    else if (ta != tb && (tb->kind == T_COMPTIME_INT || tb->kind == T_COMPTIME_FLOAT))
        b = csl_coerce(s, n, b, ta);
    if (a.v.type != b.v.type)
        FAIL(s, n, "operands of '%s' are of different types: %s and %s", op_text(op), TYPE(s, ta),
             TYPE(s, tb));
    check_types(s, n, op, a.v.type);
    if (a.known && b.known)
        return known_binary(s, n, op, &a.v, &b.v);
    const struct type *result = is_comparison(op) ? &csl_bool : a.v.type;
    if ((op == TOK_DIV || op == TOK_REM) && b.known && csl_is_integer(b.v.type) && b.v.i == 0)
        FAIL(s, n, "division by zero");
    if (op == TOK_GT || op == TOK_GE)
        return emit_binary(s, n, op_of(op), &b, &a, result);
    return emit_binary(s, n, op_of(op), &a, &b, result);
}

static struct operand emit_unary(struct sema *s, const struct node *n, enum op op,
                                 const struct operand *a)
{
    uint16_t from = csl_in_reg(s, n, a), to = csl_new_reg(s, n);
    struct insn *i = csl_emit(s, n, op, cost_of(a->v.type, op));
    i->a = to;
    i->b = from;
    i->tc = (uint8_t)csl_code(a->v.type);
    return csl_in(a->v.type, to);
}

struct operand csl_unary(struct sema *s, const struct node *n, const struct type *want)
{
    struct operand a = csl_expr(s, n->kid[0], want);
    const struct type *t = a.v.type;
    if (n->op == TOK_NOT) {
        if (t != &csl_bool)
            FAIL(s, n, "'!' is for bool, not %s", TYPE(s, t));
        a.v.i = !a.v.i;
        return a.known ? a : emit_unary(s, n, OP_NOT, &a);
    }
    if (n->op == TOK_INVERT) {
        if (t->kind != T_INT)
            FAIL(s, n, "'~' is for integers of fixed width, not %s", TYPE(s, t));
        a.v.i = csl_wrap(t, ~a.v.i);
        return a.known ? a : emit_unary(s, n, OP_INVERT, &a);
    }
    if (!csl_is_number(t))
        FAIL(s, n, "'-' is for numbers, not %s", TYPE(s, t));
    if (!a.known)
        return emit_unary(s, n, OP_NEG, &a);
    if (csl_is_integer(t))
        return known_int(s, n, TOK_SUB, t, 0, a.v.i);
    a.v.f = -a.v.f;
    return a;
}

/* ---- @as ---- */

static struct operand known_convert(struct sema *s, const struct node *n, const struct value *v,
                                    const struct type *to)
{
    bool from_float = csl_is_float(v->type);
    struct value r = {.type = to};
    if (to->kind == T_BOOL)
        r.i = from_float ? v->f != 0 || isnan(v->f) : v->i != 0;
    else if (csl_is_float(to))
        r.f = from_float ? v->f
              : v->type->kind == T_INT && v->type->bits == 64 && !v->type->is_signed
                  ? (double)(float)(uint64_t)v->i
              : to->kind == T_F32 ? (double)(float)v->i
                                  : (double)v->i;
    else if (from_float) {
        if (!(v->f > -9.2e18 && v->f < 9.2e18) || !csl_fits(to, (int64_t)v->f))
            FAIL(s, n, "%g does not fit in %s", v->f, TYPE(s, to));
        r.i = (int64_t)v->f;
    } else if (v->type->kind == T_COMPTIME_INT && !csl_fits(to, v->i)) {
        FAIL(s, n, "%lld does not fit in %s", (long long)v->i, TYPE(s, to));
    } else {
        r.i = csl_wrap(to, v->i);
    }
    if (to->kind == T_F32)
        r.f = (float)r.f;
    if (to->kind == T_F16)
        r.f = csl_float_of(csl_half_of(r.f));
    return csl_known(r);
}

struct operand csl_convert(struct sema *s, const struct node *n, struct operand o,
                           const struct type *to)
{
    const struct type *from = o.v.type;
    if (!(csl_is_number(from) || from->kind == T_BOOL) ||
        !(csl_is_number(to) || to->kind == T_BOOL))
        FAIL(s, n, "@as is for numbers and bool, not from %s to %s", TYPE(s, from), TYPE(s, to));
    if (from == to)
        return o;
    if (o.known)
        return known_convert(s, n, &o.v, to);
    if (!csl_is_scalar(to))
        FAIL(s, n, "a value of the run time cannot become %s", TYPE(s, to));
    uint16_t x = csl_in_reg(s, n, &o), result = csl_new_reg(s, n);
    enum csl_cost cost = csl_is_float(from) == csl_is_float(to) ? COST_CONVERT
                         : csl_is_float(from)                   ? COST_FTOI
                                                                : COST_ITOF;
    struct insn *i = csl_emit(s, n, OP_CONVERT, cost);
    i->a = result;
    i->b = x;
    i->imm = (int32_t)csl_code(from);
    i->tc = (uint8_t)csl_code(to);
    i->x = to->kind == T_BOOL;
    return csl_in(to, result);
}

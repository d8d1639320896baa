/* alu.c - arithmetic of the run time: two operands in registers to one. */
#include <math.h>
#include <string.h>

#include "sim.h"

static float to_float(int64_t bits)
{
    uint32_t u = (uint32_t)bits;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static int64_t from_float(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static int64_t float_op(unsigned op, float a, float b)
{
    switch (op) {
    case OP_ADD:
        return from_float(a + b);
    case OP_SUB:
        return from_float(a - b);
    case OP_MUL:
        return from_float(a * b);
    case OP_DIV:
        return from_float(a / b);
    case OP_EQ:
        return a == b;
    case OP_NE:
        return a != b;
    case OP_LT:
        return a < b;
    default:
        return a <= b;
    }
}

static int64_t divide(struct pe *pe, const struct insn *i, int64_t a, int64_t b)
{
    if (b == 0)
        csl_trap(pe, csl_main_pos(pe), "division by zero");
    if (i->tc == TC_U64)
        return i->op == OP_DIV ? (int64_t)((uint64_t)a / (uint64_t)b)
                               : (int64_t)((uint64_t)a % (uint64_t)b);
    if (b == -1)
        return i->op == OP_DIV ? (int64_t)(0 - (uint64_t)a) : 0;
    return i->op == OP_DIV ? a / b : a % b;
}

static int64_t shift(struct pe *pe, const struct insn *i, int64_t a, int64_t by)
{
    unsigned bits = 8u * csl_code_bytes[i->tc];
    if ((uint64_t)by >= bits)
        csl_trap(pe, csl_main_pos(pe), "a value of %u bits is shifted by %llu", bits,
                 (unsigned long long)by);
    if (i->op == OP_SHL)
        return (int64_t)((uint64_t)a << by);
    return i->tc >= TC_U8 ? (int64_t)((uint64_t)a >> by) : a >> by;
}

/* Arithmetic of two operands, wrapped to its type. */
int64_t csl_alu(struct pe *pe, const struct insn *i, int64_t a, int64_t b)
{
    if (i->tc == TC_F32)
        return float_op(i->op, to_float(a), to_float(b));
    int64_t r;
    switch (i->op) {
    case OP_ADD:
        r = (int64_t)((uint64_t)a + (uint64_t)b);
        break;
    case OP_SUB:
        r = (int64_t)((uint64_t)a - (uint64_t)b);
        break;
    case OP_MUL:
        r = (int64_t)((uint64_t)a * (uint64_t)b);
        break;
    case OP_DIV:
    case OP_REM:
        r = divide(pe, i, a, b);
        break;
    case OP_AND:
        r = a & b;
        break;
    case OP_OR:
        r = a | b;
        break;
    case OP_XOR:
        r = a ^ b;
        break;
    case OP_SHL:
    case OP_SHR:
        r = shift(pe, i, a, b);
        break;
    case OP_EQ:
        return a == b;
    case OP_NE:
        return a != b;
    case OP_LT:
        return i->tc == TC_U64 ? (uint64_t)a < (uint64_t)b : a < b;
    default:
        return i->tc == TC_U64 ? (uint64_t)a <= (uint64_t)b : a <= b;
    }
    return csl_wrap_code(i->tc, r);
}

int64_t csl_alu_convert(struct pe *pe, const struct insn *i, int64_t v)
{
    bool from_f32 = i->imm == TC_F32;
    if (i->x) /* to bool */
        return from_f32 ? to_float(v) != 0 || isnan(to_float(v)) : v != 0;
    if (i->tc == TC_F32) {
        if (from_f32)
            return v;
        return from_float(i->imm == TC_U64 ? (float)(uint64_t)v : (float)v);
    }
    if (!from_f32)
        return csl_wrap_code(i->tc, v);
    double f = trunc((double)to_float(v));
    if (!(f >= -9223372036854775808.0 && f < 9223372036854775808.0) ||
        csl_wrap_code(i->tc, (int64_t)f) != (int64_t)f || (i->tc == TC_U64 && f < 0))
        csl_trap(pe, csl_main_pos(pe), "%g does not fit into the integer it becomes",
                 (double)to_float(v));
    return (int64_t)f;
}

static int64_t float_math(int32_t which, float a, float b)
{
    switch (which) {
    case MATH_SQRT:
        return from_float(sqrtf(a));
    case MATH_FLOOR:
        return from_float(floorf(a));
    case MATH_CEIL:
        return from_float(ceilf(a));
    case MATH_ABS:
        return from_float(fabsf(a));
    case MATH_MIN:
        return from_float(b < a ? b : a);
    case MATH_MAX:
        return from_float(b > a ? b : a);
    case MATH_INV:
        return from_float(1.0f / a);
    default:
        return from_float(a > 0 ? 1.0f : a < 0 ? -1.0f : 0.0f);
    }
}

int64_t csl_alu_math(const struct insn *i, int64_t a, int64_t b)
{
    if (i->tc == TC_F32)
        return float_math(i->imm, to_float(a), to_float(b));
    bool less = i->tc == TC_U64 ? (uint64_t)a < (uint64_t)b : a < b;
    switch (i->imm) {
    case MATH_ABS:
        return a < 0 && i->tc != TC_U64 ? csl_wrap_code(i->tc, (int64_t)(0 - (uint64_t)a)) : a;
    case MATH_MIN:
        return less ? a : b;
    case MATH_MAX:
        return less ? b : a;
    default:
        return i->tc == TC_U64 ? a != 0 : (a > 0) - (a < 0);
    }
}

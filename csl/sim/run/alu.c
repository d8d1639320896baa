/* alu.c - arithmetic of the run time: two operands in registers to one. */
#include <math.h>
#include <string.h>

#include "sim.h"

static float to_float(unsigned tc, int64_t bits)
{
    uint32_t u = (uint32_t)bits;
    float f;
    if (tc == TC_F16)
        return csl_float_of((uint16_t)bits);
    memcpy(&f, &u, sizeof f);
    return f;
}

static int64_t from_float(unsigned tc, float f)
{
    uint32_t u;
    if (tc == TC_F16)
        return csl_half_of((double)f);
    memcpy(&u, &f, sizeof u);
    return u;
}

/* Operations on f16 are those on f32, rounded once more: 24 bits suffice to give the same result.
 */
static int64_t float_op(const struct insn *i, float a, float b)
{
    switch (i->op) {
    case OP_ADD:
        return from_float(i->tc, a + b);
    case OP_SUB:
        return from_float(i->tc, a - b);
    case OP_MUL:
        return from_float(i->tc, a * b);
    case OP_DIV:
        return from_float(i->tc, a / b);
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
    if (i->tc >= TC_F16)
        return float_op(i, to_float(i->tc, a), to_float(i->tc, b));
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
    unsigned from = (unsigned)i->imm;
    bool from_float_type = from >= TC_F16;
    float value = from_float_type ? to_float(from, v) : 0;
    if (i->x) /* to bool */
        return from_float_type ? value != 0 || isnan(value) : v != 0;
    if (i->tc >= TC_F16) {
        if (from_float_type)
            return from == i->tc ? v : from_float(i->tc, value);
        return from_float(i->tc, from == TC_U64 ? (float)(uint64_t)v : (float)v);
    }
    if (!from_float_type)
        return csl_wrap_code(i->tc, v);
    double f = trunc((double)value);
    if (!(f >= -9223372036854775808.0 && f < 9223372036854775808.0) ||
        csl_wrap_code(i->tc, (int64_t)f) != (int64_t)f || (i->tc == TC_U64 && f < 0))
        csl_trap(pe, csl_main_pos(pe), "%g does not fit into the integer it becomes",
                 (double)value);
    return (int64_t)f;
}

static float float_math(int32_t which, float a, float b)
{
    switch (which) {
    case MATH_SQRT:
        return sqrtf(a);
    case MATH_FLOOR:
        return floorf(a);
    case MATH_CEIL:
        return ceilf(a);
    case MATH_ABS:
        return fabsf(a);
    case MATH_MIN:
        return b < a ? b : a;
    case MATH_MAX:
        return b > a ? b : a;
    case MATH_INV:
        return 1.0f / a;
    default:
        return a > 0 ? 1.0f : a < 0 ? -1.0f : 0.0f;
    }
}

int64_t csl_alu_between(const struct insn *i, int64_t lower, int64_t upper, uint16_t bits)
{
    float from = to_float(i->tc, lower), to = to_float(i->tc, upper);
    int64_t r = from_float(i->tc, from + (to - from) * ((float)bits / 65536.0f));
    return to_float(i->tc, r) < to ? r : lower; /* it was rounded up to the end */
}

int64_t csl_alu_math(const struct insn *i, int64_t a, int64_t b)
{
    if (i->tc >= TC_F16)
        return from_float(i->tc, float_math(i->imm, to_float(i->tc, a), to_float(i->tc, b)));
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

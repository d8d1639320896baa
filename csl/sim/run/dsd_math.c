/* dsd_math.c - DSD operations: their names and sizes, and what they compute for an element. */
#include <math.h>
#include <string.h>

#include "sim.h"

static const struct {
    const char *name;
    uint8_t bits, width[2]; /* elements a cycle on WSE-2 and WSE-3 */
} ops[] = {
#define X(name, bits, sources, wse2, wse3) {#name, bits, {wse2, wse3}},
    CSL_DSD_OPS(X)
#undef X
};

const char *csl_dsd_name(enum csl_dsd_op op)
{
    return ops[op].name;
}

unsigned csl_dsd_bytes(enum csl_dsd_op op)
{
    return ops[op].bits / 8u;
}

unsigned csl_dsd_width(enum csl_dsd_op op, enum csl_arch arch)
{
    return ops[op].width[arch == CSL_WSE3];
}

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static uint32_t compute_float(enum csl_dsd_op op, const uint32_t *v)
{
    float a = float_of(v[0]), b = float_of(v[1]), c = float_of(v[2]);
    switch (op) {
    case DSD_fadds:
        return bits_of(a + b);
    case DSD_fsubs:
        return bits_of(a - b);
    case DSD_fmuls:
        return bits_of(a * b);
    case DSD_fmacs:
        return bits_of(a + b * c);
    case DSD_fmaxs:
        return bits_of(isnan(a) || b > a ? b : a);
    case DSD_fabss:
        return v[0] & 0x7fffffff;
    case DSD_fnegs:
        return v[0] ^ 0x80000000;
    default: /* moves */
        return v[0];
    }
}

static uint32_t compute_half(enum csl_dsd_op op, const uint32_t *v)
{
    float a = csl_float_of((uint16_t)v[0]), b = csl_float_of((uint16_t)v[1]);
    switch (op) {
    case DSD_faddh:
        return csl_half_of((double)(a + b));
    case DSD_fsubh:
        return csl_half_of((double)(a - b));
    case DSD_fmulh:
        return csl_half_of((double)(a * b));
    case DSD_fmach:
        b = csl_float_of(csl_half_of((double)(b * csl_float_of((uint16_t)v[2]))));
        return csl_half_of((double)(a + b));
    case DSD_fmaxh:
        return isnan(a) || b > a ? v[1] : v[0];
    case DSD_fabsh:
        return v[0] & 0x7fff;
    case DSD_fnegh:
        return v[0] ^ 0x8000;
    default: /* moves */
        return v[0];
    }
}

static uint32_t shifted(enum csl_dsd_op op, uint32_t a, uint32_t by)
{
    if (by > 15) /* a shift by the width or more */
        return op == DSD_sar16 && (a & 0x8000) ? 0xffff : 0;
    if (op == DSD_sll16)
        return a << by;
    return op == DSD_slr16 ? a >> by : (uint32_t)((int16_t)a >> by);
}

uint32_t csl_dsd_compute(enum csl_dsd_op op, const uint32_t *v, uint32_t *carry)
{
    uint32_t a = v[0] & 0xffff, b = v[1] & 0xffff;
    switch (op) {
    case DSD_add16:
        return a + b;
    case DSD_addc16:
        a += b + *carry;
        *carry = a >> 16;
        return a;
    case DSD_sub16:
        return a - b;
    case DSD_and16:
        return a & b;
    case DSD_or16:
        return a | b;
    case DSD_xor16:
        return a ^ b;
    case DSD_sll16:
    case DSD_slr16:
    case DSD_sar16:
        return shifted(op, a, b);
    case DSD_clz:
        return a == 0 ? 16 : (uint32_t)__builtin_clz(a) - 16;
    case DSD_ctz:
        return a == 0 ? 16 : (uint32_t)__builtin_ctz(a);
    case DSD_popcnt:
        return (uint32_t)__builtin_popcount(a);
    case DSD_mov16:
        return a;
    default:
        return op >= DSD_faddh ? compute_half(op, v) : compute_float(op, v);
    }
}

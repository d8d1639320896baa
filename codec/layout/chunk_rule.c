/* chunk_rule.c - what a bound allows: steps (format.md 4.4), or bits to drop (4.7). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "layout/chunk.h"

/* Each call makes rules: the library's frexp and ldexp took most of the time for them. */

/* Cut x > 0, which is normal or below all steps, toward zero to `bits` significant bits. */
static double truncate_bits(double x, int bits)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    u &= UINT64_MAX << (DBL_MANT_DIG - bits);
    memcpy(&x, &u, sizeof x);
    return x;
}

/* 2^e, where that is a normal number. */
static double power(int e)
{
    const uint64_t u = (uint64_t)(DBL_MAX_EXP - 1 + e) << (DBL_MANT_DIG - 1);
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Largest f32 or f64 that is not above a and below keep. */
static double limit_below(enum zmpi_type type, double a, double keep)
{
    if (type == ZMPI_F64) {
        if (a > DBL_MAX)
            a = DBL_MAX;
        return a < keep ? a : nextafter(keep, 0);
    }
    float f =
        a > (double)FLT_MAX ? FLT_MAX : (float)a; /* a has at most 10 significant bits: exact */
    if ((double)f < keep)
        return (double)f;
    f = (float)keep;
    return (double)((double)f < keep ? f : nextafterf(f, 0));
}

/* With |x inverse - q| <= 0.76, roundings included, |x| is below (|q| + 1) step. */
static double window_within(const struct zmpi_step *l)
{
    double most = l->limit / l->step - 1;
    return most >= 2 ? truncate_bits(most, 1) : 0;
}

/* The largest distance from 0 of the middle of this many integers. */
static double margin_within(const struct zmpi_step *l)
{
    return l->window > 0 ? 2 * floor((l->limit / l->step - 1 - l->window) / 2) : 0;
}

void zmpi_chunk_rule_make(struct zmpi_chunk_rule *rule, enum zmpi_type type, double abs_bound,
                          double keep)
{
    const bool f32 = type == ZMPI_F32;
    const int precision = f32 ? 24 : 53;
    const int bits[ZMPI_STEP_LEVELS] = {f32 ? 10 : 22, f32 ? 6 : 10, 2};
    const double largest = power(f32 ? 126 : 1020), smallest = power(f32 ? -100 : -900);

    *rule = (struct zmpi_chunk_rule){.is_float = f32 || type == ZMPI_F64, .abs_bound = abs_bound};
    if (!rule->is_float || !(abs_bound > 0))
        return;
    for (int i = 0; i < ZMPI_STEP_LEVELS; i++) {
        double shrink = 1 - power(1 - bits[i]);
        /* The order of factors keeps the product finite for any bound. */
        double s = abs_bound < largest ? truncate_bits(2 * shrink * abs_bound, bits[i]) : largest;
        if (s > largest)
            s = largest;
        if (s < smallest)
            return;
        struct zmpi_step *l = &rule->level[rule->levels++];
        l->step = s;
        l->bits = bits[i];
        l->inverse = f32 ? (double)(1.0F / (float)s) : 1.0 / s;
        l->limit = limit_below(type, s * power(precision - bits[i] - 1), keep);
        l->window = window_within(l);
        l->margin = margin_within(l);
    }
}

bool zmpi_chunk_rule_unit(struct zmpi_chunk_rule *rule, enum zmpi_type type, double abs_bound,
                          double unit, double keep)
{
    struct zmpi_step *l = rule->level;
    *rule = (struct zmpi_chunk_rule){.is_float = true, .abs_bound = abs_bound, .levels = 1};
    *l = (struct zmpi_step){.step = unit, .inverse = 1 / unit, .bits = 1};
    l->limit = limit_below(type, unit * power(type == ZMPI_F32 ? 21 : 50), keep);
    l->window = window_within(l);
    l->margin = margin_within(l);
    return l->limit > 0;
}

unsigned zmpi_shift_of(enum zmpi_type type, double r)
{
    /* The largest k with 2^(k-1) <= r 2^(p-1). */
    int exponent, k;
    frexp(r, &exponent);
    k = exponent + (type == ZMPI_F32 ? 24 : 53) - 1;
    return k > 0 ? (unsigned)k : 0;
}

/* The bits of the smallest number of the type that is not below x >= 0. */
static uint64_t bits_above(enum zmpi_type type, double x)
{
    uint64_t wide;
    uint32_t narrow;
    float f = x > (double)FLT_MAX ? INFINITY : (float)x;
    if ((double)f < x)
        f = nextafterf(f, INFINITY);
    memcpy(&wide, &x, sizeof wide);
    memcpy(&narrow, &f, sizeof narrow);
    return type == ZMPI_F32 ? narrow : wide;
}

void zmpi_chunk_rule_relative(struct zmpi_chunk_rule *rule, enum zmpi_type type, double r,
                              double keep)
{
    *rule = (struct zmpi_chunk_rule){.is_float = true, .shift = zmpi_shift_of(type, r)};
    if (!rule->shift)
        return;
    /* A value that would round up to infinity is an exception. */
    uint64_t finite = bits_above(type, (double)INFINITY) - ((uint64_t)1 << (rule->shift - 1));
    uint64_t kept = bits_above(type, keep), normal = type == ZMPI_F32 ? 1U << 23 : 1ULL << 52;
    rule->magnitudes = kept < finite ? kept : finite;
    if (rule->magnitudes < normal)
        rule->magnitudes = normal;
}

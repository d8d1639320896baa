/* chunk_rule.c - the steps that an absolute bound allows (format.md 4.4). */
#include <float.h>
#include <math.h>

#include "chunk.h"

/* Cut x > 0 toward zero to `bits` significant bits. */
static double truncate_bits(double x, int bits)
{
    int exponent;
    double m = frexp(x, &exponent); /* 0.5 <= m < 1 */
    return ldexp(floor(ldexp(m, bits)), exponent - bits);
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

void zmpi_chunk_rule_make(struct zmpi_chunk_rule *rule, enum zmpi_type type, double abs_bound,
                          double keep)
{
    const bool f32 = type == ZMPI_F32;
    const int precision = f32 ? 24 : 53;
    const int bits[ZMPI_STEP_LEVELS] = {f32 ? 10 : 22, f32 ? 6 : 10, 2};
    const double largest = ldexp(1, f32 ? 126 : 1020), smallest = ldexp(1, f32 ? -100 : -900);

    *rule = (struct zmpi_chunk_rule){.is_float = f32 || type == ZMPI_F64, .abs_bound = abs_bound};
    if (!rule->is_float || !(abs_bound > 0))
        return;
    for (int i = 0; i < ZMPI_STEP_LEVELS; i++) {
        double shrink = 1 - ldexp(1, 1 - bits[i]);
        /* The order of factors keeps the product finite for any bound. */
        double s = abs_bound < largest ? truncate_bits(2 * shrink * abs_bound, bits[i]) : largest;
        if (s > largest)
            s = largest;
        if (s < smallest)
            return;
        struct zmpi_step *l = &rule->level[rule->levels++];
        l->step = s;
        l->inverse = f32 ? (double)(1.0F / (float)s) : 1.0 / s;
        l->limit = limit_below(type, ldexp(s, precision - bits[i] - 1), keep);
    }
}

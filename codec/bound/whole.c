/* whole.c - whole numbers in floats: which unit they have, and whether all of a tile are such. */
#include "bound/whole.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 64 };

/* The value of the lowest bit that is set in x, which is finite and not 0. */
static double lowest_bit(double x)
{
    enum { MANTISSA = DBL_MANT_DIG - 1, EXPONENTS = 2047, LEAST = DBL_MIN_EXP - DBL_MANT_DIG };
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int exponent = (int)(bits >> MANTISSA & EXPONENTS);
    bits &= ((uint64_t)1 << MANTISSA) - 1;
    bits |= (uint64_t)(exponent > 0) << MANTISSA;
    return ldexp(1, LEAST + (exponent > 0 ? exponent - 1 : 0) + __builtin_ctzll(bits));
}

/* Ordinary floats end after the first few. */
static double unit_of(const struct zmpi_job *job, const struct zmpi_sample *s)
{
    const size_t all = s->rows * s->row, n = all < SAMPLES ? all : SAMPLES;
    const size_t step = s->rows > 1 ? 0 : zmpi_sample_step(s->row, n);
    double unit = 0;
    for (size_t i = 0, others = 0; i < n; i++) {
        /* not the first of each row, which all have an even place */
        const double x = s->rows > 1 ? zmpi_sample_get(s, i % s->rows, (i + i / s->rows) % s->row)
                                     : zmpi_sample_get(s, 0, i * step);
        if (!(fabs(x) < job->keep) || !(fabs(x) > 0) || !isfinite(x))
            continue;
        const double bit = lowest_bit(x);
        if (bit >= job->abs_bound)
            unit = unit > 0 && unit < bit ? unit : bit;
        else if (++others > n / 16)
            return 0;
    }
    return unit;
}

double zmpi_whole_unit(const struct zmpi_job *job, const struct zmpi_sample *s)
{
    if (job->bound.mode == ZMPI_RATIO || !(job->abs_bound > 0) || !isfinite(job->abs_bound) ||
        s->rows == 0)
        return 0;
    return unit_of(job, s);
}

/* Of so many samples 16 are small enough to have a fraction, if they were ordinary floats. */
enum { MANY_SAMPLES = 1024, TELLING = 16 };

static bool all_are_whole(const struct zmpi_sample *s, double *unit, double *most)
{
    const double fractions = s->type == ZMPI_F32 ? 0x1p22 : 0x1p51;
    size_t telling = 0;
    *unit = INFINITY;
    *most = 0;
    for (size_t i = 0; i < s->rows; i++) {
        const double x = zmpi_sample_get(s, i, 0), magnitude = fabs(x);
        if (!isfinite(x) || rint(x) < x || rint(x) > x)
            return false;
        telling += magnitude > 0 && magnitude < fractions;
        *unit = magnitude > 0 ? fmin(*unit, lowest_bit(x)) : *unit;
        *most = fmax(*most, magnitude);
    }
    return telling >= TELLING;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool never_repeat(const struct zmpi_sample *s)
{
    double x[MANY_SAMPLES];
    for (size_t i = 0; i < s->rows; i++)
        x[i] = zmpi_sample_get(s, i, 0);
    qsort(x, s->rows, sizeof *x, by_size);
    for (size_t i = 1; i < s->rows; i++)
        if (!(x[i - 1] < x[i]))
            return false;
    return true;
}

bool zmpi_whole_identifiers(const struct zmpi_stream_info *info, const void *src)
{
    const enum zmpi_type type = info->array.type;
    unsigned char copy[MANY_SAMPLES * sizeof(double)];
    double unit, most;
    size_t count;
    if ((type != ZMPI_F32 && type != ZMPI_F64) || !(info->abs_bound > 0) ||
        zmpi_array_count(&info->array, &count))
        return false;
    const bool relative = info->bound.mode == ZMPI_PW_REL;
    for (size_t n = SAMPLES; n <= MANY_SAMPLES; n *= MANY_SAMPLES / SAMPLES) {
        const size_t rows = count < n ? count : n;
        struct zmpi_sample s = {type, src, rows, 1, zmpi_sample_step(count, rows)};
        if (!zmpi_sample_fetch(&s, copy) || !all_are_whole(&s, &unit, &most) ||
            !((relative ? info->bound.value * most : info->abs_bound) > unit) ||
            (n == MANY_SAMPLES && !never_repeat(&s)))
            return false;
    }
    return true;
}

bool zmpi_whole_rule(const struct zmpi_job *job, struct zmpi_chunk_rule *rule)
{
    const bool f32 = job->array.type == ZMPI_F32;
    /* Smaller numbers than the bound may vanish in x / unit. */
    return job->unit <= job->abs_bound * 0x1p60 && job->unit >= (f32 ? 0x1p-90 : 0x1p-890) &&
           job->unit <= (f32 ? 0x1p90 : 0x1p890) &&
           zmpi_chunk_rule_unit(rule, job->array.type, job->abs_bound, job->unit, job->keep);
}

/* Adding and subtracting `magic` rounds what is below 2^21 or 2^50. NaN is within no limit. */
#define ROW_IS_WHOLE(T, name, magic)                                                               \
    static bool name(const unsigned char *at, size_t n, T inverse, T limit)                        \
    {                                                                                              \
        int others = 0;                                                                            \
        for (size_t i = 0; i < n; i++) {                                                           \
            T x, y, q;                                                                             \
            memcpy(&x, at + i * sizeof x, sizeof x);                                               \
            y = x * inverse;                                                                       \
            q = (y + (magic)) - (magic);                                                           \
            others |= ((q > y) | (q < y)) & (x <= limit) & (x >= -limit);                          \
        }                                                                                          \
        return !others;                                                                            \
    }
ROW_IS_WHOLE(float, row_is_whole32, 0x1.8p23F)
ROW_IS_WHOLE(double, row_is_whole64, 0x1.8p52)

bool zmpi_whole_tile(const struct zmpi_chunk_rule *rule, enum zmpi_type type,
                     const size_t extent[3], const struct zmpi_rows *rows)
{
    const struct zmpi_step *l = rule->level;
    for (size_t z = 0; z < extent[0]; z++)
        for (size_t y = 0; y < extent[1]; y++) {
            const unsigned char *at = rows->at + z * rows->plane + y * rows->row;
            const bool whole =
                type == ZMPI_F32 ? row_is_whole32(at, extent[2], (float)l->inverse, (float)l->limit)
                                 : row_is_whole64(at, extent[2], l->inverse, l->limit);
            if (!whole)
                return false;
        }
    return true;
}

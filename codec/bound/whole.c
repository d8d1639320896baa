/* whole.c - whole numbers in floats: which unit they have, and whether all of a tile are such. */
#include "bound/whole.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SAMPLES = 64 };

static double element(enum zmpi_type type, const unsigned char *at)
{
    double x;
    float f;
    if (type == ZMPI_F64) {
        memcpy(&x, at, sizeof x);
        return x;
    }
    memcpy(&f, at, sizeof f);
    return (double)f;
}

/* The value of the lowest bit that is set in x, which is finite and not 0. */
static double lowest_bit(double x)
{
    int exponent;
    const uint64_t n = (uint64_t)ldexp(frexp(fabs(x), &exponent), DBL_MANT_DIG);
    return ldexp(1, exponent - DBL_MANT_DIG + __builtin_ctzll(n));
}

/* Samples that lie `step` elements apart. Ordinary floats end after the first few. */
static double unit_of(const struct zmpi_job *job, const unsigned char *src, size_t step, size_t n)
{
    const size_t width = zmpi_type_size(job->array.type);
    double unit = 0;
    for (size_t i = 0, others = 0; i < n; i++) {
        const double x = element(job->array.type, src + i * step * width);
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

double zmpi_whole_unit(const struct zmpi_job *job, const void *src)
{
    const enum zmpi_type type = job->array.type;
    const struct zmpi_device *holder = zmpi_device_holding(src);
    const size_t width = zmpi_type_size(type);
    unsigned char bytes[SAMPLES * sizeof(double)];
    size_t count;
    if ((type != ZMPI_F32 && type != ZMPI_F64) || !(job->abs_bound > 0) ||
        !isfinite(job->abs_bound) || zmpi_array_count(&job->array, &count) || count == 0)
        return 0;
    const size_t n = count < SAMPLES ? count : SAMPLES;
    size_t step = count / n;
    while (step > 10 && (step % 2 == 0 || step % 3 == 0 || step % 5 == 0 || step % 7 == 0))
        step--; /* not the same column of a table each time */
    if (!holder)
        return unit_of(job, src, step, n);
    const struct zmpi_box box = {.bytes = width,
                                 .rows = n,
                                 .planes = 1,
                                 .dst_row = width,
                                 .dst_plane = n * width,
                                 .src_row = step * width,
                                 .src_plane = n * step * width};
    return holder->copy(bytes, src, &box) ? 0 : unit_of(job, bytes, 1, n);
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
            others |= (q > y) | (q < y) ? (x <= limit) & (x >= -limit) : 0;                        \
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

/* fill.c - which values are fill values. Samples find candidates; the range without them
 * decides. */
#include "bound/fill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first samples are single elements, which mostly show that there are no fill values. Then come
 * rows of elements, one element in 32 of the array. They tell how many elements are extreme and, if
 * these are enough, what the others are. A fill value is at least one of 1000 elements, and 16 of
 * the samples. */
enum { FEW = 64, ROWS = 64, ROW_LEAST = 32, ROW_MOST = 256, ONE_IN = 32, LEAST = 16, SHARE = 1000 };

/* Samples that equal the end, and the range of those nearer to 0. */
struct summary {
    size_t count, ends; /* samples; samples that equal the end */
    double min, max;    /* of the samples nearer to 0 */
};

/* Ignores values of a larger magnitude than `end`. */
static struct summary summarize(const struct zmpi_sample *s, double end)
{
    struct summary r = {0, 0, (double)INFINITY, -(double)INFINITY};
    for (size_t k = 0; k < s->rows; k++)
        for (size_t i = 0; i < s->row; i++) {
            const double x = zmpi_sample_get(s, k, i);
            r.count++;
            r.ends += x == end; // NOLINT: exact on purpose
            if (fabs(x) < fabs(end)) {
                r.min = x < r.min ? x : r.min; /* much faster than fmin */
                r.max = x > r.max ? x : r.max;
            }
        }
    return r;
}

/* Is `end` apart from the other values? If these are all equal, both may be states (0 and 1),
 * unless one is much larger. */
static bool is_apart(double end, double min, double max)
{
    const double distance = end > 0 ? end - max : min - end;
    if (min < max)
        return distance > max - min;
    return fabs(min) > 0 && fabs(end) > 16 * fabs(min);
}

static double larger(double min, double max)
{
    return fabs(max) >= fabs(min) ? max : min;
}

static bool repeats(const struct summary *s)
{
    return s->ends >= LEAST && s->ends >= s->count / SHARE;
}

/* Counts a row's elements with these bits, in loops that compilers turn into vectors. */
#define COUNT_BITS(T, name)                                                                        \
    static size_t name(const unsigned char *at, size_t n, T bits)                                  \
    {                                                                                              \
        T found = 0;                                                                               \
        for (size_t i = 0; i < n; i++) {                                                           \
            T u;                                                                                   \
            memcpy(&u, at + i * sizeof u, sizeof u);                                               \
            found += u == bits;                                                                    \
        }                                                                                          \
        return found;                                                                              \
    }
COUNT_BITS(uint32_t, count_bits32)
COUNT_BITS(uint64_t, count_bits64)

/* Counts the elements that are `bits`. half: compares halves of f64, which is faster and may count
 * too many. */
static size_t count_ends(const struct zmpi_sample *s, uint64_t bits, bool half)
{
    size_t ends = 0;
    for (size_t k = 0; k < s->rows; k++) {
        const unsigned char *at = s->at + k * s->stride * zmpi_type_size(s->type);
        if (s->type == ZMPI_F32)
            ends += count_bits32(at, s->row, (uint32_t)bits);
        else
            ends += half ? count_bits32(at, 2 * s->row, (uint32_t)(bits >> 32))
                         : count_bits64(at, s->row, bits);
    }
    return ends;
}

static bool end_repeats(const struct zmpi_sample *s, double end)
{
    struct summary seen = {.count = s->rows * s->row};
    const float narrow = (float)end;
    uint32_t bits32;
    uint64_t bits;
    memcpy(&bits32, &narrow, sizeof bits32);
    memcpy(&bits, &end, sizeof bits);
    bits = s->type == ZMPI_F32 ? bits32 : bits;
    seen.ends = count_ends(s, bits, true);
    if (s->type == ZMPI_F64 && repeats(&seen))
        seen.ends = count_ends(s, bits, false);
    return repeats(&seen);
}

static struct zmpi_fill find(const struct zmpi_sample *s, double end)
{
    struct zmpi_fill fill = {0, 0};
    if (!end_repeats(s, end))
        return fill;
    const struct summary all = summarize(s, end);
    if (!(all.min <= all.max))
        return fill;
    /* First the larger other value: of two fill values the smaller one may be far from the larger
     * one. */
    const double next = larger(all.min, all.max);
    const struct summary rest = summarize(s, next);
    if (repeats(&rest) && rest.min <= rest.max && is_apart(next, rest.min, rest.max))
        fill.least = fabs(next);
    if (fill.least > 0 || is_apart(end, all.min, all.max))
        fill.most = fabs(end);
    return fill;
}

/* A few elements already show where all values of ordinary data lie. */
static bool may_stand_apart(enum zmpi_type type, const void *src, size_t count, double end)
{
    const size_t n = count < FEW ? count : FEW;
    struct zmpi_sample s = {type, src, n, 1, zmpi_sample_step(count, n)};
    double x[FEW];
    size_t alike = 0;
    if (!zmpi_sample_fetch(&s, x))
        return false;
    for (size_t i = 0; i < n; i++)
        x[i] = zmpi_sample_get(&s, i, 0);
    s = (struct zmpi_sample){ZMPI_F64, (const unsigned char *)x, 1, n, n};
    const struct summary few = summarize(&s, end);
    if (!(few.min <= few.max) || is_apart(end, few.min, few.max))
        return true;
    /* With two fill values, the smaller one hides the larger one's distance from the data. */
    const double next = larger(few.min, few.max);
    for (size_t i = 0; i < n; i++)
        alike += x[i] == next; // NOLINT: exact on purpose
    if (alike < 2)
        return false;
    const struct summary rest = summarize(&s, next);
    return is_apart(next, rest.min, rest.max);
}

struct zmpi_fill zmpi_fill_look_at(const struct zmpi_sample *s, const struct zmpi_range *range)
{
    const bool varies = s->rows * s->row >= LEAST && range->min < range->max;
    return varies ? find(s, larger(range->min, range->max)) : (struct zmpi_fill){0, 0};
}

struct zmpi_fill zmpi_fill_look(enum zmpi_type type, const void *src, size_t count,
                                const struct zmpi_range *range)
{
    const struct zmpi_fill none = {0, 0};
    const double end = larger(range->min, range->max);
    if ((type != ZMPI_F32 && type != ZMPI_F64) || count < LEAST || !(range->min < range->max) ||
        !may_stand_apart(type, src, count, end))
        return none;
    const size_t part = count / ROWS / ONE_IN;
    const size_t row = part < ROW_LEAST ? ROW_LEAST : part > ROW_MOST ? ROW_MOST : part;
    struct zmpi_sample s = zmpi_sample_rows(type, src, count, ROWS, row);
    void *copy = zmpi_device_holding(src) ? malloc(s.rows * s.row * sizeof(double)) : NULL;
    const bool at_hand = (copy || !zmpi_device_holding(src)) && zmpi_sample_fetch(&s, copy);
    const struct zmpi_fill fill = at_hand ? zmpi_fill_look_at(&s, range) : none;
    free(copy);
    return fill;
}

/* Describes the samples that are not `end`. */
static struct summary summarize_others(const struct zmpi_sample *s, double end)
{
    struct summary r = {0, 0, (double)INFINITY, -(double)INFINITY};
    for (size_t k = 0; k < s->rows; k++)
        for (size_t i = 0; i < s->row; i++) {
            const double x = zmpi_sample_get(s, k, i);
            if (x == end) // NOLINT: exact on purpose
                continue;
            r.min = x < r.min ? x : r.min;
            r.max = x > r.max ? x : r.max;
        }
    return r;
}

static bool is_within(const struct zmpi_sample *s, double end)
{
    const struct summary others = summarize_others(s, end);
    const double distance = end < others.min ? others.min - end : end - others.max;
    return others.min < others.max && distance > others.max - others.min;
}

double zmpi_fill_within(enum zmpi_type type, const void *src, size_t count,
                        const struct zmpi_range *range)
{
    const double end = fabs(range->max) >= fabs(range->min) ? range->min : range->max;
    if ((type != ZMPI_F32 && type != ZMPI_F64) || count < FEW || !(fabs(end) > 0) ||
        !(range->min < range->max) || zmpi_device_holding(src))
        return 0;
    const struct zmpi_sample few = {type, src, FEW, 1, zmpi_sample_step(count, FEW)};
    const struct zmpi_sample s = zmpi_sample_rows(type, src, count, ROWS, ROW_LEAST);
    return is_within(&few, end) && end_repeats(&s, end) && is_within(&s, end) ? end : 0;
}

void zmpi_fill_keep(struct zmpi_job *job, const void *src)
{
    const enum zmpi_type type = job->array.type;
    unsigned char copy[FEW * sizeof(double)];
    size_t count;
    if ((type != ZMPI_F32 && type != ZMPI_F64) || job->bound.mode != ZMPI_ABS ||
        zmpi_array_count(&job->array, &count) || count < LEAST)
        return;
    const size_t n = count < FEW ? count : FEW;
    struct zmpi_sample s = {type, src, n, 1, zmpi_sample_step(count, n)};
    if (!zmpi_sample_fetch(&s, copy))
        return;
    const struct summary few = summarize(&s, job->keep);
    const struct zmpi_range range = {few.min, few.max, (double)INFINITY};
    const struct zmpi_fill fill = zmpi_fill_look(type, src, count, &range);
    if (fill.most > 0)
        job->keep = fmin(job->keep, zmpi_fill_smallest(fill));
}

double zmpi_fill_smallest(struct zmpi_fill fill)
{
    return fill.least > 0 ? fill.least : fill.most > 0 ? fill.most : (double)INFINITY;
}

struct zmpi_fill zmpi_fill_of(double smallest, double largest)
{
    return (struct zmpi_fill){smallest < largest ? smallest : 0, largest > 0 ? largest : 0};
}

struct zmpi_fill zmpi_fill_merge(struct zmpi_fill a, struct zmpi_fill b)
{
    return zmpi_fill_of(fmin(zmpi_fill_smallest(a), zmpi_fill_smallest(b)), fmax(a.most, b.most));
}

/* Is the fill value apart from the range of all values below it? */
static bool stands_apart(double fill, const struct zmpi_range *all, const struct zmpi_range *rest)
{
    if (!(rest->min <= rest->max))
        return false;
    return (!(all->max >= fill) || is_apart(fill, rest->min, rest->max)) &&
           (!(all->min <= -fill) || is_apart(-fill, rest->min, rest->max));
}

void zmpi_fill_exclude(struct zmpi_fill fill, zmpi_fill_scan_fn *scan, void *context,
                       struct zmpi_range *range)
{
    const double magnitude[] = {fill.least, fill.most};
    for (int i = 0; i < 2; i++) {
        struct zmpi_range rest;
        if (!(magnitude[i] > 0) || !scan(context, magnitude[i], &rest) ||
            !stands_apart(magnitude[i], range, &rest))
            continue;
        rest.fill = fmin(rest.fill, fmin(range->fill, magnitude[i]));
        *range = rest;
        return;
    }
}

/* ---- an array in the host's memory ---- */

struct array {
    enum zmpi_type type;
    const void *src;
    size_t count;
    struct zmpi_fills fills;
    int threads;
};

static bool scan_array(void *context, double threshold, struct zmpi_range *range)
{
    const struct array *a = context;
    zmpi_range_without(a->type, a->src, a->count, threshold, &a->fills, a->threads, range);
    return true;
}

void zmpi_fill_range(enum zmpi_type type, const void *src, size_t count, double threshold,
                     const struct zmpi_fills *fills, int threads, struct zmpi_range *range)
{
    struct array a = {type, src, count, fills ? *fills : (struct zmpi_fills){0}, threads};
    scan_array(&a, threshold, range);
    zmpi_fill_exclude(zmpi_fill_look(type, src, count, range), scan_array, &a, range);
}

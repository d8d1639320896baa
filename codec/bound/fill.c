/* fill.c - which values are fill values. Samples find candidates; the range without them
 * decides. */
#include "bound/fill.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/kernels.h"

#define INLINE static inline __attribute__((always_inline))

/* The call's sample mostly shows that there are no fill values. If it does not, rows of elements
 * are read, one element in 32 of the array. They tell how many elements are extreme and, if these
 * are enough, what the others are. A fill value is at least one of 1000 elements, and 16 of the
 * samples.
 */
enum { ROWS = 64, ROW_LEAST = 32, ROW_MOST = 256, ONE_IN = 32, LEAST = 16, SHARE = 1000 };

/* All samples. NaN, which is near nothing, completes the last vector. */
enum { TOGETHER = 4 };
struct values {
    double *x;
    size_t n;
};

/* x NULL: there is no memory. */
static struct values values_of(const struct zmpi_sample *s)
{
    struct values v = {malloc((s->rows * s->row + TOGETHER) * sizeof *v.x), 0};
    for (size_t k = 0; k < s->rows && v.x; k++)
        for (size_t i = 0; i < s->row; i++)
            v.x[v.n++] = zmpi_sample_get(s, k, i);
    while (v.n % TOGETHER && v.x)
        v.x[v.n++] = NAN;
    return v;
}

/* Finds the range of the values between these two, +inf to -inf if there are none. */
INLINE void between(const struct values *v, double low, double high, double *least, double *most)
{
    typedef double vector __attribute__((vector_size(8 * TOGETHER)));
    typedef int64_t mask __attribute__((vector_size(8 * TOGETHER)));
    vector min = INFINITY - (vector){0}, max = -min, x;
    *least = INFINITY;
    *most = -INFINITY;
    for (size_t i = 0; i < v->n; i += TOGETHER) {
        memcpy(&x, v->x + i, sizeof x);
        const mask is = (x > low) & (x < high), less = is & (x < min), more = is & (x > max);
        min = (vector)(((mask)x & less) | ((mask)min & ~less));
        max = (vector)(((mask)x & more) | ((mask)max & ~more));
    }
    for (int i = 0; i < TOGETHER; i++) {
        *least = min[i] < *least ? min[i] : *least;
        *most = max[i] > *most ? max[i] : *most;
    }
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void between_avx2(const struct values *v, double low,
                                                         double high, double *least, double *most)
{
    between(v, low, high, least, most);
}
#else
#define between_avx2 between
#endif

static void find_between(const struct values *v, double low, double high, double *least,
                         double *most)
{
    if (zmpi_kernels() == &zmpi_kernels_scalar)
        between(v, low, high, least, most);
    else
        between_avx2(v, low, high, least, most);
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

/* Do so many of all samples repeat? */
static bool repeats(size_t found, const struct zmpi_sample *s)
{
    return found >= LEAST && found >= s->rows * s->row / SHARE;
}

/* If the first quarter of each row has no such element, the others are not read. Shorter quarters
 * tell too little. */
enum { QUARTER_LEAST = 8 };
static bool end_repeats(const struct zmpi_sample *s, double end)
{
    const struct zmpi_sample few = {s->type, s->at, s->rows, s->row / 4, s->stride};
    const float narrow = (float)end;
    uint32_t bits32;
    uint64_t bits;
    memcpy(&bits32, &narrow, sizeof bits32);
    memcpy(&bits, &end, sizeof bits);
    bits = s->type == ZMPI_F32 ? bits32 : bits;
    if (few.row >= QUARTER_LEAST && zmpi_fill_count(&few, bits, true) == 0)
        return false;
    size_t found = zmpi_fill_count(s, bits, true);
    if (s->type == ZMPI_F64 && repeats(found, s))
        found = zmpi_fill_count(s, bits, false);
    return repeats(found, s);
}

static struct zmpi_fill find(const struct zmpi_sample *s, const struct values *v, double end)
{
    struct zmpi_fill fill = ZMPI_FILL_NONE;
    double min, max, least, most;
    size_t same = 0;
    if (!end_repeats(s, end))
        return fill;
    find_between(v, -fabs(end), fabs(end), &min, &max);
    if (!(min <= max))
        return fill;
    /* First the larger other value: of two fill values the smaller one may be far from the larger
     * one. */
    const double next = larger(min, max);
    find_between(v, -fabs(next), fabs(next), &least, &most);
    for (size_t i = 0; i < v->n; i++)
        same += v->x[i] == next; // NOLINT: exact on purpose
    if (repeats(same, s) && least <= most && is_apart(next, least, most))
        fill.least = fabs(next);
    if (fill.least > 0 || is_apart(end, min, max))
        fill.most = fabs(end);
    return fill;
}

/* ---- nearer to 0 than all others ---- */

/* The three lowest values of samples, in order, and the three highest: +inf and -inf if there are
 * fewer. */
struct ends {
    double low[3], high[3];
};

/* low, high: the ends of all data. */
static struct ends find_ends(const struct values *v, double low, double high)
{
    struct ends e = {.low = {low}, .high = {high}};
    for (int i = 1; i < 3; i++)
        find_between(v, e.low[i - 1], e.high[i - 1], &e.low[i], &e.high[i]);
    return e;
}

/* Does each of these values, `lows` lowest and `highs` highest ones, stand apart from the rest? If
 * the rest are all alike, these may be states. */
static bool are_apart(const struct ends *e, int lows, int highs)
{
    const double low = e->low[lows], high = e->high[highs], span = high - low;
    return low < high && (lows == 0 || low - e->low[lows - 1] > span) &&
           (highs == 0 || e->high[highs - 1] - high > span);
}

/* How many of the lowest and of the highest values may be fill values: two together, or one. */
static const struct {
    int lows, highs;
} splits[] = {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}};

static void find_near(const struct zmpi_sample *s, const struct ends *e, struct zmpi_fill *fill)
{
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        const int lows = splits[i].lows, highs = splits[i].highs;
        bool all = are_apart(e, lows, highs);
        for (int k = 0; k < lows && all; k++)
            all = end_repeats(s, e->low[k]);
        for (int k = 0; k < highs && all; k++)
            all = end_repeats(s, e->high[k]);
        if (!all)
            continue;
        fill->low = lows ? e->low[0] : e->high[highs - 1];
        fill->high = highs ? e->high[0] : e->low[lows - 1];
        return;
    }
}

/* Adds fill values among those that are within the range and below the magnitudes of `fill`.
 * Samples must show the ends of the data. */
static void add_near(const struct zmpi_sample *s, const struct values *v,
                     const struct zmpi_range *range, struct zmpi_fill *fill)
{
    const double below = zmpi_fill_smallest(*fill);
    double low, high;
    find_between(v, fmax(nextafter(range->min, -INFINITY), -below),
                 fmin(nextafter(range->max, INFINITY), below), &low, &high);
    const struct ends e = find_ends(v, low, high);
    find_near(s, &e, fill);
}

/* ---- a look at samples ---- */

/* The ends of the data that may be fill values: each by itself, or both together. */
struct sides {
    bool low, high, both;
};

/* The call's sample mostly shows that no end of the data is apart from the others. If an end is, or
 * two values are, the sample has at most one more value in that half of the range; or all values
 * but the ends are in a third. */
static struct sides may_stand_apart(const struct zmpi_taken *t, const struct zmpi_range *range)
{
    const struct zmpi_fill_inner in = zmpi_fill_inner(t, range);
    return (struct sides){.low = in.below <= in.low,
                          .high = in.above >= in.high,
                          .both = in.high - in.low <= 0.4 * range->max - 0.4 * range->min};
}

static bool ends_repeat(const struct zmpi_sample *s, const struct zmpi_range *range,
                        struct sides sides)
{
    const bool high = (sides.high || sides.both) && end_repeats(s, range->max);
    const bool low = (sides.low || (sides.both && high)) && end_repeats(s, range->min);
    return (sides.high && high) || (sides.low && low) || (high && low);
}

static struct zmpi_fill look_at(const struct zmpi_sample *s, const struct zmpi_range *range,
                                struct sides sides)
{
    struct zmpi_fill fill = ZMPI_FILL_NONE;
    if (s->rows * s->row < LEAST || !(range->min < range->max) || !ends_repeat(s, range, sides))
        return fill;
    const struct values v = values_of(s);
    if (v.x) {
        fill = find(s, &v, larger(range->min, range->max));
        add_near(s, &v, range, &fill);
    }
    free(v.x);
    return fill;
}

bool zmpi_fill_may_be(const struct zmpi_taken *t, const struct zmpi_range *range)
{
    const struct sides sides = may_stand_apart(t, range);
    return sides.low || sides.high || sides.both;
}

struct zmpi_fill zmpi_fill_look_at(const struct zmpi_sample *s, const struct zmpi_range *range)
{
    return look_at(s, range, (struct sides){true, true, true});
}

struct zmpi_fill zmpi_fill_look(const struct zmpi_taken *t, const struct zmpi_range *range)
{
    const struct zmpi_fill none = ZMPI_FILL_NONE;
    if ((t->type != ZMPI_F32 && t->type != ZMPI_F64) || t->count < LEAST || t->rows == 0 ||
        !(range->min < range->max))
        return none;
    const struct sides sides = may_stand_apart(t, range);
    if (!sides.low && !sides.high && !sides.both)
        return none;
    const size_t part = t->count / ROWS / ONE_IN;
    const size_t row = part < ROW_LEAST ? ROW_LEAST : part > ROW_MOST ? ROW_MOST : part;
    struct zmpi_sample s = zmpi_sample_rows(t->type, t->src, t->count, ROWS, row);
    void *copy = zmpi_device_holding(t->src) ? malloc(s.rows * s.row * sizeof(double)) : NULL;
    const bool at_hand = (copy || !zmpi_device_holding(t->src)) && zmpi_sample_fetch(&s, copy);
    const struct zmpi_fill fill = at_hand ? look_at(&s, range, sides) : none;
    free(copy);
    return fill;
}

void zmpi_fill_keep(struct zmpi_job *job, const struct zmpi_taken *t)
{
    struct zmpi_range range = ZMPI_RANGE_EMPTY;
    if ((t->type != ZMPI_F32 && t->type != ZMPI_F64) || job->bound.mode != ZMPI_ABS ||
        t->count < LEAST || t->rows == 0)
        return;
    const struct zmpi_sample s = zmpi_taken_sample(t);
    for (size_t i = 0; i < s.rows * s.row; i++) {
        const double x = zmpi_sample_get(&s, 0, i);
        if (fabs(x) < job->keep) {
            range.min = x < range.min ? x : range.min; /* much faster than fmin */
            range.max = x > range.max ? x : range.max;
        }
    }
    const struct zmpi_fill fill = zmpi_fill_look(t, &range);
    if (fill.most > 0)
        job->keep = fmin(job->keep, zmpi_fill_smallest(fill));
    if (fill.low <= fill.high) {
        zmpi_fills_add(&job->fills, fill.low);
        zmpi_fills_add(&job->fills, fill.high);
    }
}

double zmpi_fill_smallest(struct zmpi_fill fill)
{
    return fill.least > 0 ? fill.least : fill.most > 0 ? fill.most : (double)INFINITY;
}

struct zmpi_fill zmpi_fill_merge(struct zmpi_fill a, struct zmpi_fill b)
{
    const double least = fmin(zmpi_fill_smallest(a), zmpi_fill_smallest(b));
    const double most = fmax(a.most, b.most);
    return (struct zmpi_fill){least < most ? least : 0, most, fmin(a.low, b.low),
                              fmax(a.high, b.high)};
}

void zmpi_fill_say(struct zmpi_fill fill, double said[ZMPI_FILL_SAID])
{
    said[0] = zmpi_fill_smallest(fill);
    said[1] = -fill.most;
    said[2] = fill.low;
    said[3] = -fill.high;
}

struct zmpi_fill zmpi_fill_heard(const double least[ZMPI_FILL_SAID])
{
    const double most = -least[1];
    return (struct zmpi_fill){least[0] < most ? least[0] : 0, most, least[2], -least[3]};
}

bool zmpi_fills_add(struct zmpi_fills *fills, double value)
{
    for (int k = 0; k < fills->count; k++)
        if (memcmp(&fills->value[k], &value, sizeof value) == 0)
            return true;
    if (fills->count == ZMPI_FILLS)
        return false;
    fills->value[fills->count++] = value;
    return true;
}

/* Is the fill value apart from the range of all values below it? */
static bool stands_apart(double fill, const struct zmpi_range *all, const struct zmpi_range *rest)
{
    if (!(rest->min <= rest->max))
        return false;
    return (!(all->max >= fill) || is_apart(fill, rest->min, rest->max)) &&
           (!(all->min <= -fill) || is_apart(-fill, rest->min, rest->max));
}

/* Finds a magnitude that stands apart. *threshold: it, if there is one. */
static void exclude_magnitude(struct zmpi_fill fill, zmpi_fill_scan_fn *scan, void *context,
                              const struct zmpi_fills *fills, double *threshold,
                              struct zmpi_range *range)
{
    const double magnitude[] = {fill.least, fill.most};
    for (int i = 0; i < 2; i++) {
        struct zmpi_range rest;
        if (!(magnitude[i] > 0) || !scan(context, magnitude[i], fills, &rest) ||
            !stands_apart(magnitude[i], range, &rest))
            continue;
        rest.fill = fmin(rest.fill, fmin(range->fill, magnitude[i]));
        *range = rest;
        *threshold = magnitude[i];
        return;
    }
}

static bool is_beyond(double value, const struct zmpi_range *rest)
{
    const double distance = value < rest->min ? rest->min - value : value - rest->max;
    return rest->min < rest->max && distance > rest->max - rest->min;
}

/* Are these values, low and high (which may be one), fill values? */
static bool exclude_near(double low, double high, zmpi_fill_scan_fn *scan, void *context,
                         double threshold, struct zmpi_fills *fills, struct zmpi_range *range)
{
    struct zmpi_fills more = *fills;
    struct zmpi_range rest;
    if (zmpi_fills_add(&more, low) && zmpi_fills_add(&more, high) &&
        scan(context, threshold, &more, &rest) && is_beyond(low, &rest) && is_beyond(high, &rest)) {
        rest.fill = range->fill;
        *range = rest;
        *fills = more;
        return true;
    }
    return false;
}

void zmpi_fill_exclude(struct zmpi_fill fill, double threshold, zmpi_fill_scan_fn *scan,
                       void *context, struct zmpi_fills *fills, struct zmpi_range *range)
{
    exclude_magnitude(fill, scan, context, fills, &threshold, range);
    if (fill.low < fill.high &&
        exclude_near(fill.low, fill.high, scan, context, threshold, fills, range))
        return;
    if (fill.low <= range->min &&
        exclude_near(fill.low, fill.low, scan, context, threshold, fills, range))
        return;
    if (fill.high >= range->max)
        exclude_near(fill.high, fill.high, scan, context, threshold, fills, range);
}

/* ---- an array in the host's memory ---- */

struct array {
    enum zmpi_type type;
    const void *src;
    size_t count;
    int threads;
};

static bool scan_array(void *context, double threshold, const struct zmpi_fills *fills,
                       struct zmpi_range *range)
{
    const struct array *a = context;
    zmpi_range_without(a->type, a->src, a->count, threshold, fills, a->threads, range);
    return true;
}

void zmpi_fill_range(enum zmpi_type type, const void *src, size_t count, double threshold,
                     struct zmpi_fills *fills, int threads, struct zmpi_range *range)
{
    struct array a = {type, src, count, threads};
    struct zmpi_fills none = {0};
    struct zmpi_taken taken;
    fills = fills ? fills : &none;
    scan_array(&a, threshold, fills, range);
    zmpi_sample_take(&taken, type, src, count);
    zmpi_fill_exclude(zmpi_fill_look(&taken, range), threshold, scan_array, &a, fills, range);
}

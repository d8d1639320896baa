/* components.c - how many components are interleaved in an array, by samples; one of them. */
#include "judge/components.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/sample.h"

/* Stretches of consecutive elements that are looked at, and the elements of each: three points of
 * the most components. */
enum { STRETCHES = 32, STRETCH = 3 * ZMPI_COMPONENTS_FAST, SAMPLES = STRETCHES * STRETCH };
/* One of the components must vary by less than such a part of what all vary by. */
#define APART 0.1
/* Elements must agree with those one point before so much better than with their neighbours. */
#define AGREE 0.7
/* More components must save so much more, else they are a multiple of the right ones. */
#define GAIN 1.25

struct samples {
    size_t n;
    double value[SAMPLES];
    size_t place[SAMPLES]; /* in the array */
};

/* None, if a device's memory cannot be read. */
static void take(struct samples *s, enum zmpi_type type, double threshold, const void *src,
                 size_t count)
{
    const size_t stretches = count / 1024 < STRETCHES ? count / 1024 : STRETCHES;
    const size_t step = zmpi_sample_step(count - STRETCH, stretches);
    struct zmpi_sample from = {type, src, stretches, STRETCH, step};
    double copy[SAMPLES];
    s->n = 0;
    if (!zmpi_sample_fetch(&from, copy))
        return;
    for (size_t k = 0; k < stretches; k++)
        for (size_t i = 0; i < STRETCH; i++) {
            const double x = zmpi_sample_get(&from, k, i);
            if (!(fabs(x) < threshold))
                continue;
            s->value[s->n] = x;
            s->place[s->n++] = k * step + i;
        }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where most of a column's values lie: without the outermost eighths, so that a field with few
 * large values is the same in all its columns. */
struct column {
    double low, high;
};

static struct column column_of(double *value, size_t n)
{
    if (n < 8)
        return (struct column){NAN, NAN};
    qsort(value, n, sizeof *value, compare);
    return (struct column){value[n / 8], value[n - 1 - n / 8]};
}

/* The n columns by all samples (half -1), or by every second one of each. */
static void find_columns(const struct samples *s, int n, int half, struct column column[])
{
    double value[SAMPLES];
    for (int c = 0; c < n; c++) {
        size_t taken = 0, met = 0;
        for (size_t i = 0; i < s->n; i++)
            if (s->place[i] % (size_t)n == (size_t)c && (half < 0 || met++ % 2 == (size_t)half))
                value[taken++] = s->value[i];
        column[c] = column_of(value, taken);
    }
}

/* What all columns span, and which of those that vary does so least; -1: none. */
static int look(const struct column column[], int n, double *all)
{
    double low = INFINITY, high = -INFINITY, least = INFINITY;
    int narrowest = -1;
    for (int c = 0; c < n; c++) {
        low = fmin(low, column[c].low);
        high = fmax(high, column[c].high);
        if (column[c].high > column[c].low && column[c].high - column[c].low < least) {
            least = column[c].high - column[c].low;
            narrowest = c;
        }
    }
    *all = high - low;
    return narrowest;
}

/* Bits of the mean difference from the element `lag` before, in units of `unit`. */
static double bits_at(const struct samples *s, size_t lag, double unit)
{
    double bits = 0;
    size_t pairs = 0;
    for (size_t i = lag; i < s->n; i++)
        if (s->place[i] - s->place[i - lag] == lag) {
            bits += log2(1 + fabs(s->value[i] - s->value[i - lag]) / unit);
            pairs++;
        }
    return pairs ? bits / (double)pairs : 0;
}

static bool is_apart(struct column c, double all)
{
    return c.high - c.low < APART * all;
}

/* Bits that n columns, each by its own span, save of a value; 0: none is apart from the others, or
 * that is chance: half of the samples do not say so of the same column, or neighbours agree. */
static double saved(const struct samples *s, int n)
{
    struct column column[ZMPI_COMPONENTS_FAST], half[ZMPI_COMPONENTS_FAST];
    double bits = 0, all, of_half;
    int varying = 0;
    find_columns(s, n, -1, column);
    const int least = look(column, n, &all);
    if (least < 0 || !isfinite(all) || !is_apart(column[least], all))
        return 0;
    for (int h = 0; h < 2; h++) {
        find_columns(s, n, h, half);
        look(half, n, &of_half);
        if (!is_apart(half[least], of_half))
            return 0;
    }
    const double unit = column[least].high - column[least].low;
    if (!(bits_at(s, (size_t)n, unit) < AGREE * bits_at(s, 1, unit)))
        return 0;
    for (int c = 0; c < n; c++)
        if (column[c].high > column[c].low) {
            bits += log2(all / (column[c].high - column[c].low));
            varying++;
        }
    return bits / varying;
}

static bool all_same(const struct samples *s)
{
    for (size_t i = 1; i < s->n; i++)
        if (s->value[i] < s->value[0] || s->value[i] > s->value[0])
            return false;
    return true;
}

/* divided: the array is whole points. */
static int find(enum zmpi_type type, double threshold, const void *src, size_t count, bool divided)
{
    struct samples s;
    double most = 0;
    int found = 1;
    if ((type != ZMPI_F32 && type != ZMPI_F64) || count < (size_t)2 * ZMPI_COMPONENTS_LEAST)
        return 1;
    take(&s, type, threshold > 0 ? threshold : 1e20, src, count);
    if (all_same(&s))
        return 1;
    for (int n = 2; n <= ZMPI_COMPONENTS_FAST; n++) {
        if ((divided && count % (size_t)n) || count / (size_t)n < ZMPI_COMPONENTS_LEAST)
            continue;
        const double bits = saved(&s, n);
        if (bits > GAIN * most) {
            most = bits;
            found = n;
        }
    }
    return found;
}

int zmpi_components_find(enum zmpi_type type, double threshold, const void *src, size_t count)
{
    return find(type, threshold, src, count, true);
}

int zmpi_components_cut(enum zmpi_type type, double threshold, const void *src, size_t count)
{
    const int n = find(type, threshold, src, count, false);
    return count % (size_t)n ? n : 1;
}

int zmpi_components_recall(struct zmpi_components_known *known, enum zmpi_type type,
                           double threshold, const void *src, size_t count, bool *is_new)
{
    struct zmpi_components_entry *e = NULL;
    *is_new = false;
    for (unsigned i = 0; i < ZMPI_COMPONENTS_ARRAYS; i++)
        if (known->entry[i].count == count && known->entry[i].type == type)
            e = &known->entry[i];
    if (!e) {
        e = &known->entry[known->next++ % ZMPI_COMPONENTS_ARRAYS];
        *e = (struct zmpi_components_entry){type, count, 1, 0};
    }
    e->calls++;
    if (e->calls & (e->calls - 1))
        return e->components;
    const int found = zmpi_components_find(type, threshold, src, count);
    *is_new = found != e->components;
    return e->components = found;
}

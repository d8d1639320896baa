/* components.c - finds by samples how many components are interleaved in an array. */
#include "judge/components.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound/sample.h"

/* Stretches of consecutive elements that are looked at, and the elements of each: three points of
 * the most components. */
enum { STRETCHES = 32, STRETCH = 3 * ZMPI_COMPONENTS_FAST, SAMPLES = STRETCHES * STRETCH };
/* One of the components must vary by less than this part of the span of all together. */
#define APART 0.1
/* The mean difference from the same component of the point before must take less than this part of
 * the bits of the mean difference from the neighbour. */
#define AGREE 0.7
/* A larger number of components must save this many times as much, else it is only a multiple of
 * the right number. */
#define GAIN 1.25
/* Bits of a difference that agreement saves at least, if only that tells; a larger number saves so
 * many more. Of many bits it must save this part. */
#define NEAR      1.0
#define NEARER    0.5
#define NEAR_PART 0.06

struct sample {
    union {
        double value;
        uint64_t key; /* stands for the value during sorting */
    };
    uint16_t stretch, offset; /* its place in the array */
};

struct samples {
    size_t n, step; /* step: from one stretch to the next */
    struct sample taken[SAMPLES], sorted[SAMPLES];
    bool ready; /* sorted */
};

/* Takes the samples; none, if a device's memory cannot be read. */
static void take(struct samples *s, enum zmpi_type type, double threshold, const void *src,
                 size_t count)
{
    const size_t stretches = count / 1024 < STRETCHES ? count / 1024 : STRETCHES;
    double copy[SAMPLES];
    s->step = zmpi_sample_step(count - STRETCH, stretches);
    s->n = 0;
    s->ready = false;
    struct zmpi_sample from = {type, src, stretches, STRETCH, s->step};
    if (!zmpi_sample_fetch(&from, copy))
        return;
    for (uint16_t k = 0; k < stretches; k++)
        for (uint16_t i = 0; i < STRETCH; i++) {
            const double x = zmpi_sample_get(&from, k, i);
            if (fabs(x) < threshold)
                s->taken[s->n++] = (struct sample){{x}, k, i};
        }
}

/* The bits of x, changed so that they have the order of numbers. */
static uint64_t key_of(double x)
{
    uint64_t bits;
    x += 0.0; /* no -0 */
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static double value_of(uint64_t key)
{
    const uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Sorts by one byte of the keys; false: all have the same. */
static bool sort_by_byte(size_t n, unsigned byte, const struct sample *from, struct sample *to)
{
    uint16_t place[257] = {0};
    for (size_t i = 0; i < n; i++)
        place[(from[i].key >> 8 * byte & 255) + 1]++;
    if (place[(from[0].key >> 8 * byte & 255) + 1] == n)
        return false;
    for (size_t k = 1; k < 256; k++)
        place[k] = (uint16_t)(place[k] + place[k - 1]);
    for (size_t i = 0; i < n; i++)
        to[place[from[i].key >> 8 * byte & 255]++] = from[i];
    return true;
}

/* Sorts all samples once, for all numbers of columns: then the values of each column are in order,
 * too. This is several times as fast as qsort. */
static void sort(struct samples *s)
{
    struct sample other[SAMPLES], *from = s->sorted, *to = other;
    if (s->ready || s->n == 0)
        return;
    memcpy(s->sorted, s->taken, s->n * sizeof *s->taken);
    for (size_t i = 0; i < s->n; i++)
        s->sorted[i].key = key_of(s->sorted[i].value);
    for (unsigned byte = 0; byte < 8; byte++)
        if (sort_by_byte(s->n, byte, from, to)) {
            struct sample *const swap = from;
            from = to;
            to = swap;
        }
    if (from != s->sorted)
        memcpy(s->sorted, from, s->n * sizeof *from);
    for (size_t i = 0; i < s->n; i++)
        s->sorted[i].value = value_of(s->sorted[i].key);
    s->ready = true;
}

/* Tells which of n columns a sample is in, from the column with which its stretch begins. */
struct columns {
    uint8_t first[STRETCHES], after[STRETCH + ZMPI_COMPONENTS_FAST];
};

static void columns_of(const struct samples *s, int n, struct columns *c)
{
    for (size_t k = 0; k < STRETCHES; k++)
        c->first[k] = (uint8_t)(k * s->step % (size_t)n);
    for (size_t i = 0; i < sizeof c->after; i++)
        c->after[i] = (uint8_t)(i % (size_t)n);
}

static inline unsigned column_of(const struct columns *c, const struct sample *x)
{
    return c->after[c->first[x->stretch] + x->offset];
}

/* The range of most values of a column. It leaves out the lowest and the highest eighth, so that
 * all columns of a field with few large values have the same range. */
struct column {
    double low, high;
};

/* Finds the n columns by all samples (half -1), or by every second one of each column. */
static void find_columns(const struct samples *s, int n, int half, struct column column[])
{
    struct columns columns;
    uint16_t taken[ZMPI_COMPONENTS_FAST] = {0}, seen[ZMPI_COMPONENTS_FAST] = {0};
    bool is_other[STRETCHES][STRETCH];
    columns_of(s, n, &columns);
    for (size_t i = 0; i < s->n; i++) {
        const struct sample *x = &s->taken[i];
        const unsigned c = column_of(&columns, x);
        is_other[x->stretch][x->offset] = half >= 0 && seen[c]++ % 2 != half;
        taken[c] += !is_other[x->stretch][x->offset];
    }
    for (int c = 0; c < n; c++) {
        column[c] = (struct column){NAN, NAN};
        seen[c] = 0;
    }
    for (size_t i = 0; i < s->n; i++) {
        const struct sample *x = &s->sorted[i];
        const unsigned c = column_of(&columns, x);
        if (taken[c] < 8 || is_other[x->stretch][x->offset])
            continue;
        if (seen[c] == taken[c] / 8)
            column[c].low = x->value;
        if (seen[c] == taken[c] - 1 - taken[c] / 8)
            column[c].high = x->value;
        seen[c]++;
    }
}

/* Finds the span of all columns together; returns the column that varies least, but not 0; -1:
 * none. */
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

/* Mean bits of the difference from the element `lag` before, in units of `unit`. */
static double bits_at(const struct samples *s, size_t lag, double unit)
{
    double bits = 0;
    size_t pairs = 0;
    for (size_t i = lag; i < s->n; i++) {
        const struct sample *x = &s->taken[i], *before = &s->taken[i - lag];
        if (x->stretch != before->stretch || (size_t)(x->offset - before->offset) != lag)
            continue;
        bits += log2(1 + fabs(x->value - before->value) / unit);
        pairs++;
    }
    return pairs ? bits / (double)pairs : 0;
}

static bool is_apart(struct column c, double all)
{
    return c.high - c.low < APART * all;
}

/* Bits that a value saves if each of n columns has its own span. 0: no column is apart from the
 * others, or it is so by chance: one half of the samples does not show it, or neighbours agree as
 * well. */
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

/* ---- what needs no search ---- */

/* FEW samples tell where values lie. In order, those that are OUTER and INNER places from either
 * end are the limits of the classes. */
enum { FEW = 64, OUTER = 3, INNER = 20 };
enum { BELOW = 1, LOW = 2, HIGH = 4, ABOVE = 8 };

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Finds the class of each sample; false: the middle is so narrow that columns could be apart in it.
 */
static bool classify(const struct samples *s, uint8_t class[])
{
    double few[FEW];
    if (s->n < FEW)
        return false;
    for (size_t i = 0; i < FEW; i++)
        few[i] = s->taken[i * s->n / FEW].value;
    qsort(few, FEW, sizeof *few, compare_values);
    const double least = few[OUTER], most = few[FEW - 1 - OUTER];
    const double low = few[INNER], high = few[FEW - 1 - INNER];
    for (size_t i = 0; i < s->n; i++) {
        const double x = s->taken[i].value;
        class[i] = (uint8_t)(BELOW * (x < least) | LOW * (x <= low) | HIGH * (x >= high) |
                             ABOVE * (x > most));
    }
    return high - low >= APART * (most - least) && isfinite(most - least);
}

/* Are all n columns (then all divisors of n, too) spread over the middle, and none more than an
 * eighth outside? Then none is apart from the others. */
static bool are_mixed(const struct samples *s, const uint8_t class[], int n)
{
    uint16_t seen[ZMPI_COMPONENTS_FAST][16] = {{0}};
    struct columns columns;
    columns_of(s, n, &columns);
    for (size_t i = 0; i < s->n; i++)
        seen[column_of(&columns, &s->taken[i])][class[i]]++;
    for (int c = 0; c < n; c++) {
        unsigned all = 0, in[4] = {0};
        for (unsigned k = 0; k < 16; k++) {
            all += seen[c][k];
            for (unsigned bit = 0; bit < 4; bit++)
                in[bit] += k >> bit & 1 ? seen[c][k] : 0;
        }
        const unsigned out = all / 8;
        if (in[0] > out || in[3] > out || in[1] <= out + 1 || in[2] <= out + 1)
            return false;
    }
    return true;
}

/* Bit n: n columns are mixed. */
static unsigned mixed_columns(const struct samples *s)
{
    uint8_t class[SAMPLES];
    unsigned mixed = 0;
    if (!classify(s, class))
        return 0;
    for (int n = ZMPI_COMPONENTS_FAST; n > ZMPI_COMPONENTS_FAST / 2; n--)
        if (are_mixed(s, class, n))
            for (int part = 2; part <= n; part++)
                mixed |= n % part == 0 ? 1U << part : 0;
    return mixed;
}

static bool all_same(const struct samples *s)
{
    for (size_t i = 1; i < s->n; i++)
        if (s->taken[i].value < s->taken[0].value || s->taken[i].value > s->taken[0].value)
            return false;
    return true;
}

/* Searches the numbers of components that divide `count`, or all others. */
static int find(struct samples *s, size_t count, unsigned mixed, bool divides)
{
    double most = 0;
    int found = 1;
    for (int n = 2; n <= ZMPI_COMPONENTS_FAST; n++) {
        if (mixed >> n & 1 || (count % (size_t)n == 0) != divides ||
            count / (size_t)n < ZMPI_COMPONENTS_LEAST)
            continue;
        sort(s);
        const double bits = saved(s, n);
        if (bits > GAIN * most) {
            most = bits;
            found = n;
        }
    }
    return found;
}

/* cut: the answer of zmpi_components_cut; NULL: not wanted. */
static int look_for(enum zmpi_type type, double threshold, const void *src, size_t count, int *cut)
{
    int found = 1;
    if (cut)
        *cut = 1;
    if ((type != ZMPI_F32 && type != ZMPI_F64) || count < (size_t)2 * ZMPI_COMPONENTS_LEAST)
        return 1;
    struct samples *s = malloc(sizeof *s); /* too large for small stacks */
    if (!s)
        return 1;
    take(s, type, threshold > 0 ? threshold : 1e20, src, count);
    if (!all_same(s)) {
        const unsigned mixed = mixed_columns(s);
        found = find(s, count, mixed, true);
        if (cut && found == 1)
            *cut = find(s, count, mixed, false);
    }
    free(s);
    return found;
}

int zmpi_components_find(enum zmpi_type type, double threshold, const void *src, size_t count)
{
    return look_for(type, threshold, src, count, NULL);
}

int zmpi_components_cut(enum zmpi_type type, double threshold, const void *src, size_t count)
{
    int cut;
    look_for(type, threshold, src, count, &cut);
    return cut;
}

/* Finds the distance at which samples differ least. */
static int find_near(const struct samples *s, double step)
{
    const double alone = bits_at(s, 1, step);
    double least = alone - fmax(NEAR, NEAR_PART * alone) + NEARER;
    int found = 1;
    for (int n = 2; n <= ZMPI_COMPONENTS_FAST; n++) {
        const double bits = bits_at(s, (size_t)n, step);
        if (bits < least - NEARER) {
            least = bits;
            found = n;
        }
    }
    return found;
}

int zmpi_components_near(enum zmpi_type type, double threshold, double step, const void *src,
                         size_t count)
{
    int found = 1;
    if ((type != ZMPI_F32 && type != ZMPI_F64) || count < (size_t)2 * ZMPI_COMPONENTS_LEAST ||
        !(step > 0))
        return 1;
    struct samples *s = malloc(sizeof *s); /* too large for small stacks */
    if (!s)
        return 1;
    take(s, type, threshold > 0 ? threshold : 1e20, src, count);
    if (s->n > 0 && !all_same(s))
        found = find_near(s, step);
    free(s);
    return found;
}

int zmpi_components_recall(struct zmpi_components_known *known, enum zmpi_type type,
                           double threshold, const void *src, size_t count, bool *is_new, int *cut)
{
    struct zmpi_components_entry *e = NULL;
    *is_new = false;
    if (cut)
        *cut = 1;
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
    const int found = look_for(type, threshold, src, count, cut);
    *is_new = found != e->components;
    return e->components = found;
}

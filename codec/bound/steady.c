/*
 * steady.c - a bound that a cycle of coding and decoding does not change (format.md 4.1).
 *
 * The range W of the data tells the bound, and decoding moves both ends of the range by up to the
 * bound: a bound that simply followed would be another one in the next cycle, with other steps, and
 * errors would add up for ever. So bounds lie on a grid, and data that were coded by one of its
 * bounds are recognised by their ends: multiples of its steps.
 *
 * For one bound g of the grid with the step s, let Q(e) be the multiple of s that an end e is
 * rounded to. After a cycle the end is e' with e' between e and Q(e), whichever elements were coded
 * and whichever were kept exactly, since rounding keeps the order of elements. Let I be the range
 * from the inner one of e and Q(e) at either end. Then
 *
 * (1) I' >= I: the inner end is Q(e), and e' rounds to the same; or it is e, and e' is not inside
 *     of it. So g <= part I still holds after the cycle, and with it g <= part W'.
 * (2) An end that moved outward is Q(e), a multiple of s. Where no end is one, both moved inward or
 *     not at all, and so did their roundings by any other step: what was not below part I is not
 *     now.
 *
 * Hence the rule: of the bounds with g <= part I those come first that have more ends among their
 * multiples, then the largest one. By (1) the bound of the cycle before still is one of them. If an
 * end moved outward it is taken for that end; else by (2) it is the largest, as before. Two bounds
 * of the grid have no multiples in common below 512 steps: their steps are different primes times
 * powers of two.
 *
 * Where values are larger than 2^13 steps (f32), chunks may be coded by other levels of the step
 * (4.4). Then all that may have been taken are looked at (and Q(e) is no longer one multiple). The
 * last level, half as fine, has steps that several bounds share: there a bound next to it may be
 * taken, once, if the range lies within a few steps of where the next bound begins. With part > 0.2
 * the range may double, and a bound twice as large share the ends: there another cycle may change
 * the data, too.
 */
#include "bound/steady.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "bound/ratio.h"
#include "bound/sample.h"
#include "layout/chunk.h"

/* Primes: 512 2^(k/32), nearly. */
static const short prime[ZMPI_GRID_OCTAVE] = {521, 523, 541, 547, 563, 571, 587, 599, 613, 631, 641,
                                              653, 673, 683, 701, 709, 727, 743, 761, 773, 797, 811,
                                              829, 853, 863, 887, 907, 929, 947, 967, 983, 1009};

static int prime_of(int place)
{
    return place & (ZMPI_GRID_OCTAVE - 1);
}

static int octave_of(int place)
{
    return (place - prime_of(place)) / ZMPI_GRID_OCTAVE;
}

double zmpi_grid_at(int place)
{
    /* So that steps cut to 10 bits (f32) are the prime, and those cut to 22 bits (f64) 4105 times
     * the prime. */
    const double more = 4105 * 0x1p-12 * (1 + 0x1p-21 + 0x1p-24);
    return ldexp(prime[prime_of(place)] * more, octave_of(place));
}

int zmpi_grid_below(double x)
{
    int exponent;
    frexp(x, &exponent); /* x < 2^exponent */
    int place = (exponent - 9) * ZMPI_GRID_OCTAVE - 1;
    while (zmpi_grid_at(place) > x)
        place--;
    return place;
}

/* ---- rel and psnr: the ends of the range ---- */

/* The possible effects of coding by a bound on an end of the range. */
struct end {
    double inner; /* the least that is left of it */
    bool multiple;
};

static double rounded(enum zmpi_type type, const struct zmpi_step *l, double x)
{
    if (type == ZMPI_F64)
        return rint(x * l->inverse) * l->step;
    return (double)(rintf((float)x * (float)l->inverse) * (float)l->step);
}

/* x: the upper end, or the lower one with its sign changed; most: the largest magnitude. */
static void look(enum zmpi_type type, double bound, double x, double most, struct end *e)
{
    struct zmpi_chunk_rule rule;
    zmpi_chunk_rule_make(&rule, type, bound, (double)INFINITY);
    for (int i = 0; i < rule.levels; i++) {
        const struct zmpi_step *l = &rule.level[i];
        if (fabs(x) <= l->limit) {
            const double q = rounded(type, l, x);
            e->inner = fmin(e->inner, q);
            e->multiple = e->multiple || q == x; // NOLINT: exact on purpose
        }
        if (most <= l->limit)
            break;
    }
}

static struct end end_of(enum zmpi_type type, double bound, const double *scale, int scales,
                         double x, double most)
{
    struct end e = {x, false};
    for (int i = 0; i < scales; i++)
        look(type, zmpi_bound_round(type, bound * scale[i]), x, most, &e);
    if (e.multiple)
        e.inner = x;
    return e;
}

/* part (max - min), which is finite though the difference may not be. */
static double part_of(double part, double max, double min)
{
    double bound = part * (max - min);
    return isfinite(bound) ? bound : fmin(part * max - part * min, DBL_MAX);
}

double zmpi_steady_bound(enum zmpi_type type, double part, const double *scale, int scales,
                         const struct zmpi_range *range)
{
    if (!(range->max > range->min))
        return 0;
    const double top = zmpi_bound_round(type, part_of(part, range->max, range->min));
    const double most = fmax(fabs(range->min), fabs(range->max));
    if (!(top >= 0x1p-1000)) /* far below all steps */
        return top;
    /* By less than this the data were not coded: their range has grown by two bounds at most. */
    const double least = top / (1.04 * (1 + 2 * part) + 2 * part);
    double best = 0;
    int most_multiples = -1;
    for (int place = zmpi_grid_below(top); place > INT_MIN; place--) {
        const double bound = zmpi_grid_at(place);
        if (bound < least && (most_multiples >= 0 || bound < top / 64))
            break;
        const struct end upper = end_of(type, bound, scale, scales, range->max, most);
        const struct end lower = end_of(type, bound, scale, scales, -range->min, most);
        const int multiples = (upper.multiple && range->max != 0) + // NOLINT: exact on purpose
                              (lower.multiple && range->min != 0);  // NOLINT
        if (multiples > most_multiples && bound <= part_of(part, upper.inner, -lower.inner)) {
            most_multiples = multiples;
            best = bound;
        }
    }
    return best;
}

/* ---- psnr and ratio: samples of the data ---- */

enum {
    SAMPLES = 256, /* wanted */
    LOOKED = 4096, /* looked at, to find them */
    AT_ONCE = 256
};

/* A sample is a multiple of a step as any other number is, by chance, if it is 0. */
struct samples {
    double x[SAMPLES];
    size_t count;
};

/* Counts those of them that tell something. */
static void take_some(struct zmpi_sample s, double keep, struct samples *taken)
{
    unsigned char copy[AT_ONCE * sizeof(double)];
    if (!zmpi_sample_fetch(&s, copy))
        return;
    for (size_t i = 0; i < s.rows && taken->count < SAMPLES; i++) {
        const double x = zmpi_sample_get(&s, i, 0);
        if (fabs(x) < keep && fabs(x) > 0 && isfinite(x))
            taken->x[taken->count++] = x;
    }
}

/* Elements from all over an array that tell something: no zeros, nor what is kept exactly. */
static void take_samples(const struct zmpi_array *array, const void *src, double keep,
                         struct samples *s)
{
    size_t count = 0;
    s->count = 0;
    if (zmpi_array_count(array, &count))
        return;
    const size_t most = count < LOOKED ? count : LOOKED, rounds = (most + AT_ONCE - 1) / AT_ONCE;
    const size_t n = rounds ? most / rounds : 0, step = zmpi_sample_step(count, n);
    const size_t width = zmpi_type_size(array->type);
    for (size_t round = 0; round < rounds && s->count < SAMPLES; round++) {
        const size_t first = round * (step / rounds | 1) % step;
        const unsigned char *at = (const unsigned char *)src + first * width;
        take_some((struct zmpi_sample){array->type, at, n, 1, step}, keep, s);
    }
}

bool zmpi_steady_all(uint64_t samples, uint64_t multiples)
{
    return samples > 0 && multiples >= samples - samples / 6;
}

/* Counts the multiples of the steps of any level of the bound. */
static uint64_t count_multiples(enum zmpi_type type, const struct samples *s, double bound)
{
    uint64_t multiples = 0;
    for (size_t i = 0; i < s->count && (i < 8 || multiples >= i / 2); i++) { /* mostly not */
        struct end e = {s->x[i], false};
        look(type, bound, s->x[i], (double)INFINITY, &e);
        multiples += e.multiple;
    }
    return multiples;
}

void zmpi_steady_finer(struct zmpi_job *job, const void *src)
{
    struct samples s;
    if (!(job->finer[1] > 0))
        return;
    take_samples(&job->array, src, job->keep, &s);
    for (int i = -1; i < 2; i++) {
        const double bound = i < 0 ? job->abs_bound : job->finer[i];
        if (!zmpi_steady_all(s.count, count_multiples(job->array.type, &s, bound)))
            continue;
        if (i >= 0)
            job->abs_bound = bound;
        if (i == 0)
            job->finer[0] = job->finer[1];
        if (i == 1)
            zmpi_job_safe_bound(job);
        return;
    }
}

/* x as a whole number, with the exponent of its last bit. */
static uint64_t whole(double x, int *exponent)
{
    const double part = frexp(fabs(x), exponent);
    uint64_t n = (uint64_t)ldexp(part, DBL_MANT_DIG);
    const int zeros = __builtin_ctzll(n);
    *exponent += zeros - DBL_MANT_DIG;
    return n >> zeros;
}

void zmpi_steady_primes(const struct zmpi_array *array, const void *src, double keep,
                        uint64_t *samples, uint64_t multiples[ZMPI_STEADY_SUMS])
{
    struct samples s;
    int exponent;
    take_samples(array, src, keep, &s);
    *samples += s.count;
    for (size_t i = 0; i < s.count; i++) {
        const uint64_t n = whole(s.x[i], &exponent);
        for (int k = 0; k < ZMPI_GRID_OCTAVE; k++)
            multiples[k] += n % (uint64_t)prime[k] == 0;
    }
}

void zmpi_steady_octaves(const struct zmpi_array *array, const void *src, double keep, int place,
                         uint64_t *samples, uint64_t multiples[ZMPI_STEADY_SUMS])
{
    /* The step of 10 bits in units of the prime; that of 22 bits is 4105 units of 2^-12 of it. */
    const int first = octave_of(place) + 1;
    const uint64_t p = (uint64_t)prime[prime_of(place)], fine = array->type == ZMPI_F64 ? 4105 : 0;
    struct samples s;
    int exponent;
    take_samples(array, src, keep, &s);
    *samples += s.count;
    for (size_t i = 0; i < s.count; i++) {
        const uint64_t n = whole(s.x[i], &exponent);
        if (fine && n % (fine * p) == 0)
            exponent += 12;
        for (int k = 0; k < ZMPI_STEADY_SUMS && n % p == 0; k++)
            multiples[k] += exponent >= first - k;
    }
}

void zmpi_steady_places(const struct zmpi_array *array, const void *src, double keep, int place,
                        uint64_t *samples, uint64_t multiples[ZMPI_STEADY_SUMS])
{
    struct samples s;
    take_samples(array, src, keep, &s);
    *samples += s.count;
    for (int k = 0; k < ZMPI_STEADY_SUMS; k++)
        multiples[k] += count_multiples(array->type, &s,
                                        zmpi_bound_round(array->type, zmpi_grid_at(place - k)));
}

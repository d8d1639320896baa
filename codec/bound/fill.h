/*
 * fill.h - fill values of any size (format.md 4.2), such as -9999 for a missing measurement. A
 * value is a fill value if it repeats bit for bit, and is further from all other values than their
 * range. It is kept exactly and does not count in the range. There may be two. Samples find
 * candidates; a second pass without them decides.
 */
#ifndef ZMPI_FILL_H
#define ZMPI_FILL_H

#include <math.h>

#include "bound/sample.h"

/* What may be fill values. Before zmpi_fill_exclude all ranks of a collective call must have the
 * same (zmpi_fill_heard). */
struct zmpi_fill {
    double least,
        most;         /* magnitudes larger than all others; 0: none. least: only if there are two */
    double low, high; /* values that are not larger than all others; low > high: none */
};

#define ZMPI_FILL_NONE ((struct zmpi_fill){0, 0, (double)INFINITY, -(double)INFINITY})

/* Looks at a call's data. Its range is known. */
struct zmpi_fill zmpi_fill_look(const struct zmpi_taken *taken, const struct zmpi_range *range);
/* Does the call's sample (its rows alone) let an end of the range be a fill value? */
bool zmpi_fill_may_be(const struct zmpi_taken *taken, const struct zmpi_range *range);
/* Looks only at these samples, which the host can read. */
struct zmpi_fill zmpi_fill_look_at(const struct zmpi_sample *s, const struct zmpi_range *range);
/* Counts the samples that are `bits`, for f32 their lower half. half: compares halves of f64, which
 * is faster and may count too many. */
size_t zmpi_fill_count(const struct zmpi_sample *s, uint64_t bits, bool half);
/* Of the call's sample: the least and the largest value but the ends of the range, and those above
 * and below its middle. */
struct zmpi_fill_inner {
    double low, high, above, below;
};
struct zmpi_fill_inner zmpi_fill_inner(const struct zmpi_taken *t, const struct zmpi_range *range);

/* The smaller magnitude, +inf if there is none. */
double zmpi_fill_smallest(struct zmpi_fill fill);
/* Merges the candidates of two parts. */
struct zmpi_fill zmpi_fill_merge(struct zmpi_fill a, struct zmpi_fill b);
/* What ranks exchange: numbers of which the least over all ranks tells the candidates of all. */
enum { ZMPI_FILL_SAID = 4 };
void zmpi_fill_say(struct zmpi_fill fill, double said[ZMPI_FILL_SAID]);
struct zmpi_fill zmpi_fill_heard(const double least[ZMPI_FILL_SAID]);

/* Finds the range of all data below the threshold without these values. False: it is unknown. */
typedef bool zmpi_fill_scan_fn(void *context, double threshold, const struct zmpi_fills *fills,
                               struct zmpi_range *range);

/* If candidates stand apart, *range becomes that of the other values. It names a magnitude; other
 * fill values are added to *fills. threshold, *fills: what the range is already without. If `scan`
 * is collective, all ranks call it equally often. */
void zmpi_fill_exclude(struct zmpi_fill fill, double threshold, zmpi_fill_scan_fn *scan,
                       void *context, struct zmpi_fills *fills, struct zmpi_range *range);

/* For mode abs, which needs no range: if samples show fill values, these (and all values of a
 * larger magnitude) become exact. */
void zmpi_fill_keep(struct zmpi_job *job, const struct zmpi_taken *taken);

/* False: there is no room for one more. */
bool zmpi_fills_add(struct zmpi_fills *fills, double value);

/* zmpi_range_without and the search above together. *fills: those that the user names; gets those
 * that are found; NULL: none. */
void zmpi_fill_range(enum zmpi_type type, const void *src, size_t count, double threshold,
                     struct zmpi_fills *fills, int threads, struct zmpi_range *range);

#endif

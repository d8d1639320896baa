/*
 * fill.h - fill values of any size (format.md 4.2), such as -9999 for a missing measurement. A
 * value is a fill value if it repeats bit for bit, is larger in magnitude than all other values,
 * and is further from them than their range. It is kept exactly and does not count in the range.
 * Samples find candidates; a second pass without them decides.
 */
#ifndef ZMPI_FILL_H
#define ZMPI_FILL_H

#include "bound/sample.h"

/* Magnitudes that may be fill values; 0: none. `least` is set only if there are two. Before
 * zmpi_fill_exclude all ranks of a collective call must have the same (zmpi_fill_of). */
struct zmpi_fill {
    double least, most;
};

/* Looks at samples of an array in the host's or a device's memory. Its range is known. */
struct zmpi_fill zmpi_fill_look(enum zmpi_type type, const void *src, size_t count,
                                const struct zmpi_range *range);
/* Looks only at these samples, which the host can read. */
struct zmpi_fill zmpi_fill_look_at(const struct zmpi_sample *s, const struct zmpi_range *range);

/*
 * A value that only a user can name (ZMPI_FILL), since it is nearer to 0 than all others: -9999
 * among pressures of 1e5. It repeats, and is further from the others than their range. 0: none.
 */
double zmpi_fill_within(enum zmpi_type type, const void *src, size_t count,
                        const struct zmpi_range *range);

/* The smaller magnitude, +inf if there is none. zmpi_fill_of: from the smallest and the largest
 * magnitude over all parts of the data. */
double zmpi_fill_smallest(struct zmpi_fill fill);
struct zmpi_fill zmpi_fill_of(double smallest, double largest);
/* Merges the candidates of two parts. */
struct zmpi_fill zmpi_fill_merge(struct zmpi_fill a, struct zmpi_fill b);

/* Finds the range of all data below the threshold. False: it is unknown. */
typedef bool zmpi_fill_scan_fn(void *context, double threshold, struct zmpi_range *range);

/* If one of the magnitudes stands apart, *range becomes that of the other values, and names the
 * fill value. If `scan` is collective, all ranks call it equally often. */
void zmpi_fill_exclude(struct zmpi_fill fill, zmpi_fill_scan_fn *scan, void *context,
                       struct zmpi_range *range);

/* For mode abs, which needs no range: if samples show fill values, these and all larger values
 * become exact. */
void zmpi_fill_keep(struct zmpi_job *job, const void *src);

/* zmpi_range_without and the search above together. fills: those that the user names; NULL:
 * none. */
void zmpi_fill_range(enum zmpi_type type, const void *src, size_t count, double threshold,
                     const struct zmpi_fills *fills, int threads, struct zmpi_range *range);

#endif

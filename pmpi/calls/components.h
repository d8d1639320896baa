/*
 * components.h - a write call of several variables (judge/components.h) becomes one call for each
 * of them: with its own range, bound, shape and records, whose extents have a stride.
 */
#ifndef ZMPI_CALLS_COMPONENTS_H
#define ZMPI_CALLS_COMPONENTS_H

#include "calls/write_plan.h"

/* What this rank says of a call: N interleaved components, -N: N blocks; 1: one array; 0: it has
 * nothing to write. Logs what was found in data, once. */
int zcomponents_look(struct zfile *f, const struct zplan *p);

/* All ranks of a collective call have the same: what those with data say alike, else 1. As two
 * numbers whose minima over the ranks are to be had. */
void zcomponents_say(int components, double say[2]);
int zcomponents_agreed(const double said[2]);

/* How many plans a call with these components becomes. */
int zcomponents_count(int components);

/* A call of several components, from now on; with room for one of them. On failure the error is
 * raised, and the plan covers nothing. */
int zcomponents_begin(struct zfile *f, struct zplan *p, int components);

/* The plan of component c, whose data are there until the next one's are; or one that covers
 * nothing. To be given to zplan_free. */
void zcomponents_plan(struct zfile *f, const struct zplan *p, int c, struct zplan *part);

/* Where bytes [begin, begin + bytes) of an interleaved component lie in the file. */
enum zmpi_status zcomponents_extent(const struct zfile *f, const struct zplan *p, uint64_t begin,
                                    uint64_t bytes, struct zmpi_extent *extent);

#endif

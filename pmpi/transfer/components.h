/*
 * components.h - a write call of several variables (judge/components.h): each of its components is
 * an array with its own range, fill values and records, whose extents have a stride.
 */
#ifndef ZMPI_CALLS_COMPONENTS_H
#define ZMPI_CALLS_COMPONENTS_H

#include <stdlib.h>

#include "mpi/runtime.h"
#include "transfer/write_plan.h"

/* What this rank says of a call: N interleaved components, -N: N blocks; 1: one array; 0: it has
 * nothing to write. Logs what was found in data, once. */
int zcomponents_look(struct zfile *f, const struct zplan *p);

/* The ranges of so many components on this rank, if the bound needs them: zplan_range finds that of
 * all by them. */
void zcomponents_range(struct zfile *f, struct zplan *p, int components);

/* All ranks of a collective call have the same: what those with data say alike, else 1. As two
 * numbers whose minima over the ranks are to be had. Rank 0 says once what it loses by that. */
void zcomponents_say(int components, double say[2]);
int zcomponents_agreed(struct zfile *f, int mine, const double said[2]);

/* From now on the plan's pieces are of components, which are not 1, each with its own range. comm:
 * of all ranks that write together, and then *rounds becomes the most pieces that one of them has;
 * MPI_COMM_NULL: this rank alone. On failure the error is raised, and the plan covers nothing. */
int zcomponents_begin(struct zfile *f, struct zplan *p, int components, MPI_Comm comm,
                      uint64_t *rounds);

/* Elements between components of a piece in f->component, whose distance is no power of two then.
 */
enum { ZCOMPONENTS_APART = 16 };
/* The components of a piece of interleaved ones to f->component: elements from one to the next. */
static inline size_t zcomponents_split(struct zfile *f, const struct zplan *p, uint64_t begin,
                                       uint64_t bytes)
{
    const enum zmpi_type type = p->memory.element;
    const size_t points = bytes / zmpi_type_size(type) / (size_t)abs(p->components),
                 plane = points + ZCOMPONENTS_APART;
    zmpi_components_split(type, p->memory.data + begin, points, p->components,
                          zruntime_threads(&f->options), f->component, plane);
    return plane;
}
/* Looks for the bounds that give a ratio; comm as above. */
int zcomponents_search(struct zfile *f, struct zplan *p, MPI_Comm comm);
/* The bound of a ratio that was found, for the component that is coded next; NULL: none was looked
 * for. */
const struct zmpi_ratio_search *zcomponents_bound(const struct zfile *f, struct zplan *p,
                                                  int component);
/* As zplan_encode_next, of interleaved components: a record for each of them. */
int zcomponents_encode_next(struct zfile *f, struct zplan *p, uint64_t *begin);

#endif

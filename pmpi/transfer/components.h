/*
 * components.h - a write call of several variables (judge/components.h): each of its components is
 * an array with its own range, fill values and records, whose extents have a stride.
 */
#ifndef ZMPI_CALLS_COMPONENTS_H
#define ZMPI_CALLS_COMPONENTS_H

#include <stdlib.h>

#include "mpi/runtime.h"
#include "transfer/write_plan.h"

/* What this rank finds in a call: N interleaved components, -N: N blocks, 1: one array, 0: nothing
 * to write. Logs once what was found in data. */
int zcomponents_look(struct zfile *f, const struct zplan *p);

/* Finds the ranges of so many components on this rank, if the bound needs them. zplan_range uses
 * them for the range of all. */
void zcomponents_range(struct zfile *f, struct zplan *p, int components);

/* All ranks of a collective call use the same number: the one that all ranks with data have found,
 * else 1. The minima of two numbers over the ranks give it. If ranks differ, rank 0 logs once what
 * is lost by that. */
void zcomponents_say(int components, double say[2]);
int zcomponents_agreed(struct zfile *f, int mine, const double said[2]);

/* Cuts the plan's pieces by components (not 1), each with its own range. comm: has all ranks that
 * write together, and *rounds becomes the most pieces of any rank; MPI_COMM_NULL: this rank writes
 * alone. On failure the error is raised, and the plan covers nothing. */
int zcomponents_begin(struct zfile *f, struct zplan *p, int components, MPI_Comm comm,
                      uint64_t *rounds);

/* Elements between the components of a piece in f->component, so that their distance is not a power
 * of two. */
enum { ZCOMPONENTS_APART = 16 };
/* Copies the components of an interleaved piece to f->component. Returns the elements from one
 * component to the next. */
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
/* Searches the bounds that give a ratio; comm: as above. */
int zcomponents_search(struct zfile *f, struct zplan *p, MPI_Comm comm);
/* Returns the bound for a ratio that was found for the component that is coded next; NULL: there
 * was no search. */
const struct zmpi_ratio_search *zcomponents_bound(const struct zfile *f, struct zplan *p,
                                                  int component);
/* As zplan_encode_next for interleaved components: makes a record for each of them. */
int zcomponents_encode_next(struct zfile *f, struct zplan *p, uint64_t *begin);

#endif

/*
 * axes_known.h - axes that were chosen for earlier arrays: what fits one step of a simulation fits
 * the next ones (vecSZ III-E). Arrays are compared by type, extents and bound. The absolute bound
 * mostly depends on the range, so it distinguishes variables. A few blocks show whether known axes
 * still fit; each 32nd time all blocks choose anew.
 *
 * So coded bytes depend on earlier arrays, but not on the device: the job has the axes.
 */
#ifndef ZMPI_AXES_KNOWN_H
#define ZMPI_AXES_KNOWN_H

#include "device.h"

/* Of this size and more arrays choose for themselves: that is less than 1 % of coding them. */
#define ZMPI_AXES_KNOWN_BELOW ((size_t)4 << 20)
enum { ZMPI_AXES_ARRAYS = 16 };

/* All 0: nothing is known. The caller's, who has one where data come again: a file, a
 * communicator. Not for two threads at once. */
struct zmpi_axes_known {
    struct zmpi_axes_entry {
        struct zmpi_array array;
        struct zmpi_bound bound; /* as asked */
        double abs_bound;        /* of the last one */
        unsigned sets;           /* that were chosen (axes.h) */
        unsigned empty;          /* choices one after the other by blocks that told nothing */
        double times;            /* the least, that the best set cost in few blocks; or 1 */
        unsigned uses;
    } entry[ZMPI_AXES_ARRAYS];
    unsigned next; /* the entry that was made first */
};

/* Give the job its axes, unless it has some, its bound is still to be found (zmpi_job_open), or its
 * array is as large as that; src in the host's memory. */
void zmpi_axes_recall(struct zmpi_axes_known *known, struct zmpi_job *job, const void *src);

#endif

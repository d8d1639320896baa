/*
 * axes_known.h - axes that were chosen for earlier arrays: what fits one step of a simulation fits
 * the next ones (vecSZ III-E). Arrays are compared by type, extents and bound. The absolute bound
 * mostly depends on the range, so it distinguishes variables. A few blocks show whether known axes
 * still fit, in each array, or in every fourth where they long have; every 32nd time all blocks
 * choose again.
 *
 * So coded bytes depend on earlier arrays, but not on the device, since the job carries the axes.
 */
#ifndef ZMPI_AXES_KNOWN_H
#define ZMPI_AXES_KNOWN_H

#include "device.h"

/* Larger arrays, and those of this size, choose for themselves: that takes less than 1 % of the
 * time of coding them. */
#define ZMPI_AXES_KNOWN_BELOW ((size_t)4 << 20)
enum { ZMPI_AXES_ARRAYS = 16 };

/* All 0: nothing is known. The caller owns it and keeps one for each place to which similar data
 * come again: a file, a communicator. Two threads must not use it at once. */
struct zmpi_axes_known {
    struct zmpi_axes_entry {
        struct zmpi_array array;
        struct zmpi_bound bound; /* as the caller set it */
        double abs_bound;        /* of the last one */
        unsigned sets;           /* chosen so far (axes.h) */
        unsigned last;           /* axes of the last look */
        unsigned alike;          /* looks in a row that gave these */
        double times;            /* cost of the best set over the least cost, in few blocks; or 1 */
        unsigned uses;
    } entry[ZMPI_AXES_ARRAYS];
    unsigned next; /* the oldest entry */
};

/* Gives the job its axes, unless it has some, its bound is still to be found (zmpi_job_open), or
 * its array has ZMPI_AXES_KNOWN_BELOW bytes or more. src is in the host's memory. */
void zmpi_axes_recall(struct zmpi_axes_known *known, struct zmpi_job *job, const void *src);

#endif

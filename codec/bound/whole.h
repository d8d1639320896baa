/*
 * whole.h - whole numbers in floats: counts, flags, material numbers, identifiers, 0.25 mm of rain
 * (format.md 4.4). If all values are multiples of one power of two, and the bound is at most that,
 * the power is the step. Then values come back exactly, and mostly cost less than with the step of
 * the bound.
 */
#ifndef ZMPI_WHOLE_H
#define ZMPI_WHOLE_H

#include "bound/sample.h"
#include "layout/chunk.h"

/* The power of two of which samples of the job's data are multiples, if the job's bound is at most
 * that; else 0. Of one sample in 16 that may be untrue. */
double zmpi_whole_unit(const struct zmpi_job *job, const struct zmpi_sample *s);
/* Are the data, in the host's or a device's memory, whole numbers that never repeat, by samples,
 * which the stream made of them has changed? Identifiers, mostly. */
bool zmpi_whole_identifiers(const struct zmpi_stream_info *info, const void *src);
/* The rule with this step alone, for data that are multiples of it. Without axes. False: the
 * element type has no such step. */
bool zmpi_whole_rule(const struct zmpi_job *job, struct zmpi_chunk_rule *rule);
/* Are all elements of a tile multiples of rule's step, but for those that are exceptions in any
 * case? */
bool zmpi_whole_tile(const struct zmpi_chunk_rule *rule, enum zmpi_type type,
                     const size_t extent[3], const struct zmpi_rows *rows);

#endif

/*
 * rewritten.h - arrays that were decoded, changed in part, and are coded again by the same bound:
 * chunks of HDF5 that a program writes piece by piece. A chunk may have one of three steps
 * (format.md 4.4), by its largest values, and what was made by one of them would move once more by
 * another. So a tile keeps the step that it had, as what was decoded shows.
 */
#ifndef ZMPI_REWRITTEN_H
#define ZMPI_REWRITTEN_H

#include "device.h"
#include "layout/chunk.h"

/* The rule with only that one of its steps of which more elements of a tile than by chance are
 * multiples, but of none of the others. False: there is none. */
bool zmpi_rewritten_rule(const struct zmpi_chunk_rule *rule, enum zmpi_type type,
                         const size_t extent[3], const struct zmpi_rows *rows,
                         struct zmpi_chunk_rule *one);

#endif

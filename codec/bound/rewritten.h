/*
 * rewritten.h - arrays that were decoded, changed in part, and are coded again by the same bound:
 * chunks of HDF5 that a program writes piece by piece. A chunk may have one of three steps
 * (format.md 4.4), which its largest values decide. Values that one step made would move again if
 * the chunk now took another step. So a tile keeps its step, which the decoded values show.
 */
#ifndef ZMPI_REWRITTEN_H
#define ZMPI_REWRITTEN_H

#include "device.h"
#include "layout/chunk.h"

/* The rule with a single step: that of which more elements of a tile are multiples than by chance,
 * and of no other step. False: there is none. */
bool zmpi_rewritten_rule(const struct zmpi_chunk_rule *rule, enum zmpi_type type,
                         const size_t extent[3], const struct zmpi_rows *rows,
                         struct zmpi_chunk_rule *one);

#endif

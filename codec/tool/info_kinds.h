/*
 * info_kinds.h - groups of similar records of a container: similar arrays with similar bounds,
 * mostly of one variable or one component; and the range of their values.
 */
#ifndef ZMPI_INFO_KINDS_H
#define ZMPI_INFO_KINDS_H

#include "bound/fill.h"
#include "format/calls.h"
#include "tool.h"

enum { TOOL_KINDS = 64 };

struct tool_kind {
    struct zmpi_array array;
    struct zmpi_bound bound;
    int encoder;
    unsigned components; /* every n-th element of the file belongs to this kind; 1: they are
                            contiguous */
    uint64_t phase;      /* which of them */
    uint64_t first;      /* the smallest place in the program's file */
    uint64_t records, values, bytes, stored;
    double least, most;      /* absolute bounds */
    struct zmpi_range range; /* of decoded floats without fill values; empty: not known */
};

struct tool_kinds {
    struct tool_kind kind[TOOL_KINDS]; /* the first ones */
    int count;
    uint64_t others; /* records of other kinds */
};

/* Adds a data record. `decode`: also its range; there may be no memory for that. */
enum zmpi_status tool_kinds_add(struct tool_kinds *s, struct tool_input *in,
                                const struct zmpi_record *r, const struct zmpi_stream_info *info,
                                bool decode);
void tool_kinds_print(const struct tool_kinds *s);
void tool_kinds_json(const struct tool_kinds *s);

/* ---- info_calls.c: what the write calls were, if the file tells ---- */

struct tool_calls {
    bool there;
    enum zmpi_status status; /* what is wrong with the list */
    uint64_t bytes;
    struct zmpi_calls list;
};
void tool_calls_print(const struct tool_calls *s);
void tool_calls_json(const struct tool_calls *s);

/* "3x4x5", without leading ones. */
void tool_shape_text(const size_t extent[3], char text[80]);

#endif

/*
 * calls.h - what a file's write calls were, for the report and for a section of the file (format.md
 * 2.10): so that people find the number of a call that a rule needs.
 */
#ifndef ZMPI_CALLS_H
#define ZMPI_CALLS_H

#include <stdio.h>

#include "format/format.h"

/* Where a call's shape is from. The numbers are in files. */
enum zmpi_shape_from {
    ZMPI_SHAPE_NONE, /* one row */
    ZMPI_SHAPE_SET,
    ZMPI_SHAPE_VIEW,
    ZMPI_SHAPE_DATATYPE,
    ZMPI_SHAPE_RUNS, /* of the view, in the file */
    ZMPI_SHAPE_DATA
};
const char *zmpi_shape_from_name(enum zmpi_shape_from from);

/* Why a call is exact. The numbers are in files. */
enum zmpi_exact_why {
    ZMPI_EXACT_NOT, /* it is not */
    ZMPI_EXACT_SET,
    ZMPI_EXACT_SMALL,
    ZMPI_EXACT_TYPE,     /* no floats */
    ZMPI_EXACT_MISTYPED, /* not the floats that they are written as */
    ZMPI_EXACT_FORMAT    /* the file is of a known format */
};
const char *zmpi_exact_name(enum zmpi_exact_why why);

/* Of a file, and components of a call. */
enum { ZMPI_CALLS_MOST = 64, ZMPI_CALL_PARTS = 8 };

/* Calls in a row that are alike. What is not known is NaN. */
struct zmpi_call {
    uint32_t first, last; /* their numbers, from 1 on */
    int64_t rank;         /* whose own calls; -1: collective ones, all ranks together */
    enum zmpi_type type;
    int components; /* < 0: one behind the other */
    int encoder;    /* of most bytes; 0: not known */
    enum zmpi_exact_why exact;
    enum zmpi_shape_from shape_from;
    uint64_t shape[3];       /* of a component, on one rank; 0: not known */
    struct zmpi_bound bound; /* asked for */
    uint64_t values;         /* of one call */
    uint64_t raw, stored;    /* bytes of the records that hold these calls alone */
    bool sampled;            /* ranges are those of samples */
    unsigned parts;          /* components of which this is known: */
    struct zmpi_call_part {
        double min, max, abs_bound, error; /* error: the largest on samples */
    } part[ZMPI_CALL_PARTS];
};

struct zmpi_calls {
    bool appended; /* there were data before */
    bool more;     /* there were more calls */
    unsigned count;
    struct zmpi_call call[ZMPI_CALLS_MOST];
};

/* The members of a JSON object. */
void zmpi_call_json(FILE *out, const struct zmpi_call *call);

/* ---- the section ---- */

/* Where the header points to it. */
#define ZMPI_CALLS_AT      464
#define ZMPI_CALLS_POINTER 32
#define ZMPI_CALLS_LEAST   144 /* bytes of the smallest section */
#define ZMPI_CALLS_LONGEST ((uint64_t)64 << 10)

size_t zmpi_calls_size(const struct zmpi_calls *calls);
void zmpi_calls_encode(const struct zmpi_calls *calls, unsigned char *dst);
/* Makes its hash for a place, which may be done again for another one. */
void zmpi_calls_seal(unsigned char *section, size_t size, const unsigned char id[16],
                     uint64_t offset);
/* Of untrusted bytes. ZMPI_ERR_CHECKSUM, _VERSION, _CORRUPT. */
enum zmpi_status zmpi_calls_decode(struct zmpi_calls *calls, const unsigned char id[16],
                                   uint64_t offset, const unsigned char *section, size_t size);
/* What the header says of a section. It belongs to an index with this tally and to no other. */
void zmpi_calls_point(const unsigned char id[16], uint64_t offset, size_t size, uint64_t tally,
                      unsigned char dst[ZMPI_CALLS_POINTER]);

#endif

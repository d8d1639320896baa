/*
 * notes.h - notes the first write calls of a file, one by one, for the JSON report and for
 * ZMPI_LOG=info. Users take the numbers for rules ([field*.bin #7]) from the report.
 */
#ifndef ZMPI_NOTES_H
#define ZMPI_NOTES_H

#include "stream/measured.h"
#include <stdbool.h>

/* How many collective calls are noted, how many independent ones, and how many components of each.
 */
enum { ZNOTES = 64, ZNOTE_PARTS = 8 };

/* Where a call's shape is from. */
enum zshape_from {
    ZSHAPE_NONE, /* one row */
    ZSHAPE_SET,
    ZSHAPE_VIEW,
    ZSHAPE_DATATYPE,
    ZSHAPE_RUNS, /* of the view, in the file */
    ZSHAPE_DATA
};
const char *zshape_from_name(enum zshape_from from);

/* Why a call is exact. */
enum zexact_why {
    ZEXACT_NOT, /* it is not */
    ZEXACT_SET,
    ZEXACT_SMALL,
    ZEXACT_TYPE,     /* no floats */
    ZEXACT_MISTYPED, /* not the floats that they are written as */
    ZEXACT_FORMAT    /* the file is of a known format */
};
const char *zexact_name(enum zexact_why why);

/* This rank's part of a call. Plain data: it travels as bytes. */
struct znote {
    enum zmpi_type type; /* 0: nothing was written */
    int components;      /* as in zmpi_options, 1: one array */
    size_t shape[3];     /* of one component, on this rank */
    enum zshape_from shape_from;
    enum zexact_why exact;
    struct zmpi_bound bound;
    double values;
    double raw,
        stored; /* bytes of records that hold this call alone, as they were and in the file */
    double abs_bound[ZNOTE_PARTS];              /* those in force, of each component */
    struct zmpi_measured measured[ZNOTE_PARTS]; /* on samples */
    double records[ZNOTE_PARTS];
    struct zmpi_range range[ZNOTE_PARTS]; /* empty: not known */
    struct zmpi_fills fills;              /* two of those that the range is without */
};

struct znotes {
    struct znote collective[ZNOTES], independent[ZNOTES];
};

struct zfile;
struct zpiece;
struct zplan;

/* Allocates a file's notes, unless it has them. False: no memory. */
bool znotes_make(struct zfile *f);
/* The note of the call that is being coded; NULL: none is made. */
struct znote *znote_now(struct zfile *f);
/* Notes that a piece of the call became a record. */
void znote_coded(struct zfile *f, const struct zpiece *piece, const struct zmpi_stream *s,
                 uint64_t stored);
/* Are the note's ranges from samples only, since the bound needed none? */
bool znote_has_samples(const struct znote *note);
/* The smallest magnitude of a fill value that was found; +inf: none was. */
double znote_fill(const struct znote *note);
/* Logs what was decided for the call, unless it is the same as for the one before. */
void znote_say(const struct zfile *f, const struct znote *note);

#endif

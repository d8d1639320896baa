/*
 * notes.h - notes the first write calls of a file, one by one, for the JSON report, ZMPI_LOG=info
 * and the file itself (format.md 2.10). Users take the numbers for rules ([field*.bin #7]) from
 * them.
 */
#ifndef ZMPI_NOTES_H
#define ZMPI_NOTES_H

#include <stdbool.h>

#include "format/calls.h"
#include "stream/measured.h"

/* How many collective calls are noted, how many independent ones, and how many components of each.
 */
enum { ZNOTES = ZMPI_CALLS_MOST, ZNOTE_PARTS = ZMPI_CALL_PARTS };

/* This rank's part of a call. Plain data: it travels as bytes. */
struct znote {
    enum zmpi_type type; /* 0: nothing was written */
    int components;      /* as in zmpi_options, 1: one array */
    size_t shape[3];     /* of one component, on this rank */
    enum zmpi_shape_from shape_from;
    enum zmpi_exact_why exact;
    struct zmpi_bound bound;
    double values;
    double raw,
        stored; /* bytes of records that hold this call alone, as they were and in the file */
    double abs_bound[ZNOTE_PARTS];              /* those in force, of each component */
    struct zmpi_measured measured[ZNOTE_PARTS]; /* on samples */
    double records[ZNOTE_PARTS];
    double by[4];                         /* bytes that encoder 1, 2 or 3 coded */
    struct zmpi_range range[ZNOTE_PARTS]; /* empty: not known */
    struct zmpi_fills fills;              /* two of those that the range is without */
};

enum { ZNOTES_OWN, ZNOTES_COLLECTIVE, ZNOTES_KINDS };
struct znotes {
    struct znote *note[ZNOTES_KINDS]; /* malloc */
    size_t count[ZNOTES_KINDS];
    bool summed; /* rank 0 has what all ranks know, and the own calls of `rank` */
    int rank;    /* -1: nobody had any */
};

struct zfile;
struct zpiece;
struct zplan;

/* Makes notes of the first n calls, unless they are there. False: no memory. */
bool znotes_have(struct zfile *f, int kind, size_t n);
void znotes_free(struct zfile *f);
/* Does somebody look closely at calls: are their errors measured, whatever it takes? */
bool znotes_wanted(void);
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

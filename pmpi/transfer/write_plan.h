/*
 * write_plan.h - one write call on this rank, in pieces: the covered bytes, shape, range, and the
 * bound that gives a ratio.
 */
#ifndef ZMPI_WRITE_PLAN_H
#define ZMPI_WRITE_PLAN_H

#include <stddef.h>
#include <string.h>

#include "bound/fill.h"
#include "transfer/transfer.h"

/* A call on this rank, ready to be cut into pieces. */
struct zplan {
    struct zmemory memory;
    uint64_t position;    /* in the view */
    struct zmpi_run *run; /* logical runs of the whole call */
    size_t runs;
    struct zmpi_extent extent;
    size_t shape[3]; /* of the call's elements */
    enum zmpi_shape_from shape_from;
    /* As in zmpi_options, after the call was taken apart (components.c); then `shape` is that of
     * one component. 0: one array. */
    int components;
    uint64_t most;    /* bytes of a piece, unless one row has more */
    uint64_t piece;   /* bytes per piece: whole planes or rows, if they fit */
    size_t most_runs; /* of a piece, so that its list fits a record's place */
    bool small;       /* up to ZMPI_EXACT_BELOW values, of all ranks if it is collective: exact */
    bool searched;
    bool sampled; /* taken[] is the memory's */
    int ranged;   /* components whose range[] is known on this rank; 0: none */
    /* What follows is large, and set by those who use it: small calls are many. */
    struct zmpi_taken taken;                       /* the call's sample, if sampled */
    struct zmpi_range range[ZMPI_COMPONENTS_MOST]; /* of each component */
    /* Of each component, or [0] of one array: values that are exact and not in the range: those
     * that the user names, and others that were found. */
    struct zmpi_fills fills[ZMPI_COMPONENTS_MOST];
    int place[ZMPI_COMPONENTS_MOST]; /* for a ratio: by which each was coded */
    struct zmpi_ratio_search search; /* ratio: of the whole call, if searched */
};

/* A plan that covers nothing. */
static inline void zplan_clear(struct zplan *p)
{
    memset(p, 0, offsetof(struct zplan, taken));
}

/* Flattens datatype and view, and checks the arguments. Pieces have at most `most` bytes, if the
 * shape allows it. On failure the error is raised, and the plan covers nothing. */
int zplan_make(struct zfile *f, const struct zrequest *r, uint64_t most, struct zplan *p);
/* Finds the shape: what the program sets, else from the view's datatype, else from the buffer's,
 * else from the runs, else one dimension. */
void zplan_find_shape(struct zfile *f, struct zplan *p);
/* Finds the shape in the data of a call that is one array, if nothing else gave one. */
void zplan_look_for_shape(struct zfile *f, struct zplan *p);
/* Finds the shape in the data of the first of `of` interleaved components, if it shows one; or (1)
 * in the first `count` elements. */
void zplan_shape_of_data(struct zfile *f, struct zplan *p, int of, size_t count);
void zplan_free(struct zplan *p); /* then it covers nothing */

/* Returns the sample of the call's data, taken once. */
const struct zmpi_taken *zplan_sample(struct zplan *p);

/* If `status` is an error, raises it; then the plan covers nothing. */
int zplan_failed(struct zfile *f, struct zplan *p, enum zmpi_status status, const char *what);

/* Bytes that the records of a piece may take in the outbox. */
size_t zplan_capacity(const struct zplan *p);

/* Bytes of the piece that begins at `begin`, which is below the end. */
uint64_t zplan_cut(const struct zfile *f, const struct zplan *p, uint64_t begin);
/* How many pieces there are, if none of them is cut in two for its runs (most_runs). */
uint64_t zplan_pieces(const struct zfile *f, const struct zplan *p);

/* Finds the range of this rank's values if the bound needs one, else an empty one. *fill: possible
 * fill values among them. */
int zplan_range(struct zfile *f, struct zplan *p, struct zmpi_range *range, struct zmpi_fill *fill);
/* Makes *range that without fill values. comm: has all ranks that write together, which have the
 * same range and fill; MPI_COMM_NULL: this rank writes alone. p->fills[0] gets what was found. */
void zplan_exclude(struct zfile *f, struct zplan *p, struct zmpi_fill fill, MPI_Comm comm,
                   struct zmpi_range *range);

/* Returns the floats of the call on this rank. */
static inline uint64_t zplan_floats(const struct zplan *p)
{
    const enum zmpi_type type = p->memory.element;
    return type == ZMPI_F32 || type == ZMPI_F64 ? p->memory.bytes / zmpi_type_size(type) : 0;
}

bool zplan_wants_ratio(const struct zfile *f, const struct zplan *p);

/* Finds the bound that gives the ratio, once for all pieces. comm: has all ranks that write
 * together, even those without lossy data; MPI_COMM_NULL: this rank writes alone. */
int zplan_search_ratio(struct zfile *f, struct zplan *p, const struct zmpi_range *range,
                       bool trials, MPI_Comm comm);

/* Codes the piece at *begin into the outbox and moves on to the next. range: of the call, if it is
 * one array. */
int zplan_encode_next(struct zfile *f, struct zplan *p, uint64_t *begin,
                      const struct zmpi_range *range);

#endif

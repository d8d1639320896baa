/*
 * ratio.h - the bound that gives a ratio (format.md 4.8; CEAZ 3.2.2): a search estimates from
 * samples how large streams would be by a ladder of bounds; what misses the target all the same is
 * compressed again. Data that are compressed only once are tried first: whole chunks of them are
 * coded, all where these are not many, until the bound is right.
 *
 *     struct zmpi_ratio_search s;
 *     zmpi_ratio_search_begin(&s, &job, trials);
 *     do {
 *         zmpi_ratio_search_add(&s, &array, src);    each part of the data; then s.sum of all ranks
 *     } while (zmpi_ratio_search_next(&s));
 *     zmpi_ratio_search_apply(&s, &job);
 */
#ifndef ZMPI_RATIO_H
#define ZMPI_RATIO_H

#include <limits.h>

#include "bound/bound.h"
#include "bound/steady.h"
#include "device.h"
#include "layout/chunk.h"

/* Bounds that one round of a search asks about, at most. */
enum { ZMPI_RATIO_RUNGS = 13 };

/* What was coded by one rung's bound. */
struct zmpi_try {
    int rung;
    double bytes;
};

/* The search among what was coded. */
struct zmpi_fit {
    double target;    /* bytes */
    double tolerance; /* as a part of them */
    double steepest;  /* bytes for a rung: a bit of each element for an octave (CEAZ equation 2) */
    double slope;     /* the slope measured here, as far as known */
    struct zmpi_try now, best;
    struct zmpi_try too_large, too_small; /* the nearest ones; rung -1: none */
    int tries, most;
};

/* The same on all ranks, but for `sum` before it is added up. */
struct zmpi_ratio_search {
    double ratio, top, keep; /* rung 0 is the largest bound of the grid below top */
    struct zmpi_fills fills;
    int encoder;
    enum zmpi_variant variant;
    bool trials;
    double part;                   /* trials: of all chunks, how many are coded */
    int round, first, step, rungs; /* rungs first, first + step, ...: 32 of them halve the bound */
    struct zmpi_ratio_search_sum {
        uint64_t raw;                     /* bytes of the data */
        uint64_t exact;                   /* of streams without loss, but for their headers */
        uint64_t coded[ZMPI_RATIO_RUNGS]; /* by each rung's bound */
        uint64_t samples, multiples[ZMPI_STEADY_SUMS]; /* steady.h */
    } sum;
    bool apart;  /* parts of the data have ranges of their own */
    int place;   /* then: that by which the part whose turn it is was coded before */
    bool coarse; /* one of these places is so coarse that the ratio need not be reached */
    int prime;   /* rungs prime, prime + 32, ... share a prime that divides the data; -1: none */
    int known;   /* the rung by which the data were coded before; -1: none */
    int found, rung; /* by the search; what is to be coded by */
    double slope;    /* bytes that one rung more costs there, for each byte of data */
    bool exact;      /* without loss the ratio is reached too */
    struct zmpi_fit fit;
};

enum { ZMPI_RATIO_SUMS = sizeof(struct zmpi_ratio_search_sum) / sizeof(uint64_t) };

/* job: an open one, of any part of the data. trials: see how large whole chunks become, since
 * nothing will be compressed twice. */
void zmpi_ratio_search_begin(struct zmpi_ratio_search *s, const struct zmpi_job *job, bool trials);
void zmpi_ratio_search_add(struct zmpi_ratio_search *s, const struct zmpi_array *array,
                           const void *src);
/*
 * For data of several variables with ranges of their own. One rung is for all of them, so that
 * each bound is the same part of its variable's range. job, an open one, is of the variable that
 * is added next, or that the search is applied to next.
 */
void zmpi_ratio_search_use(struct zmpi_ratio_search *s, const struct zmpi_job *job, int place);
/*
 * Data that were coded before get the same bounds again. After the last turn of a round in which
 * zmpi_ratio_search_asks returns true, zmpi_ratio_search_place gives the search the place in the
 * grid by which the current part was coded: NONE if there is none, UNSEEN if its samples tell
 * nothing. If all ranks' parts of all variables have a place, each its own, the search uses it
 * in every turn from then on.
 */
enum { ZMPI_RATIO_NONE = INT_MIN, ZMPI_RATIO_UNSEEN = INT_MAX };
bool zmpi_ratio_search_asks(const struct zmpi_ratio_search *s);
int zmpi_ratio_search_place(const struct zmpi_ratio_search *s, const struct zmpi_array *array,
                            const void *src);
/* Of one variable, whose job it is; then the search takes all places. */
void zmpi_ratio_search_take(struct zmpi_ratio_search *s, const struct zmpi_job *job, int place);
/* Is another round needed? */
bool zmpi_ratio_search_next(struct zmpi_ratio_search *s);
/* Gives the job the bound that was found. */
void zmpi_ratio_search_apply(const struct zmpi_ratio_search *s, struct zmpi_job *job);
/* All data, `raw` bytes, became `coded` bytes by that bound, headers of streams left out. True:
 * that is too far from the ratio, and there is a better bound now, by which the caller codes them
 * again. */
bool zmpi_ratio_search_correct(struct zmpi_ratio_search *s, uint64_t raw, uint64_t coded);

/*
 * Compresses src by the bound of a search of src alone. Compresses again by other bounds while
 * the stream, its header left out, is more than 4 % from what was asked: at most twice, or seven
 * times if there are less than 4 MiB, and more often where the search was quite wrong.
 */
enum zmpi_status zmpi_ratio_compress(struct zmpi_ratio_search *s, const struct zmpi_device *device,
                                     const struct zmpi_job *job, void *dst, size_t capacity,
                                     const void *src, size_t *size);

/* ---- inside the codec ---- */

/* Adds to s->sum what tells whether the data are decoded ones. */
void zmpi_ratio_search_sample(struct zmpi_ratio_search *s, const struct zmpi_array *array,
                              const void *src);
/* The bound of rung `first + k * step`. */
double zmpi_ratio_search_bound(const struct zmpi_ratio_search *s, enum zmpi_type type, int k);
/* Is this round a trial? Then whole chunks are samples. */
bool zmpi_ratio_search_is_trial(const struct zmpi_ratio_search *s);
/* Number of samples to take of an array of this many chunks. */
size_t zmpi_ratio_search_samples(const struct zmpi_ratio_search *s, size_t chunks);

#endif

/*
 * ratio.h - the bound that gives a ratio (format.md 4.8; CEAZ 3.2.2). A search codes samples by a
 * ladder of bounds and estimates from them how large streams become. A stream that misses the
 * target all the same is compressed again. If the caller can compress only once, the search makes
 * trials first: it codes whole chunks, or all of them if they are few, until the bound is right.
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

/* Bounds that a search tries in one round, at most. */
enum { ZMPI_RATIO_RUNGS = 13 };

/* What one rung's bound gave. */
struct zmpi_try {
    int rung;
    double bytes;
};

/* The search among rungs that were coded. */
struct zmpi_fit {
    double target;    /* bytes */
    double tolerance; /* as a part of the target */
    double steepest;  /* the most bytes that one rung can change: one bit of each element per octave
                         (CEAZ equation 2) */
    double slope;     /* the slope measured here, once it is known */
    struct zmpi_try now, best;
    struct zmpi_try too_large, too_small; /* the nearest rungs on either side; rung -1: none */
    int tries, most;
};

/* The same on all ranks, except `sum` before the ranks add it up. */
struct zmpi_ratio_search {
    double ratio, top, keep; /* rung 0 is the largest bound of the grid below top */
    struct zmpi_fills fills;
    int encoder;
    enum zmpi_variant variant;
    bool trials;
    double part;                   /* trials: the part of all chunks that is coded */
    int round, first, step, rungs; /* rungs first, first + step, ...; 32 rungs halve the bound */
    struct zmpi_ratio_search_sum {
        uint64_t raw;                     /* bytes of the data */
        uint64_t exact;                   /* of lossless streams, without their headers */
        uint64_t coded[ZMPI_RATIO_RUNGS]; /* with each rung's bound */
        uint64_t samples, multiples[ZMPI_STEADY_SUMS]; /* steady.h */
    } sum;
    bool apart;  /* parts of the data have ranges of their own */
    int place;   /* then: the place by which the current part was coded before */
    bool coarse; /* one of these places is so coarse that it need not reach the ratio */
    int prime;   /* rungs prime, prime + 32, ... have steps of the prime that divides the data; -1:
                    none */
    int known;   /* the rung by which the data were coded before; -1: none */
    int found, rung; /* found: by the search; rung: by which the data are to be coded */
    double slope;    /* bytes per byte of data that one more rung costs there */
    bool exact;      /* lossless reaches the ratio, too */
    struct zmpi_fit fit;
};

enum { ZMPI_RATIO_SUMS = sizeof(struct zmpi_ratio_search_sum) / sizeof(uint64_t) };

/* job: one without a bound, for any part of the data. trials: the caller compresses only once, so
 * the search codes whole chunks until it is sure. */
void zmpi_ratio_search_begin(struct zmpi_ratio_search *s, const struct zmpi_job *job, bool trials);
void zmpi_ratio_search_add(struct zmpi_ratio_search *s, const struct zmpi_array *array,
                           const void *src);
/*
 * For data of several variables with ranges of their own. All use one rung, so that each bound is
 * the same part of its variable's range. job, which has no bound yet, belongs to the variable that
 * is added next, or that gets its bound next.
 */
void zmpi_ratio_search_use(struct zmpi_ratio_search *s, const struct zmpi_job *job, int place);
/* Instead, for a variable without a bound to find, whose values are all the same: it takes next to
 * no room, and so leaves more to the others. */
void zmpi_ratio_search_constant(struct zmpi_ratio_search *s, const struct zmpi_array *array);
/*
 * Data that were coded before get the same bounds again. After the last variable of a round in
 * which zmpi_ratio_search_asks returns true, zmpi_ratio_search_place tells the search the place in
 * the grid by which the current part was coded: NONE if there is none, UNSEEN if its samples do not
 * show it. If all parts of all variables on all ranks have a place, the search uses these places
 * from then on.
 */
enum { ZMPI_RATIO_NONE = INT_MIN, ZMPI_RATIO_UNSEEN = INT_MAX };
bool zmpi_ratio_search_asks(const struct zmpi_ratio_search *s);
int zmpi_ratio_search_place(const struct zmpi_ratio_search *s, const struct zmpi_array *array,
                            const void *src);
/* For a single variable, whose job this is: the search then takes all places. */
void zmpi_ratio_search_take(struct zmpi_ratio_search *s, const struct zmpi_job *job, int place);
/* Is another round needed? */
bool zmpi_ratio_search_next(struct zmpi_ratio_search *s);
/* Gives the job the bound that was found. */
void zmpi_ratio_search_apply(const struct zmpi_ratio_search *s, struct zmpi_job *job);
/* With that bound all data, `raw` bytes, became `coded` bytes, without headers of streams. True:
 * that misses the ratio, and the search has a better bound now, by which the caller codes them
 * again. */
bool zmpi_ratio_search_correct(struct zmpi_ratio_search *s, uint64_t raw, uint64_t coded);

/*
 * Searches a bound for src alone, and compresses src by it. It compresses again by other bounds
 * while the stream, without its header, misses the target by more than 4 %: at most twice, or seven
 * times for less than 4 MiB, and more often if the search was quite wrong.
 */
enum zmpi_status zmpi_ratio_compress(struct zmpi_ratio_search *s, const struct zmpi_device *device,
                                     const struct zmpi_job *job, void *dst, size_t capacity,
                                     const void *src, size_t *size);

/* ---- inside the codec ---- */

/* Adds to s->sum what shows whether the data were decoded. */
void zmpi_ratio_search_sample(struct zmpi_ratio_search *s, const struct zmpi_array *array,
                              const void *src);
/* The bound of rung `first + k * step`. */
double zmpi_ratio_search_bound(const struct zmpi_ratio_search *s, enum zmpi_type type, int k);
/* Is this round a trial, with whole chunks as samples? */
bool zmpi_ratio_search_is_trial(const struct zmpi_ratio_search *s);
/* Number of samples to take of an array of this many chunks. */
size_t zmpi_ratio_search_samples(const struct zmpi_ratio_search *s, size_t chunks);

#endif

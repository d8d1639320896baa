/*
 * trial.h - sizes of arrays by several bounds and encoders, estimated from samples; the coded
 * samples are dropped.
 */
#ifndef ZMPI_TRIAL_H
#define ZMPI_TRIAL_H

#include "zmpi_codec.h"

#include <stdbool.h>

enum {
    ZMPI_TRIAL_USER = 0, /* the user's bound; then lossless, rel=1e-2 to 1e-5 */
    ZMPI_TRIAL_BOUNDS = 6,
    ZMPI_TRIAL_ENCODERS = 3 /* number i is encoder i + 1 */
};

/* Sums over samples, each of which stands for `raw` bytes. Only doubles, so that MPI can add them
 * up. */
struct zmpi_trial_sum {
    double raw, coded, seconds;
};

struct zmpi_trials {
    struct zmpi_trial_sum sum[ZMPI_TRIAL_BOUNDS][ZMPI_TRIAL_ENCODERS];
    double floats, whole; /* bytes of floats among the samples; of these, bytes of whole numbers */
};

/* The largest absolute bound that each bound became, and that bound as a part of its call's
 * range. */
struct zmpi_trial_most {
    double bound[ZMPI_TRIAL_BOUNDS], share[ZMPI_TRIAL_BOUNDS];
};

/* An array, of which a part is coded. */
struct zmpi_trial_array {
    struct zmpi_array array;
    const void *data; /* in the host's memory */
    double bytes;     /* bytes that the array stands for */
    bool exact;       /* exact whatever the bound */
    const struct zmpi_bound *user;
    const struct zmpi_range *range; /* of the whole call */
    double threshold;
};

/* Bound number i; number ZMPI_TRIAL_USER is the user's. */
struct zmpi_bound zmpi_trial_bound(int i, const struct zmpi_bound *user);
/* Codes a part of the array, first by the fast encoders, until that would take more than `left`
 * seconds of processor time. */
void zmpi_trials_add(struct zmpi_trials *t, struct zmpi_trial_most *most,
                     const struct zmpi_trial_array *a, double left);

#endif

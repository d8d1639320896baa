/* interp_choice.h - what a choice of prediction knows (format.md 4.10): what sets cost by samples.
 */
#ifndef ZMPI_INTERP_CHOICE_H
#define ZMPI_INTERP_CHOICE_H

#include "interp/interp.h"
#include "layout/plan.h"

enum { ZMPI_INTERP_SAMPLES = 4 };

/* Bits for each element: by all samples, and by the first ones, from one on. */
struct cost {
    bool known;   /* the data seem to be decoded by the set */
    uint64_t sum; /* of all samples */
    double bits, first[ZMPI_INTERP_SAMPLES];
    size_t elements; /* of a sample, at most */
};

/* That of a set that nobody wants. */
extern const struct cost zmpi_interp_endless;

struct tried {
    struct zmpi_interp_set set;
    struct cost cost;
};

struct choice {
    const struct zmpi_plan *plan;
    const struct zmpi_interp_rule *rule;
    const unsigned char *src;
    struct zmpi_interp_work **work; /* the thread's, for one sample after another; NULL: none yet */
    int threads;
    unsigned axes, lag;                            /* of the array; 0: no lag */
    size_t elements;                               /* of a sample, at most */
    size_t from, samples;                          /* the first sample; samples at most */
    bool chunks;                                   /* samples are chunks of the set's tiles */
    struct tried best, of[ZMPI_INTERP_PLANES + 1]; /* of all; of each family */
    const struct tried *had; /* of families: the best by samples before `from`, or by small ones */
    bool tells;              /* decoded values give their integers back */
    bool fresh;              /* no sample looks decoded at all */
    bool failed;             /* no memory */
};

#define ZMPI_ALL_AXES (ZMPI_AXIS_X | ZMPI_AXIS_Y | ZMPI_AXIS_Z)

/* Tiles are as long as possible along axes of prediction. */
static inline unsigned tile_axes(const struct zmpi_interp_set *set)
{
    return set->axes | (set->family == ZMPI_INTERP_PLANES ? ZMPI_AXIS_Z : 0);
}

/* Measures what the set costs; it had `cost` by the samples before c->from. choose: first chooses
 * its ways, by the middle sample. Stops where fresh data take more than `most`: then the cost is
 * endless, as it is without memory. */
struct cost zmpi_interp_measure(struct choice *c, struct zmpi_interp_set *set, bool choose,
                                const struct cost *most, struct cost cost);

#endif

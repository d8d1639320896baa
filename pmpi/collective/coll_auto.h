/* coll_auto.h - the fastest way for a collective's data: raw, or by which encoder. */
#ifndef ZMPI_COLL_AUTO_H
#define ZMPI_COLL_AUTO_H

#include "collective/coll.h"

/* The ways that there are; the first is an encoder. */
struct zauto_ways {
    int first;
    bool may[ZWAYS];
};

/* ---- coll_rule.c ---- */

/* Do these settings select the operation, with whatever bound? */
bool zrule_wanted(const struct zmpi_options *o, enum zop op);
/* May measured times, which are others in each run, decide what becomes of any data? */
bool zrule_by_time(const struct zcall *c);
/* Is the call large enough to be compressed? */
bool zrule_enough(const struct zcall *c);
/* May calls go raw that ask nobody, and so do not know what data the others have? */
bool zrule_may_skip(const struct zcall *c);
/* After the agreement: the ways that time may choose from. */
struct zauto_ways zrule_ways(const struct zcall *c);

/* ---- coll_auto.c ---- */

int zauto_class(uint64_t bytes);
/* What other size classes of the operation tell of one in which nothing was measured yet. */
void zauto_begin(struct zmeasured of_class[ZCLASSES], int size_class);
/* A measurement, the largest of all ranks in each of its numbers. */
void zauto_learn(struct zcomm *s, const struct zpending *p);
/* Seconds of it that went to the network. */
double zauto_link(const struct zpending *p);
/* The next call's way. all_know: the following ones may go raw without an agreement. */
int zauto_choose(struct zmeasured *m, const struct zauto_ways *ways, bool all_know);
/* Seconds per byte of the largest block, measured or estimated; 0: not known. */
double zauto_expected(const struct zmeasured *m, int way);
/* Seconds that a call that was learned from took less than the other way would have: what that was
 * measured to take, or estimated from messages of like size. 0: not known. */
double zauto_saved(const struct zcomm *s, const struct zpending *p);
/* A compressed call took so long, and saved so much (< 0: lost). True once: all together have lost
 * what somebody would want to know of. */
bool zauto_costs(struct zlosses *l, double elapsed, double saved);

#endif

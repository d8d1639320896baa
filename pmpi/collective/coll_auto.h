/* coll_auto.h - finds the fastest way for a collective's data: raw, or by which encoder. */
#ifndef ZMPI_COLL_AUTO_H
#define ZMPI_COLL_AUTO_H

#include "collective/coll.h"

/* The possible ways; the first is an encoder. */
struct zauto_ways {
    int first;
    bool may[ZWAYS];
};

/* ---- coll_rule.c ---- */

/* Do these settings select the operation, with whatever bound? */
bool zrule_wanted(const struct zmpi_options *o, enum zop op);
/* May measured times, which differ from run to run, decide how any data are sent? */
bool zrule_by_time(const struct zcall *c);
/* Is the call large enough to be compressed? */
bool zrule_enough(const struct zcall *c);
/* May calls go raw without an agreement, that is without knowing the other ranks' data? */
bool zrule_may_skip(const struct zcall *c);
/* After the agreement: is the call compressed whatever it takes? */
bool zrule_is_fixed(const struct zcall *c);
/* After the agreement: the ways that time may choose from. */
struct zauto_ways zrule_ways(const struct zcall *c);

/* ---- coll_auto.c ---- */

int zauto_class(uint64_t bytes);
/* Estimates a size class without measurements from the operation's other classes. */
void zauto_begin(struct zmeasured of_class[ZCLASSES], int size_class);
/* Adds a measurement: each number is the largest of all ranks. */
void zauto_learn(struct zcomm *s, const struct zpending *p);
/* Returns the seconds of a call that went to the network. */
double zauto_link(const struct zpending *p);
/* Chooses the next call's way. all_know: the following calls may go raw without an agreement. */
int zauto_choose(struct zmeasured *m, const struct zauto_ways *ways, bool all_know);
/* Returns the seconds per byte of the largest block, measured or estimated; 0: unknown. */
double zauto_expected(const struct zmeasured *m, int way);
/* Returns the seconds that a measured call saved compared with the other way, measured or estimated
 * from messages of similar size; by the fixed rule only measured. 0: unknown. */
double zauto_saved(const struct zcomm *s, const struct zpending *p);
/* Adds a compressed call, its time and what it saved (< 0: lost; 0: unknown, the call does not
 * count). True once: when all calls together have lost enough to tell the user. */
bool zauto_costs(struct zlosses *l, double elapsed, double saved);
/* By the fixed rule: calls have taken so long that it should be known how long they take raw. */
bool zauto_wants_raw(const struct zmeasured *m);
/* Takes that time, for a byte of the largest block; infinite: it could not be had. */
void zauto_timed_raw(struct zmeasured *m, double per_byte);

/* ---- coll_probe.c ---- */

/* Sends as many bytes as the call has raw, and takes the time. Collective; whatever happens, the
 * call goes on. */
void zprobe_raw(const struct zcall *c, struct zmeasured *m);

#endif

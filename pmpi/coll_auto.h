/* coll_auto.h - whether compressing makes a collective faster. */
#ifndef ZMPI_COLL_AUTO_H
#define ZMPI_COLL_AUTO_H

#include "coll.h"

int zauto_class(uint64_t bytes);
/* A measurement, the largest of all ranks in each of its numbers. */
void zauto_learn(struct zcomm *s, const struct zpending *p);
/* Compress the next call? all_know: the following ones may go raw without an agreement. */
bool zauto_choose(struct zmeasured *m, bool all_know);
/* Seconds per byte of the largest block; 0: not known. */
double zauto_raw(const struct zmeasured *m);
double zauto_compressed(const struct zmeasured *m);

#endif

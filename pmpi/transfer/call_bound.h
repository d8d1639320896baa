/* call_bound.h - the bound and the fill value of one write call. */
#ifndef ZMPI_CALL_BOUND_H
#define ZMPI_CALL_BOUND_H

#include "file/zfile.h"

/* The number-th collective call of the file, or independent one of this rank, begins: f->options
 * get its bound. What is staged keeps the bound that it was given under. */
int zcall_bound(struct zfile *f, uint64_t number, bool collective);

#endif

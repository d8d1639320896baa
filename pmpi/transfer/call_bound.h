/* call_bound.h - the bound and the fill value of one write call. */
#ifndef ZMPI_CALL_BOUND_H
#define ZMPI_CALL_BOUND_H

#include "file/zfile.h"

/* Begins the number-th collective call of the file, or independent call of this rank: sets its
 * bound in f->options. Staged data keep the bound that they were written with. */
int zcall_bound(struct zfile *f, uint64_t number, bool collective);

#endif

/* trim.h - the room of data that were overwritten goes back to the file system at close. */
#ifndef ZMPI_PMPI_TRIM_H
#define ZMPI_PMPI_TRIM_H

#include "file/zfile.h"

/* Rank 0 of a writer whose session begins, with header and records read. */
void ztrim_begin(struct zfile *f);

/* Rank 0, all being placed: how many bytes all ranks together must have written since open for
 * ztrim to be worth its while. */
uint64_t ztrim_wanted(struct zfile *f);

/* Behind zindex_write, which on rank 0 has written the index or not. What fails leaves the file as
 * it is. Collective. */
void ztrim(struct zfile *f, bool indexed);

#endif

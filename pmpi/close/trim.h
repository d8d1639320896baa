/* trim.h - the space of overwritten data goes back to the file system at close. */
#ifndef ZMPI_PMPI_TRIM_H
#define ZMPI_PMPI_TRIM_H

#include "file/zfile.h"

/* Rank 0 of a writer whose session begins, with header and records read. */
void ztrim_begin(struct zfile *f);

/* Rank 0, all being placed: is it worth its while, all ranks having written so many bytes since
 * open, and so many having gone to room that is used again? */
bool ztrim_wanted(const struct zfile *f, uint64_t written, uint64_t reused);
/* Rank 0, if it is not: the next session adds that to what it writes. */
void ztrim_remember(struct zfile *f, uint64_t reused);

/* The same as ztrim_wanted for a file that stays open. */
bool ztrim_worth(struct zfile *f, uint64_t written, uint64_t reused);

/* Behind zindex_write, if rank 0 says so. What fails leaves the file as it is. Collective. */
void ztrim(struct zfile *f, bool go);

/* After a sync that went well: is there much that newer records cover? Then its room is used again
 * (file/reuse.c). Collective, with the same outcome on all ranks. */
int ztrim_meanwhile(struct zfile *f);

/* The room that rank 0 has found, to those who will use it. Collective. */
int ztrim_share(struct zfile *f);

#endif

/* trim.h - gives the space of overwritten data back to the file system at close. */
#ifndef ZMPI_PMPI_TRIM_H
#define ZMPI_PMPI_TRIM_H

#include "file/zfile.h"

/* Rank 0 calls it when a writer's session begins, with header and records read. */
void ztrim_begin(struct zfile *f);

/* Rank 0, when all data have places: is trimming worth it, with the bytes that all ranks wrote
 * since open, and those that went to gaps? */
bool ztrim_wanted(const struct zfile *f, uint64_t written, uint64_t reused);
/* Rank 0 calls it if trimming is not worth it: the next session adds these bytes to its own. */
void ztrim_remember(struct zfile *f, uint64_t reused);

/* The same as ztrim_wanted for a file that stays open. */
bool ztrim_worth(struct zfile *f, uint64_t written, uint64_t reused);

/* After zindex_write, if rank 0 says so. A failure leaves the file as it is. Collective. */
void ztrim(struct zfile *f, bool go);

/* After a successful sync: do newer records cover much? Then their space is used again
 * (file/reuse.c). Collective, with the same outcome on all ranks. */
int ztrim_meanwhile(struct zfile *f);

/* Gives the gaps that rank 0 has found to the ranks that will use them. Collective. */
int ztrim_share(struct zfile *f);

#endif

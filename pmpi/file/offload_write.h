/* offload_write.h - gives pieces to a device that compresses and writes them itself */
#ifndef ZMPI_OFFLOAD_WRITE_H
#define ZMPI_OFFLOAD_WRITE_H

#include "file/encode.h"

struct zfile;

struct zoffloaded;

struct zoffload_write {
    bool off; /* something failed: no more pieces of this file */
    /* The same on all ranks: rounds of collective calls so far, and how many of the last have no
     * place. */
    uint64_t round, unassigned;
    char *path;                       /* of the file, without links */
    struct zoffloaded *entry;         /* in the order in which the device got them */
    size_t assigned, count, capacity; /* assigned: the first ones, which have places */
    size_t keep;                      /* how many of the last ones get no place yet */
    uint64_t bytes;                   /* of their data */
    uint64_t written;                 /* by the device */
};

/* Gives a piece to the device. False: the caller must encode it here. *rc: an error of earlier
 * pieces. */
bool zoffload_take(struct zfile *f, const struct zmpi_job *job, const struct zpiece *piece,
                   int *rc);
/* The largest logical offset of all that the device got and that is not known to be in the file. */
uint64_t zoffload_end(const struct zfile *f);
/* Sizes of the pieces that get their places now; *bytes: their sum. A piece that fails goes to the
 * outbox. */
int zoffload_sizes(struct zfile *f, uint64_t *bytes);
/* Writes these pieces to the file, one behind the other from `offset` on. Does not wait. */
int zoffload_place(struct zfile *f, uint64_t offset);
/* The pieces of the last `rounds` rounds get no place next time, as far as that is possible. */
void zoffload_postpone(struct zfile *f, uint64_t rounds);
/* These pieces have lost their places. */
void zoffload_forget(struct zfile *f);
/* Gives each of the oldest `most` pieces without a place one of its own, without other ranks. */
int zoffload_slab(struct zfile *f, size_t most);
/* A new epoch has begun, also for pieces without a place. */
void zoffload_renumber(struct zfile *f);
/* Waits until the oldest `most` pieces with places are in the file and known. Raises their errors.
 */
int zoffload_land(struct zfile *f, size_t most);
void zoffload_free(struct zfile *f);

#endif

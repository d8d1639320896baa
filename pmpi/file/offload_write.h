/* offload_write.h - records that a device compresses and writes itself */
#ifndef ZMPI_OFFLOAD_WRITE_H
#define ZMPI_OFFLOAD_WRITE_H

#include "file/encode.h"

struct zfile;

struct zoffloaded;

struct zoffload_write {
    bool off; /* something failed: not with this file any more */
    /* The same on all ranks: rounds of collective calls so far, the last ones that have no place.
     */
    uint64_t round, unassigned;
    char *path;                       /* of the file, without links */
    struct zoffloaded *entry;         /* in the order in which they were handed over */
    size_t assigned, count, capacity; /* the first ones have their places */
    size_t keep;                      /* so many of the last ones get no place this time */
    uint64_t bytes;                   /* of their data */
    uint64_t written;                 /* by the device */
};

/* Hand a piece over; false: it is to be encoded here. *rc: an error of earlier ones. */
bool zoffload_take(struct zfile *f, const struct zmpi_job *job, const struct zpiece *piece,
                   int *rc);
/* The largest logical offset of all that was handed over and is not known to be in the file. */
uint64_t zoffload_end(const struct zfile *f);
/* Sizes of those that get their places now; *bytes: in all. What fails goes to the outbox. */
int zoffload_sizes(struct zfile *f, uint64_t *bytes);
/* These to the file, one behind the other from `offset` on. Does not wait. */
int zoffload_place(struct zfile *f, uint64_t offset);
/* Those of the last `rounds` get no place next time; as far as that may be. */
void zoffload_postpone(struct zfile *f, uint64_t rounds);
/* They have lost their places. */
void zoffload_forget(struct zfile *f);
/* The oldest `most` that have none each to a place of its own, without other ranks. */
int zoffload_slab(struct zfile *f, size_t most);
/* A new epoch has begun: for those without a place, too. */
void zoffload_renumber(struct zfile *f);
/* The oldest `most` that have their places are in the file and known, or the error is raised. */
int zoffload_land(struct zfile *f, size_t most);
void zoffload_free(struct zfile *f);

#endif

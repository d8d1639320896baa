/* news.h - makes written records known: to this rank, and to all of them. */
#ifndef ZMPI_NEWS_H
#define ZMPI_NEWS_H

#include <stdbool.h>
#include <stddef.h>

#include "zmpi_codec.h"

struct zfile;
struct zmpi_record;

/* What the ranks tell each other at collective points. */
struct znews {
    int *sizes, *places;  /* of each rank's part */
    unsigned char *bytes; /* entries of all ranks' records */
    size_t capacity;      /* of bytes, the same on all ranks */
    int next;             /* the first rank whose part did not fit in memory */
    bool lost;            /* some parts never will: the index is incomplete on this rank */
};

bool znews_make(struct znews *n, int ranks);
/* Makes n written records known (rc 0), or drops them. Returns rc, or why not. */
int znews_keep(struct zfile *f, struct zmpi_record *record, size_t n, int rc);
/* Collective: gives all ranks the records written since the last time. If one of them lacks the
 * memory, they stay for the next time. */
int znews_exchange(struct zfile *f);
/* Did other ranks write records that this rank lacked the memory for? znews_known raises the error.
 */
enum zmpi_status znews_take(struct zfile *f);
int znews_known(struct zfile *f);
/* The caller has read all records anew, or dropped them. */
void znews_forget(struct znews *n);

#endif

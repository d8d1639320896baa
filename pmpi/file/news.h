/* news.h - records that were written become known: to this rank, and to all of them. */
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
    int next;             /* the first rank whose part was not taken for want of memory */
    bool lost;            /* and some never will be: the index is not whole here */
};

bool znews_make(struct znews *n, int ranks);
/* n records that were written (rc 0) become known, or are dropped; returns rc, or why not. */
int znews_keep(struct zfile *f, struct zmpi_record *record, size_t n, int rc);
/* Collective: all ranks are told of the records written since the last time. Without memory for
 * that on one of them it is left to the next time. */
int znews_exchange(struct zfile *f);
/* What others wrote and this rank could not take for want of memory. znews_known raises the error.
 */
enum zmpi_status znews_take(struct zfile *f);
int znews_known(struct zfile *f);
/* All records were read anew, or are gone. */
void znews_forget(struct znews *n);

#endif

/* access.h - one data access of one rank on both files, from the call to its completion. */
#ifndef ZMPI_TESTS_DIFFERENTIAL_ACCESS_H
#define ZMPI_TESTS_DIFFERENTIAL_ACCESS_H

#include "differential.h"

enum { WAYS = 9 }; /* to complete requests */

/* Index 0: the compressed file, 1: the plain one. */
struct flight {
    bool used;
    int handle;
    const struct call *call;
    int64_t count, bytes; /* bytes: that are there to be moved */
    int flags;
    int sides;   /* 1: without the plain file */
    bool simple; /* the plain file was accessed in a simpler way; quirks.c */
    const struct type *memory;
    MPI_Datatype type, absolute[2];
    int64_t size, origin; /* of the buffers; where MPI's buffer address is in them */
    unsigned char *buffer[2], *model;
    MPI_Status status[2];
    MPI_Request request[2];
    int rc[2];
};

/* Makes the call. For reads the model must not have changed yet. simple: in a simpler way for the
 * plain file. */
void flight_start(struct flight *x, struct model *m, const struct line *l, const struct move *v,
                  int rank, MPI_File file[2], int sides, bool simple);
/* Compares everything, and frees it. sabotage: a call whose result is falsified. */
void flight_finish(struct flight *x, const char *sabotage);
void flights_complete(struct flight *x, int n, int how, const char *sabotage);

#endif

/* access.h - the steps that all data access calls share (access.c), for their nonblocking, split
 * and shared forms. */
#ifndef ZMPI_ACCESS_H
#define ZMPI_ACCESS_H

#include "transfer/transfer.h"

/* zwrite_independent, zwrite_collective, zread_request or zread_collective. */
typedef int ztransfer(struct zfile *f, const struct zrequest *r, uint64_t *done);

struct zrequest zrequest_make(const void *buf, MPI_Count count, MPI_Datatype datatype,
                              MPI_Status *status);

/* Sets the number of bytes moved in a status. */
void zstatus_set(MPI_Status *status, uint64_t bytes);

/*
 * Access by explicit offset, in etypes. A collective call goes on even if the offset is wrong:
 * with a count of 0, so that no other rank waits.
 */
int zaccess_at(struct zfile *f, MPI_Offset offset, struct zrequest *r, ztransfer *go,
               bool collective);

/* Access by individual file pointer. */
int zaccess_pointer(struct zfile *f, struct zrequest *r, ztransfer *go);

/* ---- shared.c: by shared file pointer ---- */

int zshared_access(struct zfile *f, struct zrequest *r, ztransfer *go);
/* Collective: access in the order of ranks. */
int zshared_ordered(struct zfile *f, struct zrequest *r, ztransfer *go);
/* Collective: a new view begins at 0; one that was refused changes nothing. */
int zshared_reset(struct zfile *f, bool changed);
int zshared_position(struct zfile *f, uint64_t *position);
void zshared_remove(const struct zfile *f);

/* Collective: the container that was opened beside a plain file is closed, which stays open. f
 * lives until zfile_done. (close.c) */
void zclose_unused(struct zfile *f);

/* Takes view and file pointer over from the plain file that it was. */
int zposition_take(struct zfile *f, MPI_File plain);

#endif

/* physical.h - the container's own bytes, and failures of the system. */
#ifndef ZMPI_PHYSICAL_H
#define ZMPI_PHYSICAL_H

#include <sys/types.h>

#include "file/zfile.h"

/* The MPI error class of an errno of input or output. */
int zphysical_class(int error);
/*
 * A call on the file failed: with rc, or (0) without the MPI library having noticed; errno was
 * `error`. Says so, once for each kind of failure, calls the error handler if nobody has, and
 * returns the best class that can be told.
 */
int zphysical_failed(struct zfile *f, int rc, int error, const char *what);

/* Collective: the file to the disk. This rank's error alone. */
int zphysical_sync(struct zfile *f);

/* As many of `size` bytes as there are, or -1 with errno set. */
ssize_t zfd_read(int fd, void *dst, size_t size, off_t offset);
/* All `size` bytes, or -1 with errno set. */
int zfd_write(int fd, const void *src, size_t size, off_t offset);

#endif

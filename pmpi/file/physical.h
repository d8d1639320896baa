/* physical.h - the container's own bytes, and failures of the system. */
#ifndef ZMPI_PHYSICAL_H
#define ZMPI_PHYSICAL_H

#include <sys/types.h>

#include "file/zfile.h"

/* The MPI error class of an errno of input or output. */
int zphysical_class(int error);
/*
 * A call on the file failed: with rc or, if rc is 0, unnoticed by the MPI library; errno was
 * `error`. Logs each kind of failure once, calls the error handler if nobody has, and returns
 * the MPI error class that fits best.
 */
int zphysical_failed(struct zfile *f, int rc, int error, const char *what);

/* Collective: syncs the file to the disk. Returns this rank's error alone. */
int zphysical_sync(struct zfile *f);

/* Reads as many of `size` bytes as there are. Returns their number, or -1 with errno set. */
ssize_t zfd_read(int fd, void *dst, size_t size, off_t offset);
/* Reads all `size` bytes. Returns -1 with errno set if it cannot. */
int zfd_write(int fd, const void *src, size_t size, off_t offset);

#endif

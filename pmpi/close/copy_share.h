/* copy_share.h - what a container holds, into a plain file. */
#ifndef ZMPI_COPY_SHARE_H
#define ZMPI_COPY_SHARE_H

#include "file/zfile.h"

/* This rank's share of the data in `from`, but for the holes, to the plain file that is open as fd.
 * empty: that file has nothing but zeros, which are not written then. */
bool zcopy_share(struct zfile *f, struct zmpi_container *from, const struct zmpi_run *hole,
                 size_t holes, bool empty, int fd);

#endif

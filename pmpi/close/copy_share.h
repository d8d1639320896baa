/* copy_share.h - copies a container's logical bytes into a plain file. */
#ifndef ZMPI_COPY_SHARE_H
#define ZMPI_COPY_SHARE_H

#include "file/zfile.h"

/* Copies this rank's share of the data in `from`, except holes, to the plain file that is open as
 * fd. empty: that file has only zeros, so that zeros are not written. */
bool zcopy_share(struct zfile *f, struct zmpi_container *from, const struct zmpi_run *hole,
                 size_t holes, bool empty, int fd);

#endif

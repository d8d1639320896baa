/* header.h - header and index of an open container. */
#ifndef ZMPI_PMPI_HEADER_H
#define ZMPI_PMPI_HEADER_H

#include "internal.h"

/* Rank 0 writes the next header, without an index. Collective: all ranks learn whether it worked.
 */
int zheader_reset(struct zfile *f);

/* A new file's first header, with a new id. Rank 0 alone. */
int zheader_create(struct zfile *f);

/* Every rank writes its part of the index behind the log, then rank 0 the header; nothing if others
 * write meanwhile. Collective. */
int zindex_write(struct zfile *f);

/* The index of all records that are in the file, whoever wrote them. Rank 0, with the log locked.
 */
int zindex_write_all(struct zfile *f);

/* Rank 0's container (header and records) to all ranks. Collective. */
int zindex_share(struct zfile *f);

/* The records that are in the file now to all ranks, instead of those they know. Collective. */
int zindex_reload(struct zfile *f);

#endif

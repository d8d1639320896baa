/* header.h - header and index of an open container. */
#ifndef ZMPI_PMPI_HEADER_H
#define ZMPI_PMPI_HEADER_H

#include "internal.h"

/* Rank 0 writes the next header, pointing to an index at [offset, offset + length). Collective: all
 * ranks learn whether it worked. */
int zheader_write(struct zfile *f, uint64_t index_offset, uint64_t index_length);

/* A new file's first header, with a new id. Rank 0 alone. */
int zheader_create(struct zfile *f);

/* Every rank writes its part of the index behind the log, then rank 0 the header. Collective. */
int zindex_write(struct zfile *f);

/* Rank 0's container (header and records) to all ranks. Collective. */
int zindex_share(struct zfile *f);

#endif

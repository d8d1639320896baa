/* header.h - header and index of an open container. */
#ifndef ZMPI_PMPI_HEADER_H
#define ZMPI_PMPI_HEADER_H

#include "file/zfile.h"

/* Rank 0 writes the next header, without an index. Collective: all ranks learn whether it worked.
 */
int zheader_reset(struct zfile *f);

/* Gives a file without records a new id, so that nobody takes bytes written for the old id for its
 * records. Collective. */
int zheader_rename(struct zfile *f);

/* Writes a new file's first header, with a new id. Rank 0 alone. */
int zheader_create(struct zfile *f);

/* Rank 0: what a header h says of the section that lies at its place. Returns the bytes that go to
 * ZMPI_CALLS_AT: 0: nothing. */
size_t zheader_section(const struct zfile *f, const struct zmpi_header *h,
                       unsigned char dst[ZMPI_CALLS_POINTER]);

/* Every rank writes its part of the index behind the log, then rank 0 writes the header. Nothing
 * happens if others write meanwhile. Collective. */
int zindex_write(struct zfile *f);

/* Writes the index of all records in the file, whoever wrote them. Rank 0, with the log locked. */
int zindex_write_all(struct zfile *f);

/* ---- sort.c ---- */

/* Sorts all ranks' segments by place: each rank then has those of one part of the file. Collective,
 * with the same outcome on all ranks except for late errors. */
int zindex_sort(struct zfile *f, struct zmpi_segments *mine);

/* ---- share.c ---- */

/* Rank 0: raises the error that the container is incomplete. */
int zindex_not_whole(struct zfile *f);

/* Rank 0: reads a small index at once, so that not every rank has to read it. */
enum zmpi_status zindex_read_small(struct zmpi_container *c, const struct zmpi_reader *in);

/* Gives rank 0's container (header and, to ranks that may read, the places of records) to all
 * ranks. Collective. */
int zindex_share(struct zfile *f);

/* Gives the places of all records that are in the file now to all ranks, even to those that may
 * only write; c is empty. Collective. */
int zindex_read_all(struct zfile *f, struct zmpi_container *c);

/* Gives the records that are in the file now to all ranks, in place of those they know. Collective.
 */
int zindex_reload(struct zfile *f);
/* Replaces the known records by those of `fresh`, which is taken over. */
void zindex_replace(struct zfile *f, const struct zmpi_container *fresh);

#endif

/* header.h - header and index of an open container. */
#ifndef ZMPI_PMPI_HEADER_H
#define ZMPI_PMPI_HEADER_H

#include "file/zfile.h"

/* Rank 0 writes the next header, without an index. Collective: all ranks learn whether it worked.
 */
int zheader_reset(struct zfile *f);

/* A new id for a file without records: what was meant for the old one has no place in it.
 * Collective.
 */
int zheader_rename(struct zfile *f);

/* A new file's first header, with a new id. Rank 0 alone. */
int zheader_create(struct zfile *f);

/* Every rank writes its part of the index behind the log, then rank 0 the header; nothing if others
 * write meanwhile. Collective. */
int zindex_write(struct zfile *f);

/* The index of all records that are in the file, whoever wrote them. Rank 0, with the log locked.
 */
int zindex_write_all(struct zfile *f);

/* ---- sort.c ---- */

/* All ranks' segments become sorted by place: this rank's are a part of the file. Collective, with
 * the same outcome on all ranks but for what goes wrong in the end. */
int zindex_sort(struct zfile *f, struct zmpi_segments *mine);

/* ---- share.c ---- */

/* Rank 0: what the container says is not all there; raises the error. */
int zindex_not_whole(struct zfile *f);

/* Rank 0: a small index at once, so that not every rank has to read it. */
enum zmpi_status zindex_read_small(struct zmpi_container *c, const struct zmpi_reader *in);

/* Rank 0's container (header and, to those who may read, where the records are) to all ranks.
 * Collective. */
int zindex_share(struct zfile *f);

/* Where all records are that are in the file now, to all ranks, also to those that may only write;
 * c is empty. Collective. */
int zindex_read_all(struct zfile *f, struct zmpi_container *c);

/* The records that are in the file now to all ranks, instead of those they know. Collective. */
int zindex_reload(struct zfile *f);
/* The records that are known become those of fresh, which is taken over. */
void zindex_replace(struct zfile *f, const struct zmpi_container *fresh);

#endif

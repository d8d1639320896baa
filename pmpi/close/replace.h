/*
 * replace.h - plain files that are there already and are written again. The container grows beside
 * the file, as NAME.zmpi-new, and takes its name at the first sync or close at which records cover
 * all that was there. What they do not cover is copied exactly, up to ZMPI_ADOPT_BELOW bytes;
 * beyond that the data go into the plain file at close.
 *
 * Until then the plain file is untouched: a process that dies leaves it, and the container beside
 * it, which the next such open removes. After a sync the container is called NAME.zmpi-synced, and
 * stays. So does one that a close has written to its end: the plain file may not have its data.
 */
#ifndef ZMPI_REPLACE_H
#define ZMPI_REPLACE_H

#include "file/zfile.h"

struct zreplace;

/* Rank 0, with a plain file that has data at `path`: may a container replace it? */
bool zreplace_may(MPI_Comm comm, const char *path, int amode, const struct zmpi_options *o);
/* Collective, before the MPI library opens the plain file. NULL on all ranks: it stays plain. */
struct zreplace *zreplace_begin(MPI_Comm comm, const char *path, const struct zmpi_options *o);
/* The container's path, from the root; bytes of the plain file. */
const char *zreplace_place(const struct zreplace *r);
uint64_t zreplace_size(const struct zreplace *r);
/* Collective, after it: false on all ranks: it stays plain. */
bool zreplace_opened(struct zreplace *r, MPI_Comm comm);
/* Instead: removes the container. One rank is enough; r is freed. */
void zreplace_drop(struct zreplace *r);

/* Collective, when the container is open: gives it the length of the file and, where it can be
 * read, the file's data. */
int zreplace_fill(struct zfile *f);
/* From now on the data below `size` are those of the plain file, and there are none above. */
void zreplace_resized(struct zfile *f, uint64_t size);
/* Collective, after a sync. */
int zreplace_synced(struct zfile *f);
/* Collective, at close, when all data of this session are in the container. *gone: the container
 * was given up, and its data are in the plain file; *few: since they are no floats. */
int zreplace_close(struct zfile *f, bool *gone, bool *few);

#endif

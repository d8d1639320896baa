/*
 * replace.h - existing plain files that a program writes again. The container grows beside the
 * file, as NAME.zmpi-new, and takes its name at the first sync or close at which records cover all
 * former data. Up to ZMPI_ADOPT_BELOW uncovered bytes are copied exactly; if there are more, the
 * new data go into the plain file at close.
 *
 * Until then the plain file is untouched. A process that dies leaves it, with the container beside
 * it, which the next such open removes. After a sync the container is called NAME.zmpi-synced, and
 * stays. A container that a close has finished stays, too: the plain file may not have its data.
 */
#ifndef ZMPI_REPLACE_H
#define ZMPI_REPLACE_H

#include "file/zfile.h"

struct zreplace;

/* Rank 0, with a plain file that has data at `path`: may a container replace it? */
bool zreplace_may(MPI_Comm comm, const char *path, int amode, const struct zmpi_options *o);
/* Collective, before the MPI library opens the plain file. NULL on all ranks: it stays plain. */
struct zreplace *zreplace_begin(MPI_Comm comm, const char *path, const struct zmpi_options *o);
/* Returns the container's absolute path; zreplace_size: the bytes of the plain file. */
const char *zreplace_place(const struct zreplace *r);
uint64_t zreplace_size(const struct zreplace *r);
/* Collective, after the MPI library has opened the plain file. False on all ranks: it stays plain.
 */
bool zreplace_opened(struct zreplace *r, MPI_Comm comm);
/* In place of that: removes the container, on one rank or more; frees r. */
void zreplace_drop(struct zreplace *r);

/* Collective, when the container is open: gives it the length of the file, and its data if the
 * program may read them. */
int zreplace_fill(struct zfile *f);
/* From now on only the plain file's data below `size` count. */
void zreplace_resized(struct zfile *f, uint64_t size);
/* Collective, after a sync. */
int zreplace_synced(struct zfile *f);
/* Collective, at close, when all data of this session are in the container. *gone: the container
 * was given up, and its data are in the plain file; *few: because they have too few floats. */
int zreplace_close(struct zfile *f, bool *gone, bool *few);

#endif

/* open.h - opening a container, for MPI_File_open and for plain files that become one while they
 * are open (open.c). */
#ifndef ZMPI_OPEN_H
#define ZMPI_OPEN_H

#include <limits.h>

#include "calls/found.h"
#include "file/zfile.h"

/* The file was found to be ours, and is a plain one by now: the last writer gave it back
 * (decompress.c), or somebody wrote to it when it was new; or another container has its name (zmpi
 * trim). All begins anew; no MPI error class. */
enum { ZOPEN_BECAME_ANOTHER = INT_MAX };

/* Makes a struct zfile with all that every rank must have before it goes on with others. NULL: no
 * memory. */
struct zfile *zopen_new_file(const char *path, int amode, const struct zmpi_options *o, int ranks);
/* Frees one that no other thread or rank has yet. */
void zopen_drop_file(struct zfile *f);

/* Collective. f: taken over. The handle of a file that is open already remains the program's. */
int zopen_container(struct zfile *f, MPI_Comm comm, const char *name, MPI_Info info,
                    enum zfound found, MPI_File *fh);

#endif

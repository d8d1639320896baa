/*
 * found.h - what is at the path that MPI_File_open is given, by its first and last bytes.
 * From any thread.
 */
#ifndef ZMPI_FOUND_H
#define ZMPI_FOUND_H

#include <mpi.h>

#include "next_mpi.h"
#include "options/options.h"

/* FAILED: it may be a container, but cannot be read; OVERWRITTEN: it was one; LOST: its header
 * never reached the disk; PLAIN_OVER: plain data, and what is left of a container that they went
 * over; REPLACED: a plain file that HDF5 makes anew; UNBOUND: an empty one that is
 * opened without a bound; THERE: a plain file that a container may replace (close/replace.h). */
enum zfound {
    ZFOUND_OTHER,
    ZFOUND_NONE,
    ZFOUND_EMPTY,
    ZFOUND_CONTAINER,
    ZFOUND_FAILED,
    ZFOUND_OVERWRITTEN,
    ZFOUND_LOST,
    ZFOUND_PLAIN_OVER,
    ZFOUND_REPLACED,
    ZFOUND_UNBOUND,
    ZFOUND_THERE
};

/* The path in a file name of MPI, a part of it. ROMIO's names may say what file system they are on,
 * as in "ufs:/scratch/x". To OMPIO that is a part of the name, as any other word with a colon is to
 * both. */
const char *zfound_path(const char *name);
/* What is at the path: any value but the last three, which only MPI_File_open can know. */
enum zfound zfound_at(const char *path);

/* Does the name select the file? Files that HDF5 opens are selected whatever their names; but a
 * list that the user has given holds. */
bool zfound_is_selected(const struct zmpi_options *o, const char *path);
/* Collective: rank 0 decides for all; a wrong setting of one rank is everybody's, so that no rank
 * is left alone, and so is what one rank has open by other means. */
int zfound_decide(MPI_Comm comm, const char *path, int amode, const struct zmpi_options *o,
                  int *found, int *wrong, bool *memory);

#endif

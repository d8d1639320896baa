/*
 * dry_run.h - files of a dry run: each stays plain; zmpi codes samples of the written data to
 * estimate their size.
 */
#ifndef ZMPI_DRY_RUN_H
#define ZMPI_DRY_RUN_H

#include <stdatomic.h>

#include "file/zfile.h"

extern atomic_int zdry_files; /* open ones; read without a lock */

/* Collective, once the MPI library has opened it. f: as a container's, taken over. bound: there is
 * one of the user's. */
void zdry_opened(struct zfile *f, MPI_Comm comm, MPI_File fh, bool bound);
/* Before the MPI library's close. Raises nothing; what fails is not in the report. */
void zdry_set_view(MPI_File fh, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype filetype);
void zdry_close(MPI_File fh);
/* offset: in etypes; ZDRY_POINTER: where the file pointer is; ZDRY_UNKNOWN: not known. together:
 * all ranks are here, and wait for each other. */
enum { ZDRY_POINTER = -1, ZDRY_UNKNOWN = -2 };
void zdry_write(MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
                MPI_Datatype datatype, bool together);

#endif

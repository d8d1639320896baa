/*
 * unbound.h - new files that were opened without a bound. While one is empty, a bound makes it a
 * container: by zmpi_file_set_bound, or among the hints of MPI_File_set_info or MPI_File_set_view.
 */
#ifndef ZMPI_UNBOUND_H
#define ZMPI_UNBOUND_H

#include "file/zfile.h"

/* Collective: an empty file, open as `handle`, is a container from here on, or stays plain, if it
 * is not empty any more. Errors are raised. */
typedef int zunbound_open(MPI_Comm comm, const char *name, int amode, const struct zmpi_options *o,
                          MPI_File handle);
/* Collective, after the MPI library opened it; `o` is what the file has by its name and hints. */
void zunbound_opened(MPI_Comm comm, const char *name, int amode, const struct zmpi_options *o,
                     MPI_File fh, zunbound_open *again);
/* Collective. If the file is new and without a bound: takes the hints, which may make it a
 * container (then zfile_find finds it). Errors are raised already. */
int zunbound_hints(MPI_File fh, MPI_Info info);
/* Collective if the file is new and without a bound; else, or if something was written,
 * MPI_ERR_FILE. bound: NULL if this rank's is wrong. */
int zunbound_bound(MPI_File fh, const struct zmpi_bound *bound);
void zunbound_closed(MPI_File fh);

#endif

/*
 * hdf5_several.h - files that several ranks have open in HDF5, in a run with zmpi's filter. HDF5
 * refuses an independent write to a dataset with a filter in such a file. From 1.14 on it then
 * waits for ever when the file is closed, if it refused only some ranks. So zmpi refuses the write
 * before HDF5 begins. Thread-safe.
 */
#ifndef ZMPI_HDF5_SEVERAL_H
#define ZMPI_HDF5_SEVERAL_H

#include <mpi.h>

#include "hdf5/hdf5.h"

/* After MPI_File_open has opened a file by any means; before MPI_File_close closes one. */
void zhdf5_several_opened(MPI_File handle, int ranks);
void zhdf5_several_closes(MPI_File handle);

/* The handle of the file that this object is in. False: it is in none, or another driver's. It may
 * be no handle of an open file all the same. */
bool zhdf5_several_handle(const struct zhdf5 *h, hid_t object, MPI_File *handle);
/* Is it such a file that this object is in? Local. */
bool zhdf5_several_have(const struct zhdf5 *h, hid_t object);

#endif

/*
 * hdf5_several.h - files that HDF5 has open on several ranks, in a run with zmpi's filter. HDF5
 * refuses an independent write to a dataset with a filter there, and from 1.14 on waits for ever
 * when the file is closed after that, if some ranks alone were refused: we refuse it before HDF5
 * has begun. Thread-safe.
 */
#ifndef ZMPI_HDF5_SEVERAL_H
#define ZMPI_HDF5_SEVERAL_H

#include <mpi.h>

#include "hdf5/hdf5.h"

/* MPI_File_open has opened a file, in whatever way; MPI_File_close will close one. */
void zhdf5_several_opened(MPI_File handle, int ranks);
void zhdf5_several_closes(MPI_File handle);

/* Local. */
bool zhdf5_several_have(const struct zhdf5 *h, hid_t dataset);

#endif

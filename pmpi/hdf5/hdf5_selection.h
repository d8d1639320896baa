/* hdf5_selection.h - the program's memory that an H5Dwrite reads. */
#ifndef ZMPI_HDF5_SELECTION_H
#define ZMPI_HDF5_SELECTION_H

#include "datatype/known.h"
#include "hdf5/hdf5_dataset.h"

/* One dataset of a call, as the program says it. */
struct zhdf5_transfer {
    hid_t dataset, type, memory, file;
    const void *buf;
};

/* The memory that its elements are in, if HDF5 writes them to the file as they are and they are
 * floats of this machine; else false. HDF5's stack of errors stays as it is. Local, and nothing of
 * the file is read. */
bool zhdf5_select(const struct zhdf5 *h, const struct zhdf5_transfer *t,
                  const struct zhdf5_dataset *d, struct zknown *known);

/* Floats of this machine in an element of the type, which is one: 1, or 2 where it is complex; 0:
 * it is something else. */
size_t zhdf5_floats(const struct zhdf5 *h, hid_t type, enum zmpi_type *element);

#endif

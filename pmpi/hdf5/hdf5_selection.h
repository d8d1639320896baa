/* hdf5_selection.h - the program's memory that an H5Dwrite reads. */
#ifndef ZMPI_HDF5_SELECTION_H
#define ZMPI_HDF5_SELECTION_H

#include "datatype/known.h"
#include "hdf5/hdf5_dataset.h"

/* One dataset of a call, as the program passes it. */
struct zhdf5_transfer {
    hid_t dataset, type, memory, file;
    const void *buf;
};

/* The memory that holds the elements, if they are floats of this machine and HDF5 writes them
 * unchanged; else false. HDF5's error stack stays as it is. Local: it reads nothing from the
 * file. */
bool zhdf5_select(const struct zhdf5 *h, const struct zhdf5_transfer *t,
                  const struct zhdf5_dataset *d, struct zknown *known);

/* Floats of this machine in one element of this type: 1, or 2 if it is complex; 0: it is something
 * else. */
size_t zhdf5_floats(const struct zhdf5 *h, hid_t type, enum zmpi_type *element);

#endif

/* hdf5_range.h - the range of what all ranks write by a collective H5Dwrite, for zmpi's filter. */
#ifndef ZMPI_HDF5_RANGE_H
#define ZMPI_HDF5_RANGE_H

#include "hdf5/hdf5_selection.h"

/* An independent write that HDF5 would refuse: H5Dwrite fails, and one line says why. */
bool zhdf5_range_refuses(const struct zhdf5 *h, hid_t dataset, hid_t how);
/* Before H5Dwrite, whatever the dataset. how: the transfer list. */
void zhdf5_range_begin(const struct zhdf5 *h, const struct zhdf5_transfer *t, hid_t how);
/* Behind it: rc is what it has returned. */
void zhdf5_range_end(const struct zhdf5 *h, hid_t dataset, herr_t rc);

#endif

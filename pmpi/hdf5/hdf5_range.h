/* hdf5_range.h - the range of what all ranks write by a collective H5Dwrite, for zmpi's filter. */
#ifndef ZMPI_HDF5_RANGE_H
#define ZMPI_HDF5_RANGE_H

#include "hdf5/hdf5_selection.h"

/* Is this an independent write that HDF5 would refuse? Then H5Dwrite fails, and one line says
 * why. */
bool zhdf5_range_refuses(const struct zhdf5 *h, hid_t dataset, hid_t how);
/* Before H5Dwrite, for any dataset. how: the transfer property list. */
void zhdf5_range_begin(const struct zhdf5 *h, const struct zhdf5_transfer *t, hid_t how);
/* After H5Dwrite; rc is its result. */
void zhdf5_range_end(const struct zhdf5 *h, hid_t dataset, herr_t rc);

#endif

/*
 * hdf5_filter.h - zmpi's filter for HDF5 (codec/hosts/hdf5), as libzmpi.so uses it: HDF5 finds it
 * where libzmpi.so is in front, and with ZMPI_HDF5=filter new datasets of floats go through it.
 */
#ifndef ZMPI_HDF5_FILTER_H
#define ZMPI_HDF5_FILTER_H

#include "hdf5/hdf5.h"
#include "zmpi_codec.h"

/* Before a file is opened: this HDF5 library knows the filter, or the place where it is. */
void zhdf5_filter_ready(const struct zhdf5 *h);
/* In MPI_Init, collective: where a rank has no filter, no rank uses it, as all create the same
 * datasets. */
void zhdf5_filter_agree(void);
/* ZMPI_HDF5=filter, and the filter is there. */
bool zhdf5_filter_is_used(void);
/* rel and psnr of what this thread compresses are of this range; NULL: of each chunk. */
void zhdf5_filter_set_range(const struct zmpi_range *range);

/* The mode of the bound of a creation list's first filter; false: that is another one. */
bool zhdf5_filter_of(const struct zhdf5 *h, hid_t list, enum zmpi_mode *mode);

#endif

/*
 * hdf5_filter.h - how libzmpi.so uses zmpi's filter for HDF5 (codec/hosts/hdf5). HDF5 finds the
 * filter whenever libzmpi.so is loaded. With ZMPI_HDF5=filter new datasets of floats use it.
 */
#ifndef ZMPI_HDF5_FILTER_H
#define ZMPI_HDF5_FILTER_H

#include "hdf5/hdf5.h"
#include "zmpi_codec.h"

/* Called before a file is opened. It registers the filter with this HDF5 library, or tells the
 * library the filter's folder. */
void zhdf5_filter_ready(const struct zhdf5 *h);
/* In MPI_Init, collective. If one rank has no filter, no rank uses it, because all ranks create the
 * same datasets. */
void zhdf5_filter_agree(void);
/* ZMPI_HDF5=filter, and the filter is there. */
bool zhdf5_filter_is_used(void);
/* Sets the range that rel and psnr use for what this thread compresses; NULL: the range of each
 * chunk. */
void zhdf5_filter_set_range(const struct zmpi_range *range);

/* The mode of the bound, if zmpi's filter is the first in this creation list; false: it is not. */
bool zhdf5_filter_of(const struct zhdf5 *h, hid_t list, enum zmpi_mode *mode);

#endif

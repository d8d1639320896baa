/* hdf5_parameters.h - a bound as parameters of zmpi's filter for HDF5. */
#ifndef ZMPI_HDF5_PARAMETERS_H
#define ZMPI_HDF5_PARAMETERS_H

#include "zmpi_codec.h"

/* As in codec/hosts/hdf5/h5zmpi.h: mode, mantissa, exponent, encoder. */
enum { ZHDF5_FILTER = 497, ZHDF5_PARAMETERS = 4 };

/* The nearest bound of nine digits that is not weaker. */
void zhdf5_parameters(const struct zmpi_bound *bound, unsigned encoder,
                      unsigned value[ZHDF5_PARAMETERS]);

#endif

/* kernels_neon.h - the parts of zmpi_kernels_neon. */
#ifndef ZMPI_KERNELS_NEON_H
#define ZMPI_KERNELS_NEON_H

#include "kernels/kernels.h"

zmpi_chunk_encode_fn zmpi_neon_encode32, zmpi_neon_encode64;
zmpi_chunk_decode_fn zmpi_neon_decode32, zmpi_neon_decode64;
zmpi_chunk_cost_fn zmpi_neon_cost32, zmpi_neon_cost64;
zmpi_range_fn zmpi_neon_range32, zmpi_neon_range64;

#endif

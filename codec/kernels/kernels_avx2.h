/* kernels_avx2.h - the parts of zmpi_kernels_avx2. */
#ifndef ZMPI_KERNELS_AVX2_H
#define ZMPI_KERNELS_AVX2_H

#include "kernels/kernels.h"

zmpi_chunk_encode_fn zmpi_avx2_encode32, zmpi_avx2_encode64;
zmpi_chunk_decode_fn zmpi_avx2_decode32, zmpi_avx2_decode64;
zmpi_chunk_cost_fn zmpi_avx2_cost32, zmpi_avx2_cost64;
zmpi_range_fn zmpi_avx2_range32, zmpi_avx2_range64;
zmpi_hash_fn zmpi_avx2_hash;

#endif

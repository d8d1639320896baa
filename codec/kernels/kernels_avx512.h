/* kernels_avx512.h - the parts of zmpi_kernels_avx512 and zmpi_kernels_avx512vbmi. */
#ifndef ZMPI_KERNELS_AVX512_H
#define ZMPI_KERNELS_AVX512_H

#include "kernels/kernels.h"

zmpi_chunk_encode_fn zmpi_avx512_encode32, zmpi_avx512_encode64;
zmpi_chunk_decode_fn zmpi_avx512_decode32, zmpi_avx512_decode64;
zmpi_chunk_cost_fn zmpi_avx512_cost32, zmpi_avx512_cost64;
zmpi_range_fn zmpi_avx512_range32, zmpi_avx512_range64;
zmpi_hash_fn zmpi_avx512_hash;

zmpi_chunk_encode_fn zmpi_avx512vbmi_encode32, zmpi_avx512vbmi_encode64;
zmpi_chunk_decode_fn zmpi_avx512vbmi_decode32, zmpi_avx512vbmi_decode64;

#endif

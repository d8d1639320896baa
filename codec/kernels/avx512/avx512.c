/* avx512.c - the AVX-512 kernels' entries in the table. */
#ifdef __x86_64__
#include <immintrin.h> /* the tests' own, where they emulate AVX-512 */

#include "kernels/kernels_avx512.h"

static bool available(void)
{
    return zmpi_kernels_avx2.available() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static bool vbmi_available(void)
{
    return available() && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("gfni");
}

const struct zmpi_kernels zmpi_kernels_avx512 = {
    .name = "avx512",
    .below = &zmpi_kernels_avx2,
    .available = available,
    .encode32 = zmpi_avx512_encode32,
    .encode64 = zmpi_avx512_encode64,
    .decode32 = zmpi_avx512_decode32,
    .decode64 = zmpi_avx512_decode64,
    .cost32 = zmpi_avx512_cost32,
    .cost64 = zmpi_avx512_cost64,
    .range32 = zmpi_avx512_range32,
    .range64 = zmpi_avx512_range64,
    .hash = zmpi_avx512_hash,
    .huffman_encode = &zmpi_huffman_encode_avx512,
    .huffman = &zmpi_huffman_loops_bmi2,
};

/* What has no use for VBMI and GFNI is the same. */
const struct zmpi_kernels zmpi_kernels_avx512vbmi = {
    .name = "avx512vbmi",
    .below = &zmpi_kernels_avx512,
    .available = vbmi_available,
    .encode32 = zmpi_avx512vbmi_encode32,
    .encode64 = zmpi_avx512vbmi_encode64,
    .decode32 = zmpi_avx512vbmi_decode32,
    .decode64 = zmpi_avx512vbmi_decode64,
    .cost32 = zmpi_avx512_cost32,
    .cost64 = zmpi_avx512_cost64,
    .range32 = zmpi_avx512_range32,
    .range64 = zmpi_avx512_range64,
    .hash = zmpi_avx512_hash,
    .huffman_encode = &zmpi_huffman_encode_avx512,
    .huffman = &zmpi_huffman_loops_bmi2,
};
#endif

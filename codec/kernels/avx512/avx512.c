/* avx512.c - the AVX-512 kernels' entries in the table. */
#ifdef __x86_64__
#include <immintrin.h> /* the tests' own header where they emulate AVX-512 */

#include "kernels/kernels.h"

static bool cpu_has_it(void)
{
    return zmpi_kernels_avx2.available() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/* Clang 18 compiles these kernels wrongly, as unit.kernels shows; 17 and 19 do not. */
static bool available(void)
{
#if defined __clang__ && __clang_major__ == 18
    return false;
#else
    return cpu_has_it();
#endif
}

static bool vbmi_available(void)
{
    return cpu_has_it() && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("gfni");
}

const struct zmpi_kernels zmpi_kernels_avx512 = {
    ZMPI_KERNELS_OF(avx512),
    .below = &zmpi_kernels_avx2,
    .available = available,
    .hash = zmpi_avx512_hash,
    .huffman_encode = &zmpi_huffman_encode_avx512,
    .huffman = &zmpi_huffman_loops_bmi2,
    .interp = &zmpi_interp_loops_avx512,
    .net = zmpi_net_run_avx2,
};

const struct zmpi_kernels zmpi_kernels_avx512vbmi = {
    ZMPI_KERNELS_OF(avx512vbmi),
    .below = &zmpi_kernels_avx512,
    .available = vbmi_available,
    .hash = zmpi_avx512_hash,
    .huffman_encode = &zmpi_huffman_encode_avx512,
    .huffman = &zmpi_huffman_loops_bmi2,
    .interp = &zmpi_interp_loops_avx512,
    .net = zmpi_net_run_avx512,
};
#endif

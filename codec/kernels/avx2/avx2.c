/* avx2.c - the AVX2 kernels' entry in the table. */
#ifdef __x86_64__
#include <cpuid.h>

#include "kernels/kernels.h"

/* __builtin_cpu_supports does not know it in clang 14. */
static bool has_lzcnt(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && c & bit_LZCNT;
}

static bool available(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") && has_lzcnt();
}

const struct zmpi_kernels zmpi_kernels_avx2 = {
    ZMPI_KERNELS_OF(avx2),
    .available = available,
    .hash = zmpi_avx2_hash,
    .huffman_encode = &zmpi_huffman_encode_bmi2,
    .huffman = &zmpi_huffman_loops_bmi2,
    .interp = &zmpi_interp_loops_avx2,
    .net = zmpi_net_run_avx2,
};
#endif

/* avx512.c - the AVX-512 kernels' entries in the table, and their hash. */
#ifdef __x86_64__
/* Make xxhash compile its AVX-512 loop too, with attributes instead of flags, as its own dispatcher
 * does. */
#define XXH_DISPATCH_AVX512 1
#define XXH_TARGET_AVX512   __attribute__((target("avx512f")))
#define XXH_ACC_ALIGN       64 /* what these loops load */
#include <immintrin.h>

#include "hash.h"
#include "huffman_loops.h"
#include "kernels_avx512.h"

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

XXH_TARGET_AVX512 static uint64_t hash(const void *src, size_t size)
{
    if (size <= XXH3_MIDSIZE_MAX)
        return zmpi_hash(src, size, 0);
    return XXH3_hashLong_64b_internal(src, size, XXH3_kSecret, sizeof XXH3_kSecret,
                                      XXH3_accumulate_512_avx512, XXH3_scrambleAcc_avx512);
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
    .hash = hash,
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
    .hash = hash,
    .huffman_encode = &zmpi_huffman_encode_avx512,
    .huffman = &zmpi_huffman_loops_bmi2,
};
#endif

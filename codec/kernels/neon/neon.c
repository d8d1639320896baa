/* neon.c - the NEON kernels' entry in the table, and their hash. */
#ifdef __AARCH64EL__
#include "base/hash.h"
#include "kernels/kernels_neon.h"

/* Part of the architecture. */
static bool available(void)
{
    return true;
}

/* xxhash uses NEON by itself. */
static uint64_t hash(const void *src, size_t size)
{
    return zmpi_hash(src, size, 0);
}

const struct zmpi_kernels zmpi_kernels_neon = {
    .name = "neon",
    .available = available,
    .encode32 = zmpi_neon_encode32,
    .encode64 = zmpi_neon_encode64,
    .decode32 = zmpi_neon_decode32,
    .decode64 = zmpi_neon_decode64,
    .cost32 = zmpi_neon_cost32,
    .cost64 = zmpi_neon_cost64,
    .range32 = zmpi_neon_range32,
    .range64 = zmpi_neon_range64,
    .hash = hash,
    .huffman_encode = &zmpi_huffman_encode_any,
    .huffman = &zmpi_huffman_loops_any,
};
#endif

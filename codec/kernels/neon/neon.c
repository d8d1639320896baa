/* neon.c - the NEON kernels' entry in the table, and their hash. */
#ifdef __AARCH64EL__
#include "base/hash.h"
#include "kernels/kernels.h"

/* Every AArch64 machine has NEON. */
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
    ZMPI_KERNELS_OF(neon),
    .available = available,
    .hash = hash,
    .huffman_encode = &zmpi_huffman_encode_any,
    .huffman = &zmpi_huffman_loops_any,
    .interp = &zmpi_interp_loops_any,
    .net = zmpi_net_run_any,
};
#endif

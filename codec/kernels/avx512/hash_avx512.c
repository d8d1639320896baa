/* hash_avx512.c - XXH3 by xxHash's own loop for AVX-512. xxHash uses it in files that are compiled
 * for AVX-512, as CMakeLists.txt compiles this one. */
#ifdef __x86_64__
#include "base/hash.h"
#include "kernels/kernels.h"

uint64_t zmpi_avx512_hash(const void *src, size_t size)
{
    return zmpi_hash(src, size, 0);
}
#endif

/* fill_count.c - counts a value among samples, where the call's sample leaves it open whether it is
 * a fill value. */
#include <string.h>

#include "bound/fill.h"
#include "kernels/kernels.h"

#define INLINE static inline __attribute__((always_inline))

/* Counts a row's elements with these bits, in loops that compilers turn into vectors. */
#define COUNT_BITS(T, name)                                                                        \
    INLINE size_t name(const unsigned char *at, size_t n, T bits)                                  \
    {                                                                                              \
        T found = 0;                                                                               \
        for (size_t i = 0; i < n; i++) {                                                           \
            T u;                                                                                   \
            memcpy(&u, at + i * sizeof u, sizeof u);                                               \
            found += u == bits;                                                                    \
        }                                                                                          \
        return found;                                                                              \
    }
COUNT_BITS(uint32_t, count_bits32)
COUNT_BITS(uint64_t, count_bits64)

INLINE size_t count_ends(const struct zmpi_sample *s, uint64_t bits, bool half)
{
    size_t ends = 0;
    for (size_t k = 0; k < s->rows; k++) {
        const unsigned char *at = s->at + k * s->stride * zmpi_type_size(s->type);
        if (s->type == ZMPI_F32)
            ends += count_bits32(at, s->row, (uint32_t)bits);
        else
            ends += half ? count_bits32(at, 2 * s->row, (uint32_t)(bits >> 32))
                         : count_bits64(at, s->row, bits);
    }
    return ends;
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static size_t count_ends_avx2(const struct zmpi_sample *s,
                                                              uint64_t bits, bool half)
{
    return count_ends(s, bits, half);
}
#else
#define count_ends_avx2 count_ends
#endif

size_t zmpi_fill_count(const struct zmpi_sample *s, uint64_t bits, bool half)
{
    return zmpi_kernels() == &zmpi_kernels_scalar ? count_ends(s, bits, half)
                                                  : count_ends_avx2(s, bits, half);
}

/* fill_count.c - counts a value among samples, where the call's sample leaves it open whether it is
 * a fill value. */
#include <string.h>

#include "bound/fill.h"
#include "kernels/kernels.h"

#define INLINE static inline __attribute__((always_inline))

/* Counts the elements with these bits, a vector of each row at a time. */
#define COUNT_BITS(T, name)                                                                        \
    INLINE size_t name(const struct zmpi_sample *s, size_t n, size_t stride, T bits)               \
    {                                                                                              \
        enum { LANES = 32 / sizeof(T) };                                                           \
        typedef T vector __attribute__((vector_size(32)));                                         \
        vector found = {0}, v;                                                                     \
        T all = 0, one;                                                                            \
        for (size_t k = 0; k < s->rows; k++) {                                                     \
            const unsigned char *at = s->at + k * stride;                                          \
            size_t i = 0;                                                                          \
            for (; i + LANES <= n; i += LANES) {                                                   \
                memcpy(&v, at + i * sizeof one, sizeof v);                                         \
                found -= (vector)(v == bits);                                                      \
            }                                                                                      \
            for (; i < n; i++) {                                                                   \
                memcpy(&one, at + i * sizeof one, sizeof one);                                     \
                all += one == bits;                                                                \
            }                                                                                      \
        }                                                                                          \
        for (size_t i = 0; i < LANES; i++)                                                         \
            all += found[i];                                                                       \
        return all;                                                                                \
    }
COUNT_BITS(uint32_t, count_bits32)
COUNT_BITS(uint64_t, count_bits64)

INLINE size_t count_ends(const struct zmpi_sample *s, uint64_t bits, bool half)
{
    const size_t stride = s->stride * zmpi_type_size(s->type);
    if (s->type == ZMPI_F32)
        return count_bits32(s, s->row, stride, (uint32_t)bits);
    return half ? count_bits32(s, 2 * s->row, stride, (uint32_t)(bits >> 32))
                : count_bits64(s, s->row, stride, bits);
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

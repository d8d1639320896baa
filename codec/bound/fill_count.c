/* fill_count.c - the loops over samples: the values next to the ends and the middle of the call's;
 * and how often a value is among others, where those leave it open whether it is a fill value. */
#include <math.h>
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

/* ---- next to the ends and the middle ---- */

/* Compares values of T with doubles: those above `x` are above this one, which is not above it. */
static float narrow_below(double x)
{
    const float f = (float)x;
    return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

static double wide_below(double x)
{
    return x;
}

/* Without branches. Lanes beyond n have the first value. */
#define FIND_INNER(T, U, name, below_of)                                                           \
    INLINE void name(const T *x, size_t n, double least, double most, struct zmpi_fill_inner *in)  \
    {                                                                                              \
        enum { LANES = 32 / sizeof(T) };                                                           \
        typedef T vector __attribute__((vector_size(32)));                                         \
        typedef U mask __attribute__((vector_size(32)));                                           \
        const T middle = below_of(0.5 * least + 0.5 * most), first = below_of(least),              \
                last = -below_of(-most), inf = (T)INFINITY;                                        \
        const vector none = inf - (vector){0};                                                     \
        vector low = none, above = none, high = -none, below = -none;                              \
        for (size_t k = 0; k < n; k += LANES) {                                                    \
            vector v;                                                                              \
            if (n - k >= LANES)                                                                    \
                memcpy(&v, x + k, sizeof v);                                                       \
            else                                                                                   \
                for (size_t i = 0; i < LANES; i++)                                                 \
                    v[i] = x[k + (k + i < n ? i : 0)];                                             \
            mask m = (v > first) & (v < low);                                                      \
            low = (vector)(((mask)v & m) | ((mask)low & ~m));                                      \
            m = (v < last) & (v > high);                                                           \
            high = (vector)(((mask)v & m) | ((mask)high & ~m));                                    \
            m = (v > middle) & (v < above);                                                        \
            above = (vector)(((mask)v & m) | ((mask)above & ~m));                                  \
            m = (v <= middle) & (v > below);                                                       \
            below = (vector)(((mask)v & m) | ((mask)below & ~m));                                  \
        }                                                                                          \
        *in = (struct zmpi_fill_inner){INFINITY, -INFINITY, INFINITY, -INFINITY};                  \
        for (size_t i = 0; i < LANES; i++) {                                                       \
            in->low = (double)low[i] < in->low ? (double)low[i] : in->low;                         \
            in->high = (double)high[i] > in->high ? (double)high[i] : in->high;                    \
            in->above = (double)above[i] < in->above ? (double)above[i] : in->above;               \
            in->below = (double)below[i] > in->below ? (double)below[i] : in->below;               \
        }                                                                                          \
    }
FIND_INNER(float, int32_t, find_inner32, narrow_below)
FIND_INNER(double, int64_t, find_inner64, wide_below)

INLINE void find_inner(const struct zmpi_taken *t, const struct zmpi_range *range,
                       struct zmpi_fill_inner *in)
{
    const size_t n = t->rows * t->row;
    if (t->type == ZMPI_F32)
        find_inner32((const float *)(const void *)t->copy, n, range->min, range->max, in);
    else
        find_inner64(t->copy, n, range->min, range->max, in);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void find_inner_avx2(const struct zmpi_taken *t,
                                                            const struct zmpi_range *range,
                                                            struct zmpi_fill_inner *in)
{
    find_inner(t, range, in);
}
#else
#define find_inner_avx2 find_inner
#endif

struct zmpi_fill_inner zmpi_fill_inner(const struct zmpi_taken *t, const struct zmpi_range *range)
{
    struct zmpi_fill_inner in;
    if (zmpi_kernels() == &zmpi_kernels_scalar)
        find_inner(t, range, &in);
    else
        find_inner_avx2(t, range, &in);
    return in;
}

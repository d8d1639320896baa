/* components_place.c - components put together: any bytes of elements that take turns. */
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "judge/components.h"

/* What is put together at a time, in the first-level cache. */
enum { BLOCK_BYTES = 16384 };

/* Points of so few components that all of them are written in turn. */
#define POINTS(word, n)                                                                            \
    case n:                                                                                        \
        for (size_t i = 0; i < points; i++)                                                        \
            for (size_t c = 0; c < (n); c++)                                                       \
                memcpy(dst + (i * (n) + c) * sizeof(word), src[c] + i * sizeof(word),              \
                       sizeof(word));                                                              \
        return
#define TOGETHER(name, word)                                                                       \
    static void name(const unsigned char *const *src, size_t points, size_t n,                     \
                     unsigned char *restrict dst)                                                  \
    {                                                                                              \
        switch (n) {                                                                               \
            POINTS(word, 2);                                                                       \
            POINTS(word, 3);                                                                       \
            POINTS(word, 4);                                                                       \
            POINTS(word, 5);                                                                       \
            POINTS(word, 6);                                                                       \
            POINTS(word, 7);                                                                       \
            POINTS(word, 8);                                                                       \
        default:                                                                                   \
            return;                                                                                \
        }                                                                                          \
    }

TOGETHER(together32, uint32_t)
TOGETHER(together64, uint64_t)

/* To memory that is read much later: nothing of it is read into the caches first. */
static void copy_past(unsigned char *dst, const unsigned char *src, size_t n)
{
#ifdef __SSE2__
    size_t head = (size_t)(-(uintptr_t)dst % 16);
    head = head < n ? head : n;
    memcpy(dst, src, head);
    dst += head;
    src += head;
    n -= head;
    for (; n >= 16; n -= 16, dst += 16, src += 16)
        _mm_stream_si128((void *)dst, _mm_loadu_si128((const void *)src));
#endif
    memcpy(dst, src, n);
}

/* Elements of component c at `word`: what is wanted of bytes [lo, hi) goes to dst, where lo is. */
static void place_one(const struct zmpi_planes *p, size_t c, const unsigned char *word, uint64_t lo,
                      uint64_t hi, unsigned char *dst)
{
    const uint64_t width = p->width, point = p->n * width, at = c * width;
    /* Whole ones are [first, end). */
    const uint64_t first = lo > at ? (lo - at + point - 1) / point : 0;
    const uint64_t end = hi >= at + width ? (hi - at - width) / point + 1 : 0;
    if (end > first)
        zmpi_component_put(width == 8 ? ZMPI_F64 : ZMPI_F32, word + first * width,
                           (size_t)(end - first), (int)p->n, 0, dst + (at + first * point - lo));
    const uint64_t cut[2] = {first - 1, end > first ? end : first};
    for (int i = first == 0; i < 2; i++) {
        const uint64_t begin = at + cut[i] * point;
        const uint64_t from = begin > lo ? begin : lo, to = begin + width < hi ? begin + width : hi;
        if (from < to)
            memcpy(dst + (from - lo), word + cut[i] * width + (from - begin), (size_t)(to - from));
    }
}

static void place_each(const struct zmpi_planes *p, uint64_t lo, uint64_t hi, unsigned char *dst)
{
    for (size_t c = 0; c < p->planes && lo < hi; c++)
        place_one(p, p->first + c, p->word[c], lo, hi, dst);
}

static void place_block(const struct zmpi_planes *p, uint64_t lo, uint64_t hi, unsigned char *dst)
{
    const uint64_t point = p->n * p->width, first = (lo + point - 1) / point, end = hi / point;
    const unsigned char *src[ZMPI_COMPONENTS_FEW];
    if (p->planes < p->n || p->n > ZMPI_COMPONENTS_FEW || end <= first) {
        place_each(p, lo, hi, dst);
        return;
    }
    for (size_t c = 0; c < p->n; c++)
        src[c] = p->word[c] + first * p->width;
    place_each(p, lo, first * point, dst);
    (p->width == 8 ? together64 : together32)(src, (size_t)(end - first), p->n,
                                              dst + (first * point - lo));
    place_each(p, end * point, hi, dst + (end * point - lo));
}

void zmpi_components_place(const struct zmpi_planes *p, uint64_t lo, uint64_t hi, bool past,
                           unsigned char *dst)
{
    unsigned char block[BLOCK_BYTES];
    const bool aside = past && p->planes == p->n;
    for (uint64_t next; lo < hi; dst += next - lo, lo = next) {
        next = hi - lo < BLOCK_BYTES ? hi : lo + BLOCK_BYTES;
        place_block(p, lo, next, aside ? block : dst);
        if (aside)
            copy_past(dst, block, (size_t)(next - lo));
    }
}

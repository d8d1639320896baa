/* components_place.c - puts components together: any range of bytes of the interleaved array. */
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "judge/components.h"

/* Bytes that are interleaved at a time, so that they stay in the first-level cache. */
enum { BLOCK_BYTES = 16384 };

/* ---- whole points ---- */

/* Element e of interleaved points of n components, which begin at src[]. */
static const unsigned char *element(const unsigned char *const *src, size_t n, size_t width,
                                    size_t e)
{
    return src[e % n] + e / n * width;
}

#ifdef __SSE2__
static inline __m128 load32(const unsigned char *at)
{
    return _mm_load_ss((const float *)(const void *)at);
}

/* Writes n vectors of consecutive elements at a time; at[] has the addresses of the first ones.
 * `past`: dst is a multiple of 16, and the stores bypass the caches. */
static inline void weave(const unsigned char *const *at, size_t n, size_t width, size_t groups,
                         bool past, unsigned char *dst)
{
    for (size_t i = 0; i < 16 * groups; i += 16)
        for (size_t v = 0; v < n; v++, dst += 16) {
            const unsigned char *const *of = at + v * (16 / width);
            __m128 x;
            if (width == 8) {
                x = _mm_loadl_pi(_mm_setzero_ps(), (const __m64 *)(const void *)(of[0] + i));
                x = _mm_loadh_pi(x, (const __m64 *)(const void *)(of[1] + i));
            } else {
                x = _mm_movelh_ps(_mm_unpacklo_ps(load32(of[0] + i), load32(of[1] + i)),
                                  _mm_unpacklo_ps(load32(of[2] + i), load32(of[3] + i)));
            }
            if (past)
                _mm_stream_ps((float *)(void *)dst, x);
            else
                _mm_storeu_ps((float *)(void *)dst, x);
        }
}

/* Interleaves all elements but a few; returns their number. */
static size_t weave_points(const unsigned char *const *src, size_t points, size_t n, size_t width,
                           bool past, unsigned char *dst)
{
    const unsigned char *at[4 * ZMPI_COMPONENTS_MOST];
    const size_t lanes = 16 / width, all = points * n;
    const bool fits = (uintptr_t)dst % width == 0;
    const size_t head = fits ? (size_t)(-(uintptr_t)dst % 16) / width : 0;
    if (all < head + lanes * n)
        return 0;
    for (size_t e = 0; e < head; e++)
        memcpy(dst + e * width, element(src, n, width, e), width);
    for (size_t e = 0; e < lanes * n; e++)
        at[e] = element(src, n, width, head + e);
    const size_t groups = (all - head) / (lanes * n);
    if (width == 8)
        weave(at, n, 8, groups, past && fits, dst + head * width);
    else
        weave(at, n, 4, groups, past && fits, dst + head * width);
    return head + groups * lanes * n;
}
#else
static size_t weave_points(const unsigned char *const *src, size_t points, size_t n, size_t width,
                           bool past, unsigned char *dst)
{
    (void)past;
    for (size_t i = 0; i < points; i++)
        for (size_t c = 0; c < n; c++, dst += width)
            memcpy(dst, src[c] + i * width, width);
    return points * n;
}
#endif

static void place_points(const struct zmpi_planes *p, uint64_t first, uint64_t end, bool past,
                         unsigned char *dst)
{
    const unsigned char *src[ZMPI_COMPONENTS_MOST];
    const size_t all = (size_t)(end - first) * p->n, width = p->width;
    for (size_t c = 0; c < p->n; c++)
        src[c] = p->word[c] + first * width;
    for (size_t e = weave_points(src, (size_t)(end - first), p->n, width, past, dst); e < all; e++)
        memcpy(dst + e * width, element(src, p->n, width, e), width);
}

/* ---- any bytes ---- */

/* Interleaves elements of component c at `word`: those in bytes [lo, hi) go to dst, where lo is. */
static void place_one(const struct zmpi_planes *p, size_t c, const unsigned char *word, uint64_t lo,
                      uint64_t hi, unsigned char *dst)
{
    const uint64_t width = p->width, point = p->n * width, at = c * width;
    /* [first, end) are the elements that lie wholly in [lo, hi). */
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

void zmpi_components_place(const struct zmpi_planes *p, uint64_t lo, uint64_t hi, bool past,
                           unsigned char *dst)
{
    const uint64_t point = p->n * p->width, first = (lo + point - 1) / point, end = hi / point;
    if (p->planes == p->n && end > first) {
        place_each(p, lo, first * point, dst);
        place_points(p, first, end, past, dst + (first * point - lo));
        place_each(p, end * point, hi, dst + (end * point - lo));
        return;
    }
    for (uint64_t next; lo < hi; dst += next - lo, lo = next) {
        next = hi - lo < BLOCK_BYTES ? hi : lo + BLOCK_BYTES;
        place_each(p, lo, next, dst);
    }
}

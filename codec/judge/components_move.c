/* components_move.c - takes interleaved components apart, and puts one of them back. */
#include <stdatomic.h>
#include <string.h>

#include "base/pool.h"
#include "judge/components.h"

/* BLOCK_BYTES of points stay in the first-level cache. A thread takes PORTION points at a time. */
enum { BLOCK_BYTES = 16384, PORTION = 16384, LINE = 64 };

/* Takes every n-th element, from any address. `restrict` lets the compiler keep everything else in
 * registers. For each line of dst it fetches one from `ahead` on: all at once would wait for each
 * other. */
#define TAKE(name, word, LINE_OF)                                                                  \
    static void name(const unsigned char *restrict src, size_t points, size_t n,                   \
                     unsigned char *restrict dst, const unsigned char *ahead)                      \
    {                                                                                              \
        enum { EACH = LINE / sizeof(word) };                                                       \
        size_t i = 0;                                                                              \
        for (; i + EACH <= points; i += EACH) {                                                    \
            __builtin_prefetch(ahead + i * sizeof(word));                                          \
            LINE_OF(src + i * n * sizeof(word), n, dst + i * sizeof(word));                        \
        }                                                                                          \
        for (; i < points; i++)                                                                    \
            memcpy(dst + i * sizeof(word), src + i * n * sizeof(word), sizeof(word));              \
    }
#define PUT(name, word)                                                                            \
    static void name(const unsigned char *restrict src, size_t points, size_t n,                   \
                     unsigned char *restrict dst)                                                  \
    {                                                                                              \
        for (size_t i = 0; i < points; i++)                                                        \
            memcpy(dst + i * n * sizeof(word), src + i * sizeof(word), sizeof(word));              \
    }

static inline uint32_t load32(const unsigned char *at)
{
    uint32_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

/* Four at a time: one store of four elements takes as long as a store of one. */
static inline void line32(const unsigned char *restrict src, size_t n, unsigned char *restrict dst)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    const size_t apart = n * sizeof(uint32_t);
    for (size_t i = 0; i < LINE; i += sizeof(four), src += 4 * apart) {
        const four x = {load32(src), load32(src + apart), load32(src + 2 * apart),
                        load32(src + 3 * apart)};
        memcpy(dst + i, &x, sizeof x);
    }
}

static inline void line64(const unsigned char *restrict src, size_t n, unsigned char *restrict dst)
{
    for (size_t i = 0; i < LINE; i += sizeof(uint64_t), src += n * sizeof(uint64_t))
        memcpy(dst + i, src, sizeof(uint64_t));
}

TAKE(take32, uint32_t, line32)
TAKE(take64, uint64_t, line64)
PUT(put32, uint32_t)
PUT(put64, uint64_t)

static void take(enum zmpi_type type, const unsigned char *src, size_t points, int n, int c,
                 unsigned char *dst, const unsigned char *ahead)
{
    const size_t width = zmpi_type_size(type);
    if (width == 8)
        take64(src + (size_t)c * width, points, (size_t)n, dst, ahead);
    else
        take32(src + (size_t)c * width, points, (size_t)n, dst, ahead);
}

void zmpi_component_take(enum zmpi_type type, const void *src, size_t count, int n, int c,
                         void *dst)
{
    take(type, src, count / (size_t)n, n, c, dst, src);
}

void zmpi_component_put(enum zmpi_type type, const void *src, size_t points, int n, int c,
                        void *dst)
{
    const size_t width = zmpi_type_size(type);
    unsigned char *first = (unsigned char *)dst + (size_t)c * width;
    if (width == 8)
        put64(src, points, (size_t)n, first);
    else
        put32(src, points, (size_t)n, first);
}

/* ---- all of them, by several threads ---- */

struct move {
    enum zmpi_type type;
    const unsigned char *mixed;
    unsigned char *planes;
    size_t points, plane; /* plane: elements from one component to the next */
    int n;
    atomic_size_t next; /* point */
};

/* Meanwhile fetches the next block, a part of it with each component. */
static void split_block(const struct move *m, size_t at, size_t points)
{
    const size_t width = zmpi_type_size(m->type), n = (size_t)m->n, part = points * width;
    const unsigned char *src = m->mixed + at * n * width, *ahead = src + n * part;
    for (int c = 0; c < m->n; c++, ahead += part)
        take(m->type, src, points, m->n, c, m->planes + ((size_t)c * m->plane + at) * width, ahead);
}

static void split_portions(void *context)
{
    struct move *m = context;
    const size_t block = BLOCK_BYTES / ((size_t)m->n * zmpi_type_size(m->type));
    size_t begin;
    while ((begin = atomic_fetch_add(&m->next, PORTION)) < m->points) {
        const size_t end = m->points - begin < PORTION ? m->points : begin + PORTION;
        for (size_t at = begin; at < end; at += block)
            split_block(m, at, end - at < block ? end - at : block);
    }
}

void zmpi_components_split(enum zmpi_type type, const void *src, size_t points, int n, int threads,
                           void *dst, size_t plane)
{
    struct move m = {
        .type = type, .mixed = src, .planes = dst, .points = points, .plane = plane, .n = n};
    const size_t portions = (points + PORTION - 1) / PORTION;
    zmpi_pool_run(portions < (size_t)threads ? (int)portions : threads, split_portions, &m);
}

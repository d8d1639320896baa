/* components_move.c - takes interleaved components apart, and puts one of them back. */
#include <stdatomic.h>
#include <string.h>

#include "base/pool.h"
#include "judge/components.h"

/* BLOCK_BYTES of points stay in the first-level cache. A thread takes PORTION points at a time. */
enum { BLOCK_BYTES = 16384, PORTION = 16384, LINE = 64 };

/* Takes every n-th element, from any address. `restrict` lets the compiler keep everything else in
 * registers. */
#define TAKE(name, word)                                                                           \
    static void name(const unsigned char *restrict src, size_t points, size_t n,                   \
                     unsigned char *restrict dst)                                                  \
    {                                                                                              \
        for (size_t i = 0; i < points; i++)                                                        \
            memcpy(dst + i * sizeof(word), src + i * n * sizeof(word), sizeof(word));              \
    }
#define PUT(name, word)                                                                            \
    static void name(const unsigned char *restrict src, size_t points, size_t n,                   \
                     unsigned char *restrict dst)                                                  \
    {                                                                                              \
        for (size_t i = 0; i < points; i++)                                                        \
            memcpy(dst + i * n * sizeof(word), src + i * sizeof(word), sizeof(word));              \
    }

TAKE(take32_each, uint32_t)
TAKE(take64, uint64_t)
PUT(put32, uint32_t)
PUT(put64, uint64_t)

static inline uint32_t load32(const unsigned char *at)
{
    uint32_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

/* Four at a time: one store of four elements takes as long as a store of one. */
static void take32(const unsigned char *restrict src, size_t points, size_t n,
                   unsigned char *restrict dst)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    const size_t apart = n * sizeof(uint32_t), whole = points / 4 * 4;
    for (size_t i = 0; i < whole; i += 4) {
        const unsigned char *at = src + i * apart;
        const four x = {load32(at), load32(at + apart), load32(at + 2 * apart),
                        load32(at + 3 * apart)};
        memcpy(dst + i * sizeof(uint32_t), &x, sizeof x);
    }
    take32_each(src + whole * apart, points - whole, n, dst + whole * sizeof(uint32_t));
}

void zmpi_component_take(enum zmpi_type type, const void *src, size_t count, int n, int c,
                         void *dst)
{
    const size_t width = zmpi_type_size(type), points = count / (size_t)n;
    const unsigned char *first = (const unsigned char *)src + (size_t)c * width;
    if (width == 8)
        take64(first, points, (size_t)n, dst);
    else
        take32(first, points, (size_t)n, dst);
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
    for (int c = 0; c < m->n; c++, ahead += part) {
        for (size_t i = 0; i < part; i += LINE)
            __builtin_prefetch(ahead + i);
        zmpi_component_take(m->type, src, points * n, m->n, c,
                            m->planes + ((size_t)c * m->plane + at) * width);
    }
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

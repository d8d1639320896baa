/* flare_schedule.c - the look-ahead order, and the points that wait in it (FLARE 3.1, Fig. 4 and
 * 5). */
#include "flare_model.h"

struct walk {
    const size_t *extent;
    struct flare_slab *slab;
    size_t n, most;
};

/* Points of a level in planes [from, to) of the array. */
static uint64_t points_of(const size_t extent[3], size_t stride, size_t from, size_t to)
{
    const size_t end = to < extent[0] ? to : extent[0];
    const uint64_t planes = end > from ? (end - from + stride - 1) / stride : 0;
    return planes * ((extent[1] + stride - 1) / stride) * ((extent[2] + stride - 1) / stride);
}

/*
 * The blocks of a level from plane z on. The lower half of their points becomes part of the next
 * level; the upper half waits until that is done. waiting: points of earlier levels that wait.
 */
static void go(struct walk *w, unsigned level, size_t z, uint64_t waiting)
{
    const size_t stride = (size_t)1 << (level - 1), side = FLARE_SIDE * stride;
    const uint64_t all = points_of(w->extent, stride, z, z + side);
    const uint64_t old = points_of(w->extent, 2 * stride, z, z + side);
    if (w->n < w->most)
        w->slab[w->n] = (struct flare_slab){level, z, all, all - old, waiting};
    w->n++;
    if (level == 1)
        return;
    const uint64_t upper = points_of(w->extent, stride, z + side / 2, z + side);
    go(w, level - 1, z, waiting + upper);
    if (z + side / 2 < w->extent[0])
        go(w, level - 1, z + side / 2, waiting);
}

size_t flare_schedule(const size_t extent[3], unsigned levels, struct flare_slab *slab, size_t most)
{
    struct walk w = {.extent = extent, .slab = slab, .most = most};
    const size_t region = (size_t)FLARE_SIDE << (levels - 1);
    for (size_t z = 0; z < extent[0]; z += region)
        go(&w, levels, z, 0);
    return w.n;
}

uint64_t flare_peak(const struct flare_slab *slab, size_t n)
{
    uint64_t peak = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t now = slab[i].points + slab[i].waiting;
        peak = now > peak ? now : peak;
    }
    return peak;
}

double flare_share(unsigned levels)
{
    double share = 1;
    for (unsigned l = 1; l < levels; l++)
        share /= 2;
    for (unsigned l = 2; l <= levels; l++) {
        double half = 1;
        for (unsigned k = 0; k < levels - l + 1; k++)
            half /= 2;
        for (unsigned k = 0; k < l - 1; k++)
            half /= 8;
        share += half;
    }
    return share;
}

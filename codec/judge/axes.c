/* axes.c - the axes of differences, chosen once for the whole array (format.md 4.6). */
#include "judge/axes.h"
#include "layout/plan_rows.h"

/*
 * The sampled chunks, floor((2i + 1) chunks / 2n) for i = 0..n-1, one after the other. The walk
 * only adds: divisions took a fifth of the choice's time.
 */
struct walk {
    size_t at[3], step[3]; /* in the grid */
    size_t rest, over, n;  /* over: a step adds it to the rest of (2i + 1) chunks / 2n */
};

static struct walk walk_begin(const struct zmpi_plan *p, size_t chunks, size_t n)
{
    struct walk w = {.rest = chunks % (2 * n), .over = 2 * (chunks % n), .n = n};
    zmpi_plan_place(p, chunks / (2 * n), w.at);
    zmpi_plan_place(p, chunks / n, w.step);
    return w;
}

static inline void walk_on(struct walk *w, const struct zmpi_plan *p)
{
    const bool more = w->rest + w->over >= 2 * w->n;
    w->rest += w->over - (more ? 2 * w->n : 0);
    const size_t x = w->at[2] + w->step[2] + more;
    const bool line = x >= p->grid[2];
    w->at[2] = x - (line ? p->grid[2] : 0);
    const size_t y = w->at[1] + w->step[1] + line;
    const bool plane = y >= p->grid[1];
    w->at[1] = y - (plane ? p->grid[1] : 0);
    w->at[0] += w->step[0] + plane;
}

void zmpi_axes_look_at(zmpi_chunk_cost_fn *cost_of, const struct zmpi_plan *p,
                       const struct zmpi_chunk_rule *rule, const unsigned char *src, size_t most,
                       struct zmpi_axes_look *look)
{
    size_t extent[3], chunks;
    const size_t all = zmpi_plan_samples(p, &chunks), n = all < most ? all : most;
    *look = (struct zmpi_axes_look){.blocks = n};
    if (chunks == 0)
        return;
    struct walk w = walk_begin(p, chunks, n);
    for (size_t i = 0; i < n; i++, walk_on(&w, p)) {
        struct zmpi_rows rows = zmpi_plan_rows(p, w.at, src, extent);
        /* Steps of the golden ratio: no two samples lie at the same place of their tiles. */
        look->counted += cost_of(rule, extent, &rows, i * 40503 & 0xFFFF, look->cost);
    }
}

unsigned zmpi_axes_cheapest(const struct zmpi_axes_look *look, unsigned sets)
{
    unsigned best = 8;
    for (unsigned axes = 0; axes < 8; axes++)
        if (sets & 1U << axes && (best == 8 || look->cost[axes] < look->cost[best]))
            best = axes;
    return best;
}

unsigned zmpi_axes_choice(const struct zmpi_axes_look *look)
{
    return look->counted ? zmpi_axes_cheapest(look, ZMPI_AXES_ALL) : ZMPI_AXIS_X;
}

unsigned zmpi_plan_axes_by(zmpi_chunk_cost_fn *cost_of, const struct zmpi_plan *p,
                           const struct zmpi_chunk_rule *rule, const unsigned char *src)
{
    struct zmpi_axes_look look;
    zmpi_axes_look_at(cost_of, p, rule, src, SIZE_MAX, &look);
    return zmpi_axes_choice(&look);
}

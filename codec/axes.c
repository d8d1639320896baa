/* axes.c - the axes of differences, chosen once for the whole array (format.md 4.6). */
#include "axes.h"
#include "plan_rows.h"

/* All sets of axes, as a mask. */
enum { ALL = 0xFF };

/* To take axes that were right before, a sixth of the blocks must do, at least 5. They must be
 * within a 16th of the cheapest, and not empty nearly everywhere: two bits each tell something. */
enum { FEWER = 6, LEAST = 5, NEAR = 16, TELLING = 2 };

/*
 * The sampled chunks, floor((2i + 1) chunks / 2n) for i = 0..n-1, one after the other. By
 * additions: the divisions took a fifth of the choice.
 */
struct walk {
    size_t at[3], step[3]; /* in the grid */
    size_t rest, over, n;  /* over: what the rest of (2i + 1) chunks / 2n grows by */
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

/* What n sampled blocks cost by each set of axes; returns how many of them were counted. */
static size_t costs_of(zmpi_chunk_cost_fn *cost_of, const struct zmpi_plan *p,
                       const struct zmpi_chunk_rule *rule, const unsigned char *src, size_t chunks,
                       size_t n, size_t cost[8])
{
    size_t counted = 0, extent[3];
    struct walk w = walk_begin(p, chunks, n);
    for (size_t i = 0; i < n; i++, walk_on(&w, p)) {
        struct zmpi_rows rows = zmpi_plan_rows(p, w.at, src, extent);
        /* Steps of the golden ratio: no two samples at the same place of their tiles. */
        counted += cost_of(rule, extent, &rows, i * 40503 & 0xFFFF, cost);
    }
    return counted;
}

/* The cheapest of the sets in `mask`, one bit each; the first of equals. */
static unsigned cheapest(const size_t cost[8], unsigned mask)
{
    unsigned best = 8;
    for (unsigned axes = 0; axes < 8; axes++)
        if (mask & 1U << axes && (best == 8 || cost[axes] < cost[best]))
            best = axes;
    return best;
}

unsigned zmpi_plan_axes_by(zmpi_chunk_cost_fn *cost_of, const struct zmpi_plan *p,
                           const struct zmpi_chunk_rule *rule, const unsigned char *src)
{
    size_t cost[8] = {0}, chunks;
    const size_t n = zmpi_plan_samples(p, &chunks);
    if (chunks == 0 || costs_of(cost_of, p, rule, src, chunks, n, cost) == 0)
        return ZMPI_AXIS_X;
    return cheapest(cost, ALL);
}

bool zmpi_plan_axes_among(zmpi_chunk_cost_fn *cost_of, const struct zmpi_plan *p,
                          const struct zmpi_chunk_rule *rule, const unsigned char *src,
                          unsigned mask, unsigned *axes)
{
    size_t cost[8] = {0}, chunks;
    const size_t all = zmpi_plan_samples(p, &chunks), n = all / FEWER < LEAST ? LEAST : all / FEWER;
    if (mask == 0 || chunks == 0 || costs_of(cost_of, p, rule, src, chunks, n, cost) == 0)
        return false;
    *axes = cheapest(cost, mask);
    const size_t least = cost[cheapest(cost, ALL)];
    return least >= TELLING * n && cost[*axes] - least <= least / NEAR;
}

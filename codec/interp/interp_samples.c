/* interp_samples.c - measures what sets cost, in a few tiles of an array (format.md 4.10). */
#include "interp/interp_choice.h"

/* Planes must be smaller by this much: they take longer. */
#define PLANES_GAIN 0.04

const struct cost zmpi_interp_endless = {.bits = 1e300, .first = {1e300, 1e300, 1e300, 1e300}};

/* The extents of the samples' tiles: of the same ones for all sets, since some places take more
 * bits than others. Those of planes are as the set's, which decide how many planes have one `lag`
 * before them. */
static void sample_tile(const struct choice *c, const struct zmpi_interp_set *set, size_t tile[3])
{
    const bool own = c->chunks || set->family == ZMPI_INTERP_PLANES;
    zmpi_interp_tile(c->plan->words, own ? tile_axes(set) : ZMPI_ALL_AXES, tile);
    while (tile[0] * tile[1] * tile[2] > c->elements) {
        int longest = tile[1] >= tile[2] ? 1 : 2;
        if (tile[0] >= tile[longest] && tile[0] >= 8 * (size_t)set->lag)
            longest = 0;
        tile[longest] = (tile[longest] + 1) / 2;
    }
}

static struct zmpi_rows rows_at(const struct zmpi_plan *p, const unsigned char *src,
                                const size_t first[3])
{
    const size_t row = p->words[2] * p->width, plane = p->words[1] * row;
    src += first[0] * plane + first[1] * row + first[2] * p->width;
    return (struct zmpi_rows){.at = (unsigned char *)src, .row = row, .plane = plane};
}

/* Samples are far from each other along all axes; the first lies in the middle. */
static void sample_place(size_t s, const size_t words[3], const size_t tile[3],
                         const size_t grid[3], size_t first[3])
{
    /* Powers of the root of x^4 = x + 1, in 1/65536. */
    static const uint32_t apart[] = {53685, 43977, 36025};
    for (int i = 0; i < 3; i++) {
        first[i] = ((32768 + s * apart[i]) % 65536 * grid[i] >> 16) * tile[i];
        if (first[i] > words[i] - tile[i])
            first[i] = words[i] - tile[i];
    }
}

struct cost zmpi_interp_measure(struct choice *c, struct zmpi_interp_set *set, bool choose,
                                const struct cost *most, struct cost cost)
{
    const struct zmpi_plan *p = c->plan;
    size_t tile[3], grid[3], tiles = 1;
    sample_tile(c, set, tile);
    if (set->family != ZMPI_INTERP_LORENZO)
        set->levels = zmpi_interp_levels(set->axes, tile);
    if (!*c->work) /* for all samples */
        *c->work = zmpi_interp_work_for(NULL, c->plan->tile, set);
    *c->work = *c->work ? zmpi_interp_work_for(*c->work, tile, set) : NULL;
    c->failed |= !*c->work;
    for (int i = 0; i < 3; i++) {
        grid[i] = p->words[i] / tile[i] + (!c->chunks && p->words[i] % tile[i] != 0);
        tiles *= grid[i];
    }
    const size_t samples = tiles < c->samples ? tiles : c->samples;
    const double more = set->family == ZMPI_INTERP_PLANES ? 1 + PLANES_GAIN : 1;
    const double each = 256 * (double)(tile[0] * tile[1] * tile[2]) / more;
    bool known = !c->from || cost.known;
    if (c->failed)
        return zmpi_interp_endless;
    for (size_t s = c->from; s < samples; s++) {
        size_t first[3];
        sample_place(s, p->words, tile, grid, first);
        const struct zmpi_rows rows = rows_at(p, c->src, first);
        enum zmpi_interp_origin origin;
        cost.sum +=
            zmpi_interp_estimate(*c->work, c->rule, set, choose && s == 0, tile, &rows, &origin);
        known &= origin == ZMPI_INTERP_DECODED_BY_IT;
        c->fresh &= origin == ZMPI_INTERP_FRESH;
        cost.first[s] = (double)cost.sum / each / (double)(s + 1);
        if (c->fresh && (cost.first[s] > most->first[s] ||
                         (double)cost.sum / each > most->bits * (double)samples))
            return zmpi_interp_endless;
    }
    cost.known = known;
    cost.bits = cost.first[samples - 1];
    cost.elements = c->elements;
    return cost;
}

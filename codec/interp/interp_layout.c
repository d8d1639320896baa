/* interp_layout.c - where the classes of a tile's lattice lie in memory (format.md 1.5). */
#include <string.h>

#include "interp/interp_work.h"

/* longest: that of the rows of all classes of a level, which have the same pitch. Returns the
 * number of cells, those behind the rows included. */
static size_t set_cells(struct cells *c, const int n[3], int longest)
{
    memcpy(c->n, n, sizeof c->n);
    c->row = (size_t)longest + 2 * PAD;
    c->plane = c->row * (size_t)n[1];
    return c->plane * (size_t)n[0] + BEHIND;
}

static void place_cells(struct zmpi_interp_work *w, struct cells *c, const int n[3], int longest,
                        bool planes, size_t *at)
{
    c->value = w->values + *at + PAD;
    c->whole = (planes ? w->wholes : w->values) + *at + PAD;
    c->size = w->sizes + *at + PAD;
    *at += set_cells(c, n, longest);
}

/* The number of points in class p along axis i (0: z) of n points. */
static int class_extent(unsigned axes, unsigned p, int i, int n)
{
    if (!(axes >> (2 - i) & 1))
        return n;
    return p >> (2 - i) & 1 ? n / 2 : (n + 1) / 2;
}

void zmpi_interp_layout(struct zmpi_interp_work *w, const struct zmpi_interp_set *set,
                        const size_t extent[3])
{
    const bool planes = set->family == ZMPI_INTERP_PLANES;
    size_t at = 0;
    int n[3] = {(int)extent[0], (int)extent[1], (int)extent[2]};
    place_cells(w, &w->flat, n, n[2], false, &at);
    if (set->family == ZMPI_INTERP_LORENZO)
        return;
    for (unsigned l = 0; l < set->levels; l++) {
        memcpy(w->level[l].n, n, sizeof n);
        for (unsigned p = 0; p < 8; p++) {
            struct cells *c = &w->level[l].of[p];
            int m[3];
            if (p & ~set->axes)
                continue;
            for (int i = 0; i < 3; i++)
                m[i] = class_extent(set->axes, p, i, n[i]);
            place_cells(w, c, m, class_extent(set->axes, 0, 2, n[2]), planes, &at);
        }
        memcpy(n, w->level[l].of[0].n, sizeof n);
    }
}

size_t zmpi_interp_cells(const struct zmpi_interp_set *set, const size_t tile[3], size_t *rows)
{
    int n[3] = {(int)tile[0], (int)tile[1], (int)tile[2]};
    struct cells c;
    size_t used = set_cells(&c, n, n[2]);
    *rows = tile[0] * tile[1];
    for (unsigned l = 0; set->family != ZMPI_INTERP_LORENZO && l < set->levels; l++) {
        int m[3];
        for (unsigned p = 8; p-- > 0;) {
            if (p & ~set->axes)
                continue;
            for (int i = 0; i < 3; i++)
                m[i] = class_extent(set->axes, p, i, n[i]);
            used += set_cells(&c, m, class_extent(set->axes, 0, 2, n[2]));
            *rows += (size_t)m[0] * (size_t)m[1];
        }
        memcpy(n, m, sizeof n);
    }
    return used;
}

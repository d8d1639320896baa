/* interp_work.c - the workspace of a thread: its memory, and where the classes of a tile's lattice
 * lie in it (format.md 1.5). */
#include <stdlib.h>
#include <string.h>

#include "interp/flare/flare.h"

/* ---- where the classes lie ---- */

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

/* ---- memory ---- */

const struct zmpi_interp_set zmpi_interp_flat = {.family = ZMPI_INTERP_LORENZO};

/* Allocates memory with padding behind it, for loops of whole vectors. */
static void *get(size_t bytes)
{
    return aligned_alloc(64, (bytes + 511) / 64 * 64);
}

static void *get_zeros(size_t bytes)
{
    return calloc((bytes + 511) / 64, 64);
}

/* Counts the cells and rows that tiles of these sets need. */
static void count_cells(const size_t tile[3], const struct zmpi_interp_set *set, unsigned sets,
                        size_t *cells, size_t *rows)
{
    *cells = zmpi_interp_cells(&zmpi_interp_flat, tile, rows);
    for (unsigned k = 0; k < sets; k++) {
        size_t r, n = zmpi_interp_cells(&set[k], tile, &r);
        *cells = n > *cells ? n : *cells;
        *rows = r > *rows ? r : *rows;
    }
}

static struct capacity capacity_for(const size_t tile[3], const struct zmpi_interp_set *set,
                                    unsigned sets)
{
    struct capacity c = {.most = tile[0] * tile[1] * tile[2], .longest = tile[2] + 2 * PAD};
    count_cells(tile, set, sets, &c.cells, &c.rows);
    for (unsigned k = 0; k < sets; k++)
        c.planes |= set[k].family == ZMPI_INTERP_PLANES;
    return c;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Allocates a workspace. No sets: for the profile FLARE. */
static struct zmpi_interp_work *make(const struct capacity *c, unsigned sets, bool encode)
{
    struct zmpi_interp_work *w = get(sizeof *w);
    if (!w)
        return NULL;
    memset(w, 0, sizeof *w);
    w->capacity = *c;
    w->values = get_zeros(c->cells * sizeof *w->values); /* zeros, since loops read pads, too */
    w->sizes = get_zeros(c->cells);
    w->wholes = c->planes ? get_zeros(c->cells * sizeof *w->wholes) : NULL;
    w->loops = zmpi_kernels()->interp;
    bool all = w->values && w->sizes && (w->wholes || !c->planes);
    const size_t strip = larger(c->longest, ZMPI_INTERP_STRIP);
    for (int i = 0; i < ZMPI_INTERP_SCRATCH; i++)
        all &= (w->scratch[i] = get_zeros(strip * sizeof(int32_t))) != NULL;
    all &= (w->contexts = get_zeros(strip)) != NULL;
    all &= (w->symbols = get_zeros(strip)) != NULL;
    all &= (w->sums = get_zeros(strip * sizeof *w->sums)) != NULL;
    all &= (w->exception = get(c->most)) != NULL;
    all &= (w->differs = get_zeros(c->most)) != NULL;
    for (int i = 0; i < 3; i++)
        all &= (w->clean[i] = get_zeros(c->longest * sizeof(double))) != NULL;
    if (!sets) {
        all &= (w->flare = zmpi_flare_coder_new(c->most, encode)) != NULL;
    } else if (encode) {
        all &= (w->codes.pair = get(c->most * sizeof *w->codes.pair)) != NULL;
        all &= (w->codes.raw = get(4 * c->most)) != NULL;
        all &= (w->codes.rows = get(c->rows * sizeof(uint32_t))) != NULL;
        w->logs = zmpi_interp_logs();
    } else {
        all &= (w->slots = get((size_t)ZMPI_INTERP_CONTEXTS << 14)) != NULL;
    }
    w->out_size = 2 * c->most + 4;
    all &= (w->out = get(w->out_size + zmpi_interp_behind(w))) != NULL;
    if (all)
        return w;
    zmpi_interp_work_free(w);
    return NULL;
}

struct zmpi_interp_work *zmpi_interp_work_new(const size_t tile[3],
                                              const struct zmpi_interp_set *set, unsigned sets,
                                              bool encode)
{
    const struct capacity c = capacity_for(tile, set, sets);
    return make(&c, sets, encode);
}

struct zmpi_interp_work *zmpi_interp_work_for(struct zmpi_interp_work *w, const size_t tile[3],
                                              const struct zmpi_interp_set *set)
{
    struct capacity c = capacity_for(tile, set, 1);
    if (w) {
        const struct capacity *had = &w->capacity;
        if (c.cells <= had->cells && c.rows <= had->rows && c.longest <= had->longest &&
            c.most <= had->most)
            return w;
        c.cells = larger(c.cells, had->cells);
        c.rows = larger(c.rows, had->rows);
        c.longest = larger(c.longest, had->longest);
        c.most = larger(c.most, had->most);
        zmpi_interp_work_free(w);
    }
    /* Room for other sets, too. What is never touched costs nothing. */
    c.cells = larger(c.cells, 4 * c.most);
    c.rows = larger(c.rows, c.most / 4);
    c.planes = true;
    return make(&c, 1, true);
}

void zmpi_interp_work_free(struct zmpi_interp_work *w)
{
    if (!w)
        return;
    free(w->values);
    free(w->wholes);
    free(w->sizes);
    for (int i = 0; i < ZMPI_INTERP_SCRATCH; i++)
        free(w->scratch[i]);
    free(w->contexts);
    free(w->symbols);
    free(w->sums);
    free(w->codes.pair);
    free(w->codes.raw);
    free(w->codes.rows);
    free(w->exception);
    zmpi_flare_coder_free(w->flare);
    free(w->books);
    free(w->differs);
    for (int i = 0; i < ZMPI_INTERP_KEPT; i++)
        free(w->kept[i].values);
    for (int i = 0; i < 3; i++)
        free(w->clean[i]);
    free(w->out);
    free(w->slots);
    free(w);
}

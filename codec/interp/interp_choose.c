/* interp_choose.c - what an array is predicted by (format.md 4.10): of all families and axes what
 * costs least in a few sample tiles; but first of all what it was decoded by, if it was. */
#include <string.h>

#include "interp/interp.h"
#include "layout/fills.h"
#include "layout/plan.h"

/* Some twenty sets are measured on samples, which are a small share of a large array. */
enum { SAMPLES = 3, SHARE = 256, SMALLEST = 1 << 15, RECALLED = 1 << 12 };

struct choice {
    const struct zmpi_plan *plan;
    const struct zmpi_interp_rule *rule;
    const unsigned char *src;
    struct zmpi_interp_work *work; /* of one sample after another; NULL: none yet */
    size_t elements;               /* of samples, at most */
    size_t samples;                /* at most */
    struct zmpi_interp_set best;
    double least; /* bits for an element */
    struct {
        struct zmpi_interp_set set;
        double bits;
    } of[ZMPI_INTERP_LORENZO + 1]; /* of each family the best */
    bool known;                    /* it is what the data were decoded by, as it seems */
    bool fresh;                    /* no sample looks as if it had been decoded at all */
};

/* The extents of the samples' tiles: those of the stream's chunks where these are few, else smaller
 * ones. */
static void sample_tile(const struct choice *c, unsigned axes, size_t tile[3])
{
    zmpi_interp_tile(c->plan->words, axes, tile);
    while (tile[0] * tile[1] * tile[2] > c->elements) {
        int longest = tile[0] >= tile[1] && tile[0] >= tile[2] ? 0 : tile[1] >= tile[2] ? 1 : 2;
        tile[longest] = (tile[longest] + 1) / 2;
    }
}

static struct zmpi_rows rows_at(const struct zmpi_plan *p, const unsigned char *src,
                                const size_t first[3])
{
    const size_t row = p->words[2] * p->width, plane = p->words[1] * row;
    return (struct zmpi_rows){.at = (unsigned char *)src + first[0] * plane + first[1] * row +
                                    first[2] * p->width,
                              .row = row,
                              .plane = plane};
}

/* Bits for an element by the set; choose: its ways, by the middle sample. */
static bool measure(struct choice *c, struct zmpi_interp_set *set, bool choose, double *bits,
                    bool *known)
{
    *known = true;
    const struct zmpi_plan *p = c->plan;
    size_t tile[3], grid[3], tiles = 1, sum = 0;
    uint64_t cost = 0;
    sample_tile(c, set->axes, tile);
    if (set->family == ZMPI_INTERP_LATTICE) {
        const unsigned levels = zmpi_interp_levels(set->axes, tile);
        if (choose)
            set->levels = levels;
        else if (levels != set->levels)
            return false;
    }
    if (c->work && !zmpi_interp_work_fits(c->work, tile, set)) {
        zmpi_interp_work_free(c->work);
        c->work = NULL;
    }
    if (!c->work && !(c->work = zmpi_interp_work_new(tile, set, 1, true)))
        return false;
    for (int i = 0; i < 3; i++) {
        grid[i] = p->words[i] / tile[i];
        tiles *= grid[i];
    }
    const size_t samples = tiles < c->samples ? tiles : c->samples;
    for (size_t s = 0; s < samples; s++) {
        const size_t turn = (s + samples / 2) % samples; /* the middle one first */
        const size_t k = (2 * turn + 1) * tiles / (2 * samples);
        const size_t first[3] = {k / grid[2] / grid[1] * tile[0], k / grid[2] % grid[1] * tile[1],
                                 k % grid[2] * tile[2]};
        const struct zmpi_rows rows = rows_at(p, c->src, first);
        enum zmpi_interp_origin origin;
        cost += zmpi_interp_estimate(c->work, c->rule, set, choose && s == 0, tile, &rows, &origin);
        *known &= origin == ZMPI_INTERP_DECODED_BY_IT;
        c->fresh &= origin == ZMPI_INTERP_FRESH;
        sum += tile[0] * tile[1] * tile[2];
    }
    *bits = (double)cost / 256 / (double)sum;
    return true;
}

static bool try_set(struct choice *c, struct zmpi_interp_set *set, bool choose)
{
    double bits;
    bool known;
    if (!measure(c, set, choose, &bits, &known))
        return false;
    if ((known && !c->known) || (known == c->known && bits < c->least)) {
        c->least = bits;
        c->known = known;
        c->best = *set;
    }
    if (bits < c->of[set->family].bits) {
        c->of[set->family].bits = bits;
        c->of[set->family].set = *set;
    }
    return true;
}

/* False: no memory. */
static bool try_shifts(struct choice *c)
{
    const struct zmpi_interp_set plain = c->best;
    for (int by = -1; by <= 1; by += 2)
        for (int k = 1; k < ZMPI_INTERP_SHIFTS; k++) {
            struct zmpi_interp_set set = plain;
            const int shift = (int)plain.shift + by * k;
            const double before = c->least;
            if (shift < 0 || shift >= ZMPI_INTERP_SHIFTS)
                break;
            set.shift = (unsigned)shift;
            if (!try_set(c, &set, false))
                return false;
            if (!(c->least < before))
                break;
        }
    return true;
}

/* All levels and classes have a way, those too that no sample has points of. */
static struct zmpi_interp_set plain_set(int family, unsigned axes)
{
    struct zmpi_interp_set set = {.family = (enum zmpi_interp_family)family, .axes = axes};
    for (unsigned l = 0; l < ZMPI_INTERP_LEVELS; l++)
        for (unsigned p = 1; p < 8; p++)
            set.way[l][p] = (unsigned char)(p | ZMPI_INTERP_CUBIC);
    return set;
}

/* For the tiles of the stream: coarser levels than those of the samples are like their coarsest. */
static void extend(struct zmpi_interp_set *s, const size_t tile[3])
{
    const unsigned had = s->levels;
    if (s->family != ZMPI_INTERP_LATTICE)
        return;
    s->levels = zmpi_interp_levels(s->axes, tile);
    for (unsigned l = had; l < s->levels; l++) {
        const unsigned from = had > 2 ? had - 2 : had - 1;
        memcpy(s->way[l], s->way[from], sizeof s->way[l]);
        s->fine[l + 1] = s->fine[had];
    }
}

/* ---- what was chosen before ---- */

static struct zmpi_interp_entry *entry_of(const struct choice *c, struct zmpi_interp_known *before)
{
    const struct zmpi_plan *p = c->plan;
    for (int i = 0; i < ZMPI_INTERP_ENTRIES; i++) {
        struct zmpi_interp_entry *e = &before->entry[i];
        if (e->calls && e->type == p->type && memcmp(e->extent, p->words, sizeof e->extent) == 0 &&
            e->abs_bound <= 2 * c->rule->abs_bound && c->rule->abs_bound <= 2 * e->abs_bound)
            return e;
    }
    return NULL;
}

/* Does it fit? It is chosen anew in calls 2, 4, 8..., and for data that look decoded, for which
 * only what they were decoded by is right. Small samples tell that. */
static bool recall(struct choice *c, size_t elements, struct zmpi_interp_entry *e)
{
    double bits;
    bool known;
    if (!e)
        return false;
    e->calls++;
    if (!(e->calls & (e->calls - 1)))
        return false;
    struct zmpi_interp_set set = e->set;
    struct choice look = *c;
    size_t tile[3];
    look.fresh = true;
    look.elements = elements / 64 > RECALLED ? elements / 64 : RECALLED;
    sample_tile(&look, set.axes, tile);
    if (set.family == ZMPI_INTERP_LATTICE)
        set.levels = zmpi_interp_levels(set.axes, tile);
    const bool measured = set.levels <= e->set.levels && measure(&look, &set, false, &bits, &known);
    c->work = look.work;
    if (!measured)
        return false;
    c->best = e->set;
    return look.fresh;
}

static void remember(const struct choice *c, struct zmpi_interp_known *before,
                     struct zmpi_interp_entry *e)
{
    if (!e) {
        e = &before->entry[before->next++ % ZMPI_INTERP_ENTRIES];
        e->calls = 1;
    }
    e->type = c->plan->type;
    memcpy(e->extent, c->plan->words, sizeof e->extent);
    e->abs_bound = c->rule->abs_bound;
    e->set = c->best;
}

/* After small samples, which have more of their points near their ends, and fewer levels: one whole
 * chunk tells which family's best is the best, and by which ways. */
static bool refine(struct choice *c)
{
    const struct zmpi_interp_set first = c->best;
    const bool known = c->known;
    c->elements = ZMPI_INTERP_ELEMENTS;
    c->samples = 1;
    c->least = 1e300;
    c->known = false;
    for (int family = ZMPI_INTERP_LATTICE; family <= ZMPI_INTERP_LORENZO; family++) {
        struct zmpi_interp_set set = family == (int)first.family ? first : c->of[family].set;
        const bool far = c->of[family].bits > 1.25 * c->of[first.family].bits;
        if (family != (int)first.family && (known || far))
            continue;
        if (!try_set(c, &set, true))
            return false;
    }
    return try_shifts(c);
}

/* All families and axes are tried. */
static enum zmpi_status choose(struct choice *c)
{
    static const unsigned char order[] = {7, 3, 5, 6, 1, 2, 4};
    for (int family = ZMPI_INTERP_LATTICE; family <= ZMPI_INTERP_LORENZO; family++)
        for (unsigned k = 0; k < 7; k++) {
            struct zmpi_interp_set set = plain_set(family, order[k]);
            bool fits = true;
            for (int i = 0; i < 3; i++)
                fits &= !(order[k] >> (2 - i) & 1) || c->plan->words[i] > 1;
            set.shift = c->least < 1e300 ? c->best.shift : 0;
            if (fits && !try_set(c, &set, true))
                return ZMPI_ERR_MEMORY;
            if (fits && k == 0 && !try_shifts(c))
                return ZMPI_ERR_MEMORY;
        }
    if (c->least == 1e300)
        return ZMPI_ERR_UNSUPPORTED;
    const bool small = c->elements < ZMPI_INTERP_ELEMENTS;
    return (small ? refine(c) : try_shifts(c)) ? ZMPI_OK : ZMPI_ERR_MEMORY;
}

static void set_grid(struct zmpi_plan *p)
{
    p->chunks = 1;
    for (int i = 0; i < 3; i++) {
        p->grid[i] = p->words[i] / p->tile[i] + (p->words[i] % p->tile[i] != 0);
        p->chunks *= p->grid[i];
    }
}

enum zmpi_status zmpi_interp_choose(struct zmpi_plan *p, const struct zmpi_job *job,
                                    const unsigned char *src, struct zmpi_interp_rule *rule,
                                    bool *known)
{
    memset(rule, 0, sizeof *rule);
    rule->type = p->type;
    rule->abs_bound = job->abs_bound;
    rule->keep = job->keep;
    for (int i = 0; i < ZMPI_FILLS; i++)
        rule->fill[i] = zmpi_fills_bits(&job->fills, p->type, i);
    rule->unit = zmpi_interp_unit(job->abs_bound);
    *known = false;
    if (job->variant == ZMPI_VARIANT_FLARE) {
        rule->flare = true;
        zmpi_flare_tile(p->words, p->tile);
        set_grid(p);
        return ZMPI_OK;
    }
    rule->sets = 1;
    const size_t elements = p->bytes / p->width;
    struct choice c = {.plan = p, .rule = rule, .src = src, .samples = SAMPLES, .least = 1e300};
    for (int family = 0; family <= ZMPI_INTERP_LORENZO; family++)
        c.of[family].bits = 1e300;
    c.elements = elements / SHARE < SMALLEST ? SMALLEST : elements / SHARE;
    if (elements <= (size_t)4 * ZMPI_INTERP_ELEMENTS || c.elements > ZMPI_INTERP_ELEMENTS)
        c.elements = ZMPI_INTERP_ELEMENTS;
    struct zmpi_interp_entry *e = job->interp ? entry_of(&c, job->interp) : NULL;
    const bool recalled = recall(&c, elements, e);
    const enum zmpi_status status = recalled ? ZMPI_OK : choose(&c);
    zmpi_interp_work_free(c.work);
    if (status)
        return status;
    zmpi_interp_tile(p->words, c.best.axes, p->tile);
    if (!recalled)
        extend(&c.best, p->tile);
    if (!recalled && job->interp)
        remember(&c, job->interp, e);
    set_grid(p);
    rule->set[0] = c.best;
    *known = c.known;
    return ZMPI_OK;
}

/* interp_choose.c - chooses how an array is predicted (format.md 4.10): by the families and axes
 * that cost least in a few sample tiles. If the data were decoded by a set before, that set comes
 * first. */
#include <math.h>
#include <string.h>

#include "interp/interp.h"
#include "layout/fills.h"
#include "layout/plan.h"

/* Some twenty sets are measured on samples, which are a small part of a large array. */
enum { SAMPLES = 4, SMALL = 1 << 15, RECALLED = 1 << 12 };

/* Planes must be smaller by this much: they take longer. */
#define PLANES_GAIN 0.04

/* A set with other ways, shift or steps than the best of its family has the same samples: after s
 * of them it is given up if it takes more by NEAR / s. */
#define NEAR 0.02

/* Bits for each element: by all samples, and by the first ones, from one on. */
struct cost {
    double bits, first[SAMPLES];
    size_t elements; /* of a sample, at most */
};

static const struct cost endless = {1e300, {1e300, 1e300, 1e300, 1e300}, 0};

struct choice {
    const struct zmpi_plan *plan;
    const struct zmpi_interp_rule *rule;
    const unsigned char *src;
    struct zmpi_interp_work *work; /* of samples, one after another; NULL: none yet */
    size_t elements;               /* of a sample, at most */
    size_t samples;                /* at most */
    bool chunks;                   /* samples are chunks of the set's tiles */
    struct zmpi_interp_set best;
    struct cost least;
    struct {
        struct zmpi_interp_set set;
        struct cost cost;
    } of[ZMPI_INTERP_PLANES + 1]; /* the best set of each family */
    bool known;                   /* the data seem to be decoded by it */
    bool tells;                   /* decoded values give their integers back */
    bool fresh;                   /* no sample looks decoded at all */
};

#define ALL_AXES (ZMPI_AXIS_X | ZMPI_AXIS_Y | ZMPI_AXIS_Z)

/* Tiles are as long as possible along axes of prediction. */
static unsigned tile_axes(const struct zmpi_interp_set *set)
{
    return set->axes | (set->family == ZMPI_INTERP_PLANES ? ZMPI_AXIS_Z : 0);
}

/* The extents of the samples' tiles: of the same ones for all sets, since some places take more
 * bits than others. Those of planes are as the set's, which decide how many planes have one `lag`
 * before them. */
static void sample_tile(const struct choice *c, const struct zmpi_interp_set *set, size_t tile[3])
{
    const bool own = c->chunks || set->family == ZMPI_INTERP_PLANES;
    zmpi_interp_tile(c->plan->words, own ? tile_axes(set) : ALL_AXES, tile);
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
    return (struct zmpi_rows){.at = (unsigned char *)src + first[0] * plane + first[1] * row +
                                    first[2] * p->width,
                              .row = row,
                              .plane = plane};
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

/* Measures what the set costs. choose: first chooses its ways, by the middle sample. Stops where
 * fresh data take more than `most`: then the cost is endless. */
static bool measure(struct choice *c, struct zmpi_interp_set *set, bool choose,
                    const struct cost *most, struct cost *cost, bool *known)
{
    *known = true;
    *cost = endless;
    const struct zmpi_plan *p = c->plan;
    size_t tile[3], grid[3], tiles = 1;
    uint64_t sum = 0;
    sample_tile(c, set, tile);
    if (set->family != ZMPI_INTERP_LORENZO) {
        const unsigned levels = zmpi_interp_levels(set->axes, tile);
        if (choose)
            set->levels = levels;
        else if (levels != set->levels)
            return false;
    }
    c->work = zmpi_interp_work_for(c->work, tile, set);
    if (!c->work)
        return false;
    for (int i = 0; i < 3; i++) {
        grid[i] = p->words[i] / tile[i] + (!c->chunks && p->words[i] % tile[i] != 0);
        tiles *= grid[i];
    }
    const size_t samples = tiles < c->samples ? tiles : c->samples;
    const double more = set->family == ZMPI_INTERP_PLANES ? 1 + PLANES_GAIN : 1;
    const double each = 256 * (double)(tile[0] * tile[1] * tile[2]) / more;
    for (size_t s = 0; s < samples; s++) {
        size_t first[3];
        sample_place(s, p->words, tile, grid, first);
        const struct zmpi_rows rows = rows_at(p, c->src, first);
        enum zmpi_interp_origin origin;
        sum += zmpi_interp_estimate(c->work, c->rule, set, choose && s == 0, tile, &rows, &origin);
        *known &= origin == ZMPI_INTERP_DECODED_BY_IT;
        c->fresh &= origin == ZMPI_INTERP_FRESH;
        cost->first[s] = (double)sum / each / (double)(s + 1);
        if (c->fresh &&
            (cost->first[s] > most->first[s] || (double)sum / each > most->bits * (double)samples))
            return true;
    }
    cost->bits = cost->first[samples - 1];
    cost->elements = c->elements;
    return true;
}

/* What a set may cost to be of interest. */
static struct cost limit(const struct choice *c, const struct zmpi_interp_set *set)
{
    const struct cost *own = &c->of[set->family].cost;
    const struct zmpi_interp_set *best = &c->of[set->family].set;
    struct cost most = endless;
    most.bits = fmax(own->bits, c->least.bits);
    if (own->elements == c->elements && set->axes == best->axes && set->lag == best->lag)
        for (int s = 0; s < SAMPLES; s++)
            most.first[s] = own->first[s] * (1 + NEAR / (s + 1));
    return most;
}

static bool try_set(struct choice *c, struct zmpi_interp_set *set, bool choose)
{
    struct cost cost;
    bool known;
    if (!c->tells && set->family != ZMPI_INTERP_LORENZO) /* decoded data would not be recognised */
        return true;
    const struct cost most = limit(c, set);
    if (!measure(c, set, choose, &most, &cost, &known))
        return false;
    if ((known && !c->known) || (known == c->known && cost.bits < c->least.bits)) {
        c->least = cost;
        c->known = known;
        c->best = *set;
    }
    if (cost.bits < c->of[set->family].cost.bits) {
        c->of[set->family].cost = cost;
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
            const double before = c->least.bits;
            if (shift < 0 || shift >= ZMPI_INTERP_SHIFTS)
                break;
            set.shift = (unsigned)shift;
            if (!try_set(c, &set, false))
                return false;
            if (!(c->least.bits < before))
                break;
        }
    return true;
}

/* Bits that the steps of levels lack: 0, 1, 2, and all further combinations. */
enum { FINES = 6 };

static void set_fine(struct zmpi_interp_set *set, int k)
{
    static const unsigned char fine[FINES][4] = {{0, 0, 0, 0}, {0, 0, 1, 1}, {0, 1, 1, 1},
                                                 {0, 0, 1, 2}, {0, 1, 2, 2}, {0, 1, 2, 3}};
    for (unsigned l = 0; l <= ZMPI_INTERP_LEVELS; l++)
        set->fine[l] = fine[k][l < 3 ? l : 3];
}

/* Tries finer steps for coarser levels, whose errors finer levels inherit: a little finer first,
 * and more if that helps. False: no memory. */
static bool try_fines(struct choice *c)
{
    struct zmpi_interp_set set = c->best;
    const double plain = c->least.bits;
    if (set.family == ZMPI_INTERP_LORENZO || c->known)
        return true;
    for (int k = 1; k < FINES && (k < 3 || c->least.bits < plain); k++) {
        set_fine(&set, k);
        if (!try_set(c, &set, true))
            return false;
    }
    return true;
}

/* Every level and class gets a way, also those without points in any sample. */
static struct zmpi_interp_set plain_set(enum zmpi_interp_family family, unsigned axes)
{
    struct zmpi_interp_set set = {.family = family, .axes = axes};
    for (unsigned l = 0; l < ZMPI_INTERP_LEVELS; l++)
        for (unsigned p = 1; p < 8; p++)
            set.way[l][p] = (unsigned char)(p | ZMPI_INTERP_CUBIC);
    return set;
}

/* Extends the set to the stream's tiles: levels coarser than those of the samples get the coarsest
 * one's ways. */
static void extend(struct zmpi_interp_set *s, const size_t tile[3])
{
    const unsigned had = s->levels;
    if (s->family == ZMPI_INTERP_LORENZO)
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

/* Does an earlier choice fit? Calls 2, 4, 8... choose anew, and so do data that look decoded, for
 * which only their own set is right. Small samples decide that. */
static bool recall(struct choice *c, size_t elements, struct zmpi_interp_entry *e)
{
    struct cost cost;
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
    sample_tile(&look, &set, tile);
    if (set.family != ZMPI_INTERP_LORENZO)
        set.levels = zmpi_interp_levels(set.axes, tile);
    const bool measured =
        set.levels <= e->set.levels && measure(&look, &set, false, &endless, &cost, &known);
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

/* ---- choices among everything ---- */

static bool try_new(struct choice *c, enum zmpi_interp_family family, unsigned axes, unsigned lag,
                    int fine)
{
    struct zmpi_interp_set set = plain_set(family, axes);
    set.lag = lag;
    set.shift = c->best.shift;
    set_fine(&set, fine);
    return try_set(c, &set, true);
}

/* Tries the family along all axes, then along fewer as long as that helps. False: no memory. */
static bool try_family(struct choice *c, enum zmpi_interp_family family, unsigned axes,
                       unsigned lag)
{
    double before = 1e300;
    if (!axes)
        return true;
    if (!try_new(c, family, axes, lag, 0))
        return false;
    if (family == ZMPI_INTERP_LATTICE && !try_shifts(c))
        return false;
    while (c->of[family].cost.bits < before) {
        const unsigned from = c->of[family].set.axes;
        before = c->of[family].cost.bits;
        for (unsigned axis = 1; axis < 8; axis *= 2)
            if (from & axis && from != axis && !try_new(c, family, from & ~axis, lag, 0))
                return false;
    }
    return true;
}

/* Small samples have more of their points near their ends, and fewer levels. So one or two of a
 * chunk's size decide afterwards which family's best set is the best, and by which ways. */
static bool refine(struct choice *c)
{
    const struct zmpi_interp_set first = c->best;
    const bool known = c->known;
    bool too[ZMPI_INTERP_PLANES + 1];
    size_t sets = 0;
    for (int family = ZMPI_INTERP_LATTICE; family <= ZMPI_INTERP_PLANES; family++) {
        const bool far = c->of[family].cost.bits > 1.25 * c->of[first.family].cost.bits;
        sets += too[family] = family == (int)first.family || !(known || far);
    }
    c->elements = ZMPI_INTERP_ELEMENTS;
    c->samples = sets > 1 ? 2 : 1; /* a set alone wants its ways */
    c->least = endless;
    c->known = false;
    for (int family = ZMPI_INTERP_LATTICE; family <= ZMPI_INTERP_PLANES; family++) {
        struct zmpi_interp_set set = family == (int)first.family ? first : c->of[family].set;
        if (too[family] && !try_set(c, &set, true))
            return false;
    }
    return true;
}

/* For data that look decoded: finds the set, of all possible ones, by one whole chunk. The best one
 * may be it. */
static bool recognise(struct choice *c, unsigned axes, unsigned lag)
{
    const struct zmpi_interp_set first = c->best;
    struct zmpi_interp_set set = first;
    c->chunks = true;
    c->elements = ZMPI_INTERP_ELEMENTS;
    c->samples = 1;
    c->least = endless;
    c->known = false;
    bool done = try_set(c, &set, true);
    if (c->known)
        return true;
    for (int fine = 0; fine < FINES; fine++)
        for (unsigned mask = axes; mask; mask = (mask - 1) & axes) {
            done = done && try_new(c, ZMPI_INTERP_LATTICE, mask, 0, fine);
            if (fine == 0)
                done = done && try_new(c, ZMPI_INTERP_LORENZO, mask, 0, 0);
            if (lag > 1 && !(mask & ZMPI_AXIS_Z))
                done = done && try_new(c, ZMPI_INTERP_PLANES, mask, 1, fine);
            if (lag && !(mask & ZMPI_AXIS_Z))
                done = done && try_new(c, ZMPI_INTERP_PLANES, mask, lag, fine);
            if (c->known || !done)
                return done;
        }
    c->best = first;
    return true;
}

static bool choose(struct choice *c)
{
    unsigned axes = 0;
    for (int i = 0; i < 3; i++)
        axes |= c->plan->words[i] > 1 ? 4u >> i : 0;
    const unsigned flat = axes & ~(unsigned)ZMPI_AXIS_Z,
                   lag = axes & ZMPI_AXIS_Z
                             ? zmpi_interp_find_lag(c->plan, c->rule->abs_bound, c->src)
                             : 0;
    bool done =
        try_family(c, ZMPI_INTERP_LATTICE, axes, 0) && try_family(c, ZMPI_INTERP_LORENZO, axes, 0);
    if (lag > 1 && flat)
        done = done && try_new(c, ZMPI_INTERP_PLANES, flat, 1, 0);
    if (lag)
        done = done && try_family(c, ZMPI_INTERP_PLANES, flat, lag);
    if (c->best.family != ZMPI_INTERP_LATTICE || c->best.axes != axes) /* else: it has its shift */
        done = done && try_shifts(c);
    done = done && try_fines(c);
    if (done && c->elements < ZMPI_INTERP_ELEMENTS)
        done = refine(c);
    if (done && !c->fresh)
        done = recognise(c, axes, lag);
    return done;
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
                                    const unsigned char *src, bool tells,
                                    struct zmpi_interp_rule *rule, bool *known)
{
    const double unit = rule->unit;
    memset(rule, 0, sizeof *rule);
    rule->unit = unit;
    rule->type = p->type;
    rule->abs_bound = job->abs_bound;
    rule->keep = job->keep;
    for (int i = 0; i < ZMPI_FILLS; i++)
        rule->fill[i] = zmpi_fills_bits(&job->fills, p->type, i);
    *known = false;
    if (job->variant == ZMPI_VARIANT_FLARE) {
        rule->flare = true;
        zmpi_flare_tile(p->words, p->tile);
        set_grid(p);
        return ZMPI_OK;
    }
    rule->sets = 1;
    rule->books = job->variant == ZMPI_VARIANT_BOOKS;
    const size_t elements = p->bytes / p->width;
    struct choice c = {.plan = p,
                       .rule = rule,
                       .src = src,
                       .samples = SAMPLES,
                       .least = endless,
                       .tells = tells,
                       .fresh = true};
    for (int family = 0; family <= ZMPI_INTERP_PLANES; family++)
        c.of[family].cost = endless;
    c.elements = elements > (size_t)4 * ZMPI_INTERP_ELEMENTS ? SMALL : ZMPI_INTERP_ELEMENTS;
    if (c.elements == ZMPI_INTERP_ELEMENTS)
        c.samples = 2;
    struct zmpi_interp_entry *e = job->interp ? entry_of(&c, job->interp) : NULL;
    const bool recalled = recall(&c, elements, e);
    const bool done = recalled || choose(&c);
    zmpi_interp_work_free(c.work);
    if (!done)
        return ZMPI_ERR_MEMORY;
    if (!recalled && c.least.bits >= 1e300)
        return ZMPI_ERR_UNSUPPORTED;
    zmpi_interp_tile(p->words, tile_axes(&c.best), p->tile);
    if (!recalled)
        extend(&c.best, p->tile);
    if (!recalled && job->interp)
        remember(&c, job->interp, e);
    set_grid(p);
    rule->set[0] = c.best;
    rule->decoded = c.known;
    *known = c.known;
    return ZMPI_OK;
}

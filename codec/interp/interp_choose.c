/* interp_choose.c - chooses how an array is predicted (format.md 4.10): by the families and axes
 * that cost least in a few sample tiles. If the data were decoded by a set before, that set comes
 * first. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/pool.h"
#include "interp/interp_choice.h"
#include "layout/fills.h"

/* Some twenty sets are measured on samples, which are a small part of a large array. */
enum { SMALL = 1 << 15, RECALLED = 1 << 12 };

/* After s samples, a set with other ways, shift or steps than the best of its family is given up if
 * it takes more by NEAR / s, and one along other axes if it takes more by FAR / s. */
#define NEAR 0.02
#define FAR  0.1
#define FEW  0.01 /* bits for each element: less does not tell families apart */

/* What a set may cost to be of interest. */
static struct cost limit(const struct choice *c, const struct zmpi_interp_set *set)
{
    const struct cost *own = &c->of[set->family].cost;
    const struct zmpi_interp_set *best = &c->of[set->family].set;
    struct cost most = zmpi_interp_endless;
    most.bits = fmax(own->bits, c->best.cost.bits);
    /* Planes along other axes have other samples. */
    const bool same = set->axes == best->axes && set->lag == best->lag;
    if (own->elements == c->elements && (same || set->family != ZMPI_INTERP_PLANES))
        for (int s = 0; s < ZMPI_INTERP_SAMPLES; s++)
            most.first[s] = own->first[s] * (1 + (same ? NEAR : FAR) / (s + 1));
    return most;
}

/* Takes a set that takes fewer bits; for the best of all, known ones come first. */
static void take_better(struct choice *c, const struct tried *new)
{
    struct tried *own = &c->of[new->set.family], *best = &c->best;
    if (new->cost.bits < own->cost.bits)
        *own = *new;
    if (new->cost.known == best->cost.known ? new->cost.bits < best->cost.bits : new->cost.known)
        *best = *new;
}

static void try_set(struct choice *c, const struct zmpi_interp_set *set, bool choose)
{
    struct tried new = {.set = *set};
    if (!c->tells && set->family != ZMPI_INTERP_LORENZO) /* decoded data would not be recognised */
        return;
    const struct cost most = limit(c, set);
    new.cost = zmpi_interp_measure(c, &new.set, choose, &most, zmpi_interp_endless);
    take_better(c, &new);
}

/* Parts of a choice that do not depend on each other. Each goes on from a copy of it, and finds the
 * same whether it has a thread of its own or not. */
struct branches {
    struct choice of[ZMPI_INTERP_BRANCHES];
    void (*take)(struct choice *c, int k);
    struct zmpi_interp_work **work; /* of each thread */
    int first, count;
    atomic_int taken, threads;
};

static void take_branches(void *context)
{
    struct branches *b = context;
    struct zmpi_interp_work **work = &b->work[atomic_fetch_add(&b->threads, 1)];
    for (int k; (k = b->count - 1 - atomic_fetch_add(&b->taken, 1)) >= 0;) {
        b->of[k].work = work;
        b->take(&b->of[k], b->first + k);
    }
}

/* Takes the best that a branch found. */
static void join(struct choice *c, const struct choice *branch)
{
    c->fresh &= branch->fresh;
    c->failed |= branch->failed;
    c->lag = branch->lag ? branch->lag : c->lag;
    for (int family = ZMPI_INTERP_LATTICE; family <= ZMPI_INTERP_PLANES; family++)
        if (branch->of[family].cost.bits < c->of[family].cost.bits)
            c->of[family] = branch->of[family];
    take_better(c, &branch->best);
}

/* Takes branches number `first` to `last`, each by a thread if there are so many. The last one is
 * begun first; of equal sets the first one counts. */
static void branch(struct choice *c, void (*take)(struct choice *c, int k), int first, int last)
{
    const int count = last - first + 1;
    struct branches b = {.take = take, .work = c->work, .first = first, .count = count};
    for (int k = 0; k < count; k++)
        b.of[k] = *c;
    zmpi_pool_run(count < c->threads ? count : c->threads, take_branches, &b);
    for (int k = 0; k < count; k++)
        join(c, &b.of[k]);
}

/* Tries smaller shifts, or larger ones, as long as that helps. */
static void try_shifts(struct choice *c, int larger)
{
    struct zmpi_interp_set set = c->best.set;
    for (double before = INFINITY; c->best.cost.bits < before;) {
        if (set.shift == (larger ? ZMPI_INTERP_SHIFTS - 1 : 0))
            return;
        before = c->best.cost.bits;
        set.shift += larger ? 1 : -1u;
        try_set(c, &set, false);
    }
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

static void try_fine(struct choice *c, int k)
{
    struct zmpi_interp_set set = c->best.set;
    set_fine(&set, k);
    try_set(c, &set, true);
}

/* Tries finer steps for coarser levels, whose errors finer levels inherit: a little finer first,
 * and more if that helps. */
static void try_fines(struct choice *c)
{
    const double plain = c->best.cost.bits;
    if (c->best.set.family == ZMPI_INTERP_LORENZO || c->best.cost.known)
        return;
    branch(c, try_fine, 1, 2);
    if (c->best.cost.bits < plain)
        branch(c, try_fine, 3, FINES - 1);
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
    const unsigned before = e ? e->calls++ : 0;
    if (!(before & (before + 1))) /* or there is none */
        return false;
    struct zmpi_interp_set set = e->set;
    struct choice look = *c;
    look.elements = elements / 64 > RECALLED ? elements / 64 : RECALLED;
    zmpi_interp_measure(&look, &set, false, &zmpi_interp_endless, zmpi_interp_endless);
    if (look.failed || !look.fresh)
        return false;
    c->best.set = e->set;
    return true;
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
    e->set = c->best.set;
}

/* ---- choices among everything ---- */

static void try_new(struct choice *c, enum zmpi_interp_family family, unsigned axes, unsigned lag,
                    int fine)
{
    struct zmpi_interp_set set = plain_set(family, axes);
    set.lag = lag;
    set.shift = c->best.set.shift;
    set_fine(&set, fine);
    try_set(c, &set, true);
}

/* The lattice along all axes, whose shift the other sets get; and the lag. */
static void begin(struct choice *c, int k)
{
    if (k) {
        c->lag = zmpi_interp_find_lag(c->plan, c->rule->abs_bound, c->src);
    } else {
        try_new(c, ZMPI_INTERP_LATTICE, c->axes, 0, 0);
        try_shifts(c, true);
    }
}

/* Tries a family along all axes, then along fewer as long as that helps. */
static void explore(struct choice *c, int k)
{
    const enum zmpi_interp_family family = (enum zmpi_interp_family)k;
    const unsigned lag = family == ZMPI_INTERP_PLANES ? c->lag : 0;
    const unsigned axes = lag ? c->axes & ~(unsigned)ZMPI_AXIS_Z : c->axes;
    double before = 1e300;
    if (family == ZMPI_INTERP_PLANES && (!lag || !axes))
        return;
    if (lag > 1)
        try_new(c, family, axes, 1, 0);
    if (family != ZMPI_INTERP_LATTICE)
        try_new(c, family, axes, lag, 0);
    while (c->of[family].cost.bits < before) {
        const unsigned from = c->of[family].set.axes;
        before = c->of[family].cost.bits;
        for (unsigned axis = 1; axis < 8; axis *= 2)
            if (from & axis && from != axis)
                try_new(c, family, from & ~axis, lag, 0);
    }
}

/* Measures the best set of a family by another sample of a chunk's size. */
static void measure_chunk(struct choice *c, int family)
{
    struct tried new = c->had[family];
    if (new.cost.bits >= 1e300)
        return;
    new.cost = zmpi_interp_measure(c, &new.set, !c->from, &zmpi_interp_endless,
                                   c->from ? new.cost : zmpi_interp_endless);
    take_better(c, &new);
}

/* Moves the best family to `had`, and those that cost at most `most`, or `before` where they were
 * measured before. Returns their number. */
static size_t keep_close(struct choice *c, double most, double before,
                         struct tried had[ZMPI_INTERP_PLANES + 1])
{
    size_t close = 0;
    for (int family = 0; family <= ZMPI_INTERP_PLANES; family++) {
        const bool far = c->of[family].cost.bits > most && had[family].cost.bits > before;
        had[family] = c->of[family];
        if (family != (int)c->best.set.family && far)
            had[family].cost = zmpi_interp_endless;
        close += had[family].cost.bits < 1e300;
    }
    c->had = had;
    return close;
}

static void measure_chunks(struct choice *c, size_t samples)
{
    c->samples = samples;
    c->best.cost = zmpi_interp_endless;
    for (int family = 0; family <= ZMPI_INTERP_PLANES; family++)
        c->of[family].cost = zmpi_interp_endless;
    branch(c, measure_chunk, ZMPI_INTERP_LATTICE, ZMPI_INTERP_PLANES);
}

/* Small samples have more of their points near their ends, and fewer levels. So one of a chunk's
 * size decides afterwards which family's best set is the best, and by which ways; and a second one
 * if families are close. */
static void refine(struct choice *c)
{
    struct tried had[ZMPI_INTERP_PLANES + 1];
    const struct tried best = c->best;
    const double small = c->of[best.set.family].cost.bits;
    for (int family = 0; family <= ZMPI_INTERP_PLANES; family++)
        had[family].cost = zmpi_interp_endless;
    c->of[best.set.family].set = best.set;
    c->elements = ZMPI_INTERP_ELEMENTS;
    keep_close(c, best.cost.known ? 0 : 1.25 * small, 0, had);
    measure_chunks(c, 1);
    if (keep_close(c, c->best.cost.bits * (1 + NEAR) + FEW, small * (1 + NEAR), had) > 1) {
        c->from = 1;
        measure_chunks(c, 2);
        c->from = 0;
    }
}

/* For data that look decoded: finds the set, of all possible ones, by one whole chunk. The best one
 * may be it. */
static void recognise(struct choice *c)
{
    const struct zmpi_interp_set first = c->best.set;
    struct zmpi_interp_set set = first;
    c->chunks = true;
    c->elements = ZMPI_INTERP_ELEMENTS;
    c->samples = 1;
    c->best.cost = zmpi_interp_endless;
    try_set(c, &set, true);
    for (int fine = 0; fine < FINES; fine++)
        for (unsigned mask = c->axes; mask; mask = (mask - 1) & c->axes) {
            if (c->best.cost.known || c->failed)
                return;
            try_new(c, ZMPI_INTERP_LATTICE, mask, 0, fine);
            if (fine == 0)
                try_new(c, ZMPI_INTERP_LORENZO, mask, 0, 0);
            if (c->lag > 1 && !(mask & ZMPI_AXIS_Z))
                try_new(c, ZMPI_INTERP_PLANES, mask, 1, fine);
            if (c->lag && !(mask & ZMPI_AXIS_Z))
                try_new(c, ZMPI_INTERP_PLANES, mask, c->lag, fine);
        }
    if (!c->best.cost.known)
        c->best.set = first;
}

static void choose(struct choice *c)
{
    for (int i = 0; i < 3; i++)
        c->axes |= c->plan->words[i] > 1 ? 4u >> i : 0;
    branch(c, begin, 0, c->axes & ZMPI_AXIS_Z ? 1 : 0);
    branch(c, explore, ZMPI_INTERP_LATTICE, ZMPI_INTERP_PLANES);
    if (c->best.set.family != ZMPI_INTERP_LATTICE ||
        c->best.set.axes != c->axes) /* it has its shift */
        branch(c, try_shifts, 0, 1);
    try_fines(c);
    if (c->elements < ZMPI_INTERP_ELEMENTS)
        refine(c);
    if (!c->fresh)
        recognise(c);
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
                                    struct zmpi_interp_rule *rule, bool *known,
                                    struct zmpi_interp_work *work[ZMPI_INTERP_BRANCHES])
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
    zmpi_interp_tile(p->words, ZMPI_ALL_AXES, p->tile);
    struct choice c = {.plan = p,
                       .rule = rule,
                       .src = src,
                       .work = work,
                       .threads = job->threads,
                       .samples = ZMPI_INTERP_SAMPLES,
                       .best.cost = zmpi_interp_endless,
                       .tells = tells,
                       .fresh = true};
    for (int family = 0; family <= ZMPI_INTERP_PLANES; family++)
        c.of[family].cost = zmpi_interp_endless;
    c.elements = elements > (size_t)4 * ZMPI_INTERP_ELEMENTS ? SMALL : ZMPI_INTERP_ELEMENTS;
    if (c.elements == ZMPI_INTERP_ELEMENTS)
        c.samples = 2;
    struct zmpi_interp_entry *e = job->interp ? entry_of(&c, job->interp) : NULL;
    const bool recalled = recall(&c, elements, e);
    if (!recalled)
        choose(&c);
    if (c.failed)
        return ZMPI_ERR_MEMORY;
    if (!recalled && c.best.cost.bits >= 1e300)
        return ZMPI_ERR_UNSUPPORTED;
    zmpi_interp_tile(p->words, tile_axes(&c.best.set), p->tile);
    if (!recalled)
        extend(&c.best.set, p->tile);
    if (!recalled && job->interp)
        remember(&c, job->interp, e);
    set_grid(p);
    rule->set[0] = c.best.set;
    *known = rule->decoded = c.best.cost.known;
    return ZMPI_OK;
}

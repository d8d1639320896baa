/* axes_known.c - axes that earlier arrays chose, and whether they fit this one. */
#include "judge/axes_known.h"

#include <math.h>

#include "bound/ratio.h"
#include "judge/axes.h"
#include "kernels/kernels.h"

/* After TRUSTED uses all blocks choose the axes again; until then FEW blocks check them. Once ALIKE
 * looks in a row gave the same axes, one array in EACH is looked at. */
enum { TRUSTED = 32, FEW = 5, ALIKE = 8, EACH = 4 };

/* A set is good, too, if it costs at most NEAR times as much as the cheapest one. Few blocks may be
 * wrong about that ratio by MOST_TIMES. */
#define NEAR       (17.0 / 16)
#define MOST_TIMES 1.5

/* Blocks tell something if they take TELLING bits each in the mean. Where the few tell nothing,
 * axes that ALIKE looks in a row gave suit. */
enum { TELLING = 2 };

/* Are these two ranges of the same variable? They are if they differ by at most an eighth. */
static bool alike(double a, double b)
{
    const double larger = a > b ? a : b, smaller = a > b ? b : a;
    return a == b || smaller >= 0.875 * larger;
}

static bool is_for(const struct zmpi_axes_entry *e, const struct zmpi_job *job)
{
    const size_t *a = e->array.extent, *b = job->array.extent;
    return e->uses > 0 && e->array.type == job->array.type && a[0] == b[0] && a[1] == b[1] &&
           a[2] == b[2] && e->bound.mode == job->bound.mode && e->bound.value == job->bound.value &&
           alike(e->abs_bound, job->abs_bound);
}

static struct zmpi_axes_entry *entry_for(struct zmpi_axes_known *known, const struct zmpi_job *job)
{
    for (unsigned i = 0; i < ZMPI_AXES_ARRAYS; i++)
        if (is_for(&known->entry[i], job))
            return &known->entry[i];
    struct zmpi_axes_entry *e = &known->entry[known->next];
    known->next = (known->next + 1) % ZMPI_AXES_ARRAYS;
    *e = (struct zmpi_axes_entry){.array = job->array, .bound = job->bound};
    return e;
}

static size_t least_of(const struct zmpi_axes_look *look, unsigned sets)
{
    return look->cost[zmpi_axes_cheapest(look, sets)];
}

static bool tells(const struct zmpi_axes_look *look)
{
    return least_of(look, ZMPI_AXES_ALL) >= TELLING * look->blocks;
}

/* Ratio of the cost of the best of these sets to that of the best of all. */
static double times_least(const struct zmpi_axes_look *look, unsigned sets)
{
    const size_t least = least_of(look, ZMPI_AXES_ALL), cost = least_of(look, sets);
    return cost == least ? 1 : (double)cost / (double)least; /* both may be 0 */
}

/* Do the axes of earlier arrays suit these data, too? */
static bool suits(const struct zmpi_axes_entry *e, const struct zmpi_axes_look *few)
{
    return tells(few) ? times_least(few, e->sets) <= NEAR * e->times : e->alike >= ALIKE;
}

void zmpi_axes_recall(struct zmpi_axes_known *known, struct zmpi_job *job, const void *src)
{
    struct zmpi_plan p;
    struct zmpi_chunk_rule rule;
    struct zmpi_axes_look few = {0}, all;
    if (job->axes || zmpi_job_open(job) || zmpi_plan_make(&job->array, &p) ||
        p.bytes >= ZMPI_AXES_KNOWN_BELOW)
        return;
    const struct zmpi_kernels *kernels = zmpi_kernels();
    zmpi_chunk_cost_fn *const cost_of = p.width == 4 ? kernels->cost32 : kernels->cost64;
    struct zmpi_axes_entry *e = entry_for(known, job);
    e->abs_bound = job->abs_bound;
    const unsigned uses = e->uses++;
    if (uses % TRUSTED && e->alike >= ALIKE && uses % EACH) {
        job->axes = ZMPI_AXES_GIVEN | e->last;
        return;
    }
    zmpi_plan_rule(job, &rule);
    if (uses % TRUSTED == 0) {
        e->sets = 0;
        e->times = 1;
    } else {
        zmpi_axes_look_at(cost_of, &p, &rule, src, FEW, &few);
    }
    const bool told = few.blocks > 0 && tells(&few);
    unsigned axes = told ? zmpi_axes_cheapest(&few, e->sets) : e->last;
    if (!e->sets || !suits(e, &few)) {
        zmpi_axes_look_at(cost_of, &p, &rule, src, SIZE_MAX, &all);
        const unsigned chosen = zmpi_axes_choice(&all);
        if (chosen == axes && told) /* few blocks rate them worse than all do */
            e->times = fmin(times_least(&few, e->sets), MOST_TIMES);
        axes = chosen;
        e->sets |= 1U << axes;
    }
    e->alike = uses && axes == e->last ? e->alike + 1 : 1;
    e->last = axes;
    job->axes = ZMPI_AXES_GIVEN | axes;
}

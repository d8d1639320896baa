/*
 * axes_known.c - axes that were chosen for arrays before (format.md 4.6): as the page says, by what
 * arrays are known, and when they are not.
 */
#include "axes_model.h"
#include "bound/ratio.h"
#include "judge/axes_known.h"

/* What is known of arrays, by the page. */
struct knowledge {
    unsigned sets, last, alike, uses;
    double times;
};

/* All blocks choose. few: the known axes that few blocks chose, which cost `times` the least; 8:
 * they told nothing. */
static unsigned expected_anew(struct model *m, struct knowledge *k, unsigned few, double times)
{
    size_t cost[8];
    const unsigned axes = costs(m, samples(m), cost) ? least_of(cost, 255) : ZMPI_AXIS_X;
    if (axes == few)
        k->times = times < 1.5 ? times : 1.5;
    k->sets |= 1U << axes;
    return axes;
}

static unsigned expected_look(struct model *m, struct knowledge *k, bool anew)
{
    size_t cost[8];
    if (anew) {
        k->sets = 0;
        k->times = 1;
        return expected_anew(m, k, 8, 1);
    }
    costs(m, 5, cost);
    const size_t least = cost[least_of(cost, 255)];
    if (least < 2 * 5)
        return k->alike >= 8 ? k->last : expected_anew(m, k, 8, 1);
    const unsigned best = least_of(cost, k->sets);
    const double times = (double)cost[best] / (double)least;
    return times <= 17.0 / 16 * k->times ? best : expected_anew(m, k, best, times);
}

static unsigned expected_again(struct model *m, struct knowledge *k)
{
    const unsigned uses = k->uses++;
    if (uses % 32 && uses % 4 && k->alike >= 8)
        return k->last;
    const unsigned axes = expected_look(m, k, uses % 32 == 0);
    k->alike = uses && axes == k->last ? k->alike + 1 : 1;
    return k->last = axes;
}

/* A job that asks for an absolute bound. */
static struct zmpi_job job_of(const struct zmpi_array *a, double bound)
{
    const struct zmpi_bound asked = {ZMPI_ABS, bound};
    struct zmpi_job job;
    cr_assert_eq(zmpi_job_make(a, &asked, NULL, &job), ZMPI_OK);
    return job;
}

static unsigned recall(struct zmpi_axes_known *known, const struct zmpi_job *asked,
                       const void *data)
{
    struct zmpi_job job = *asked;
    zmpi_axes_recall(known, &job, data);
    cr_assert(job.axes == 0 || job.axes >> 3 == 1, "axes %u", job.axes);
    return job.axes;
}

/* Steps of one array's shape, of changing data, against the model. */
static void check_steps(enum zmpi_type type, size_t most, unsigned *looks, unsigned *taken)
{
    struct kit_random r = {(uint64_t)type + 100};
    for (int i = 0; i < 12; i++) {
        const struct zmpi_array a =
            kit_array(type, 1 + kit_below(&r, 12), 1 + kit_below(&r, 40), 1 + kit_below(&r, most));
        const struct zmpi_job job = job_of(&a, pow(2, -(double)kit_below(&r, 12)));
        struct zmpi_axes_known known;
        struct knowledge model = {0};
        memset(&known, 0, sizeof known);
        for (unsigned step = 0; step < 70; step++) {
            /* Two variables in turn, now and then a third; then one. */
            const unsigned kind = step % 11 == 10 ? 2 : step < 35 ? step % 2 : 1;
            unsigned char *data = kit_make(&r, &a, (enum kit_data)kind);
            struct model m = model_new(&job, data, kit_bytes(&a));
            const unsigned is = recall(&known, &job, data), should = expected_again(&m, &model);
            cr_assert_eq(is, 8 | should, "type %d, %zux%zux%zu, step %u: axes %u, not %u", type,
                         a.extent[0], a.extent[1], a.extent[2], step, is & 7, should);
            *looks += step > 0;
            *taken += should != expected_axes(&m);
            model_free(&m);
            free(data);
        }
    }
}

Test(axes_known, as_the_format_says)
{
    unsigned looks = 0, taken = 0;
    check_steps(ZMPI_F32, 300, &looks, &taken);
    check_steps(ZMPI_F64, 300, &looks, &taken);
    check_steps(ZMPI_I32, 20, &looks, &taken);
    cr_assert(taken > 0 && taken < looks, "%u of %u", taken, looks);
}

/* Noise of 17 bits is coded best without axes, in 18 bits a block; along one in 19. */
static void make_noise(struct kit_random *r, size_t n, bool walk, int32_t *x)
{
    int32_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t step = (int32_t)kit_below(r, 1 << 18) - (1 << 17);
        at += walk ? step / 1024 : 0;
        x[i] = walk ? at : step;
    }
}

enum { ROWS = 64 };
static const struct zmpi_array square = {ZMPI_I32, {1, ROWS, ROWS}};
static const unsigned none = ZMPI_AXES_GIVEN, along_x = ZMPI_AXES_GIVEN | ZMPI_AXIS_X;
static int32_t walk[ROWS * ROWS], noise[ROWS * ROWS];
static struct zmpi_axes_known known;
static struct zmpi_job job;

static void make_square(void)
{
    struct kit_random r = {1};
    make_noise(&r, ROWS * ROWS, true, walk);
    make_noise(&r, ROWS * ROWS, false, noise);
    job = (struct zmpi_job){.array = square, .bound = {ZMPI_LOSSLESS, 0}, .threads = 1};
    memset(&known, 0, sizeof known);
}

Test(axes_known, by_what, .init = make_square)
{
    cr_assert_eq(recall(&known, &job, noise), none);
    cr_assert_eq(recall(&known, &job, walk), along_x, "not near");
    memset(&known, 0, sizeof known);
    cr_assert_eq(recall(&known, &job, walk), along_x);
    for (int i = 1; i < 32; i++)
        cr_assert_eq(recall(&known, &job, noise), along_x, "use %d: near enough", i);
    cr_assert_eq(recall(&known, &job, noise), none, "after 32 uses");

    /* Arrays that differ by one thing, and what was known is still known. */
    memset(&known, 0, sizeof known);
    recall(&known, &job, walk);
    struct zmpi_job other = job;
    other.array.type = ZMPI_F32;
    cr_assert_eq(recall(&known, &other, noise), ZMPI_AXES_GIVEN | zmpi_axes_choose(&other, noise),
                 "type");
    cr_assert_neq(zmpi_axes_choose(&other, noise), ZMPI_AXIS_X);
    other = job;
    other.array.extent[1] /= 2;
    cr_assert_eq(recall(&known, &other, noise), none, "shape");
    other = job;
    other.bound = (struct zmpi_bound){ZMPI_ABS, 1};
    cr_assert_eq(recall(&known, &other, noise), none, "mode");
    other.bound.value = 2;
    recall(&known, &other, walk);
    other.bound.value = 3;
    cr_assert_eq(recall(&known, &other, noise), none, "value");
    other.bound.value = 2;
    cr_assert_eq(recall(&known, &other, noise), along_x);
    other.bound.mode = ZMPI_PSNR;
    cr_assert_eq(recall(&known, &other, noise), none, "mode, of the same value");
    other.bound.mode = ZMPI_ABS;
    other.abs_bound = 1; /* of a range */
    cr_assert_eq(recall(&known, &other, noise), none, "another variable's");
    other.abs_bound = 1.1;
    recall(&known, &other, walk);
    other.abs_bound = 1.2; /* it may go on changing */
    cr_assert_eq(recall(&known, &other, noise), none, "the same variable, and both are near");
    other.abs_bound = 2;
    recall(&known, &other, walk);
    other.abs_bound = 1.7;
    cr_assert_eq(recall(&known, &other, noise), none);
    other.abs_bound = 1.9;
    cr_assert_eq(recall(&known, &other, noise), along_x);
    cr_assert_eq(recall(&known, &job, noise), along_x);
}

/* What is used last is not what goes, but what came first. */
Test(axes_known, are_few, .init = make_square)
{
    for (size_t i = 0; i < ZMPI_AXES_ARRAYS; i++) {
        job.array.extent[1] = ROWS - i;
        recall(&known, &job, walk);
    }
    for (size_t i = 0; i < ZMPI_AXES_ARRAYS; i++) {
        job.array.extent[1] = ROWS - i;
        cr_assert_eq(recall(&known, &job, noise), along_x, "%zu", i);
    }
    job.array.extent[1] = 1;
    recall(&known, &job, walk);
    job.array.extent[1] = ROWS - 1;
    cr_assert_eq(recall(&known, &job, noise), along_x);
    job.array.extent[1] = ROWS;
    cr_assert_eq(recall(&known, &job, noise), none, "gone");
}

enum { LONG = 1 << 16 };
static int32_t ramp[LONG];

static void make_long(void)
{
    const struct zmpi_array a = {ZMPI_I32, {1, 1, LONG}};
    job = (struct zmpi_job){.array = a, .bound = {ZMPI_LOSSLESS, 0}, .threads = 1};
    memset(&known, 0, sizeof known);
    for (int i = 0; i < LONG; i++)
        ramp[i] = 16 * i;
}

/* Where blocks tell nothing all are looked at, the first eight times. Then each fourth array is
 * looked at. */
Test(axes_known, of_empty_arrays, .init = make_long)
{
    int32_t *x = calloc(LONG, sizeof *x);
    for (int i = 0; i < 8; i++)
        cr_assert_eq(recall(&known, &job, x), none);
    struct zmpi_axes_known few = known;
    /* A ramp at the end, that all blocks see and a few do not. */
    for (int i = 0; i < 4096; i++)
        x[LONG - 4096 + i] = 16 * i;
    cr_assert_eq(recall(&known, &job, x), none, "it is taken to be empty");
    few.entry[0].alike = 7;
    cr_assert_eq(recall(&few, &job, x), along_x, "all are looked at");
    for (int i = 9; i < 16; i++)
        cr_assert_eq(recall(&known, &job, ramp), i < 12 ? none : along_x, "%d", i);
    free(x);
}

/* A row of data, but in the five blocks that few looks see: there they go up by `slope`, from 0 in
 * the first block and from `from` in the others; or are 0, but in one, if it is a lone one. Tiles
 * begin with 0, which is their base. */
static void make_row(const int32_t *all, bool lone, int32_t from, int32_t slope, int32_t *x)
{
    size_t tile[3];
    zmpi_tile_choose(job.array.extent, 4, tile);
    const size_t chunks = LONG / tile[2];
    memcpy(x, all, LONG * sizeof *x);
    for (size_t k = 0; k < chunks; k++)
        x[k * tile[2]] = 0;
    for (size_t i = 0; i < 5; i++) {
        const size_t block = (i * 40503 % 65536) * (tile[2] / 32) / 65536;
        int32_t *at = x + (2 * i + 1) * chunks / 10 * tile[2] + 32 * block;
        const bool empty = lone && i != 3;
        for (int e = block > 0 ? -1 : 0; e < 32; e++)
            at[e] = empty ? 0 : (block > 0 ? from : 0) + e * slope;
    }
}

/* Where few blocks reject what all choose they may be as wrong again, but by no more than half, and
 * not because of blocks that told nothing. */
Test(axes_known, few_that_mislead, .init = make_long)
{
    static int32_t much[LONG], x[LONG]; /* much: noise */
    struct kit_random r = {1};
    make_noise(&r, LONG, false, much);
    cr_assert_eq(recall(&known, &job, much), none);
    make_row(much, false, 0, 511, x); /* 15 bits for 10 */
    cr_assert_eq(recall(&known, &job, x), none, "all choose it");
    make_row(ramp, false, 0, 511, x);
    cr_assert_eq(recall(&known, &job, x), none, "few see what they saw");

    memset(&known, 0, sizeof known);
    recall(&known, &job, much);
    make_row(much, false, 4096, 1, x); /* 14 bits for 2 */
    cr_assert_eq(recall(&known, &job, x), none, "all choose it");
    make_row(ramp, false, 4096, 1, x);
    cr_assert_eq(recall(&known, &job, x), along_x, "that wrong few may not be");

    memset(&known, 0, sizeof known);
    recall(&known, &job, much);
    make_row(much, true, 4096, 1, x);
    cr_assert_eq(recall(&known, &job, x), none, "all choose it");
    make_row(ramp, false, 0, 511, x);
    cr_assert_eq(recall(&known, &job, x), along_x, "few had told nothing");
}

/* No axes for bounds that are to be found, and for large arrays; given ones stay. */
Test(axes_known, not_for_these, .init = make_square)
{
    const struct zmpi_axes_known nothing = known;
    int32_t *x = calloc(1, ZMPI_AXES_KNOWN_BELOW);
    job.axes = ZMPI_AXES_GIVEN | 5;
    cr_assert_eq(recall(&known, &job, x), job.axes);
    job.axes = 0;
    job.array.extent[1] = ZMPI_AXES_KNOWN_BELOW / 4 / ROWS;
    cr_assert_eq(recall(&known, &job, x), 0, "large");
    job.array = (struct zmpi_array){ZMPI_F32, {1, ROWS, ROWS}};
    job.bound = (struct zmpi_bound){ZMPI_RATIO, 10};
    job.top = 1;
    cr_assert(zmpi_job_open(&job));
    cr_assert_eq(recall(&known, &job, x), 0, "open");
    cr_assert_eq(memcmp(&known, &nothing, sizeof known), 0);
    job.array = square;
    job.bound = (struct zmpi_bound){ZMPI_LOSSLESS, 0};
    job.top = 0;
    job.array.extent[1] = 0;
    cr_assert_eq(recall(&known, &job, x), along_x, "empty");
    free(x);
}

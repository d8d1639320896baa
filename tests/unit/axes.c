/*
 * axes.c - the axes chosen once per array (format.md 4.6), against the page's words taken
 * literally: whole tiles of integers, and residuals by their definition.
 */
#include "axes_known.h"
#include "chunk.h"
#include "kit.h"
#include "ratio.h"
#include "tile.h"

/* An array in words, its tiles, and the integers of one tile. */
struct model {
    enum zmpi_type type;
    size_t width, words[3], tile[3], grid[3], chunks, whole;
    struct zmpi_chunk_rule rule;
    const unsigned char *data;
    size_t first[3], extent[3];
    uint64_t mask; /* of a word's bits */
    uint64_t *q;
    bool *fits;
};

static uint64_t integer(const struct model *m, const unsigned char *at, bool *fits)
{
    uint64_t u = 0, sign = (m->mask >> 1) + 1;
    float f = 0;
    double d = 0;
    memcpy(&u, at, m->width);
    *fits = true;
    if (m->rule.levels == 0)
        return kit_is_float(m->type) && u & sign ? u ^ (sign - 1) : u;
    memcpy(m->width == 4 ? (void *)&f : (void *)&d, at, m->width);
    double x = m->width == 4 ? (double)f : d;
    const struct zmpi_step *l = &m->rule.level[m->rule.levels - 1];
    *fits = fabs(x) <= l->limit;
    if (!*fits)
        return 0;
    x = m->width == 4 ? (double)(f * (float)l->inverse) : d * l->inverse;
    return (uint64_t)(int64_t)rint(x) & m->mask;
}

static void load_tile(struct model *m, size_t k)
{
    const size_t at[3] = {k / m->grid[2] / m->grid[1], k / m->grid[2] % m->grid[1], k % m->grid[2]};
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        m->first[i] = at[i] * m->tile[i];
        size_t left = m->words[i] - m->first[i];
        m->extent[i] = left < m->tile[i] ? left : m->tile[i];
    }
    for (size_t z = 0; z < m->extent[0]; z++)
        for (size_t y = 0; y < m->extent[1]; y++)
            for (size_t x = 0; x < m->extent[2]; x++, n++) {
                size_t word = ((m->first[0] + z) * m->words[1] + m->first[1] + y) * m->words[2] +
                              m->first[2] + x;
                m->q[n] = integer(m, m->data + word * m->width, &m->fits[n]);
            }
    for (size_t i = n; i-- > 0;)
        m->q[i] = (m->q[i] - m->q[0]) & m->mask;
}

/* Differences along `axes` at element i of the tile. */
static uint64_t residual(const struct model *m, size_t i, unsigned axes)
{
    const size_t row = m->extent[2], plane = row * m->extent[1];
    if (axes == 1)
        return (m->q[i] - (i ? m->q[i - 1] : 0)) & m->mask;
    if (axes & 1)
        return (residual(m, i, axes - 1) - (i % row ? residual(m, i - 1, axes - 1) : 0)) & m->mask;
    if (axes & 2)
        return (residual(m, i, axes - 2) -
                (i % plane >= row ? residual(m, i - row, axes - 2) : 0)) &
               m->mask;
    if (axes & 4)
        return (m->q[i] - (i >= plane ? m->q[i - plane] : 0)) & m->mask;
    return m->q[i];
}

/* Are element i and its neighbours along y, z and both all within the limit? */
static bool counts(const struct model *m, size_t i)
{
    const size_t row = m->extent[2], plane = row * m->extent[1];
    bool y = i % plane >= row, z = i >= plane;
    return m->fits[i] && (!y || m->fits[i - row]) && (!z || m->fits[i - plane]) &&
           (!y || !z || m->fits[i - plane - row]);
}

static bool add_costs(const struct model *m, size_t block, size_t cost[8])
{
    const size_t count = m->extent[0] * m->extent[1] * m->extent[2], first = 32 * block;
    const size_t end = first + 32 < count ? first + 32 : count;
    for (size_t i = first ? first - 1 : 0; i < end; i++)
        if (!counts(m, i))
            return false;
    for (unsigned axes = 0; axes < 8; axes++) {
        size_t length = 0;
        for (size_t i = first; i < end; i++) {
            uint64_t r = residual(m, i, axes), negative = (0 - r) & m->mask, bits = 0;
            for (uint64_t a = r > m->mask >> 1 ? negative : r; a; a >>= 1)
                bits++;
            length = bits > length ? bits : length;
        }
        cost[axes] += length ? length + 1 : 0;
    }
    return true;
}

static size_t samples(const struct model *m)
{
    const size_t n = m->whole / 131072, least = m->whole <= 16384 ? 16 : 32;
    return n < least ? least : n > 128 ? 128 : n;
}

static size_t costs(struct model *m, size_t n, size_t cost[8])
{
    size_t counted = 0;
    memset(cost, 0, 8 * sizeof *cost);
    for (size_t i = 0; i < n && m->chunks; i++) {
        load_tile(m, (2 * i + 1) * m->chunks / (2 * n));
        size_t blocks = (m->extent[0] * m->extent[1] * m->extent[2] + 31) / 32;
        counted += add_costs(m, (40503 * i % 65536) * blocks / 65536, cost);
    }
    return counted;
}

static unsigned least_of(const size_t cost[8], unsigned sets)
{
    unsigned best = 8;
    for (unsigned axes = 8; axes-- > 0;)
        if (sets >> axes & 1 && (best == 8 || cost[axes] <= cost[best]))
            best = axes;
    return best;
}

static unsigned expected_axes(struct model *m)
{
    size_t cost[8];
    return costs(m, samples(m), cost) ? least_of(cost, 255) : ZMPI_AXIS_X;
}

/* What is known of arrays, by the page. */
struct knowledge {
    unsigned sets, empty, uses;
    double times;
};

static unsigned expected_again(struct model *m, struct knowledge *k)
{
    size_t cost[8];
    const bool anew = k->uses++ % 32 == 0;
    costs(m, 5, cost);
    const size_t least = cost[least_of(cost, 255)];
    const unsigned best = anew ? 8 : least_of(cost, k->sets);
    double times = anew || cost[best] == least ? 1 : (double)cost[best] / (double)least;
    k->times = anew ? 1 : k->times;
    if (!anew && (least >= 2 * 5 || k->empty >= 8) && times <= 17.0 / 16 * k->times)
        return best;
    const size_t n = samples(m);
    const unsigned axes = costs(m, n, cost) ? least_of(cost, 255) : ZMPI_AXIS_X;
    if (axes == best && least >= 2 * 5)
        k->times = times < 1.5 ? times : 1.5;
    k->empty = cost[least_of(cost, 255)] >= 2 * n ? 0 : k->empty + 1;
    k->sets = (anew ? 0 : k->sets) | 1U << axes;
    return axes;
}

static struct model model_new(const struct zmpi_job *job, const unsigned char *data, size_t bytes)
{
    struct model m = {.type = job->array.type, .data = data};
    m.width = m.type == ZMPI_F64 || m.type == ZMPI_I64 ? 8 : 4;
    m.mask = m.width == 4 ? UINT32_MAX : UINT64_MAX;
    m.whole = bytes / m.width;
    memcpy(m.words, job->array.extent, sizeof m.words);
    zmpi_tile_normalize(m.words);
    if (m.type == ZMPI_BYTES)
        m.words[2] = bytes / 4 + (bytes % 4 != 0);
    zmpi_tile_choose(m.words, m.width, m.tile);
    m.chunks = 1;
    for (int i = 0; i < 3; i++)
        m.chunks *= m.grid[i] = (m.words[i] + m.tile[i] - 1) / m.tile[i];
    m.chunks -= bytes % m.width != 0;
    zmpi_chunk_rule_make(&m.rule, m.type, job->abs_bound, job->keep);
    m.q = calloc(ZMPI_CHUNK_INPUT_BYTES, sizeof *m.q);
    m.fits = calloc(ZMPI_CHUNK_INPUT_BYTES, sizeof *m.fits);
    return m;
}

static void model_free(struct model *m)
{
    free(m->q);
    free(m->fits);
}

static void check(const struct zmpi_job *job, const unsigned char *data, size_t bytes)
{
    struct model m = model_new(job, data, bytes);
    cr_assert_eq(zmpi_axes_choose(job, data), expected_axes(&m), "type %d, %zux%zux%zu, bound %g",
                 m.type, job->array.extent[0], job->array.extent[1], job->array.extent[2],
                 job->abs_bound);
    model_free(&m);
}

static void check_type(enum zmpi_type type, size_t most)
{
    struct kit_random r = {(uint64_t)type};
    for (int i = 0; i < 150; i++) {
        struct zmpi_array a =
            kit_array(type, 1 + kit_below(&r, 12), 1 + kit_below(&r, 40), 1 + kit_below(&r, most));
        if (type == ZMPI_BYTES)
            a.extent[0] = a.extent[1] = 1;
        struct zmpi_bound bound = {i % 4 ? ZMPI_REL : ZMPI_LOSSLESS, i % 4 ? 1e-3 : 0};
        struct zmpi_range range;
        struct zmpi_job job;
        size_t bytes;
        zmpi_array_bytes(&a, &bytes);
        unsigned char *data = kit_make(&r, &a, (enum kit_data)kit_below(&r, KIT_DATA_KINDS));
        zmpi_range_of(type, data, bytes / zmpi_type_size(type), &range);
        cr_assert_eq(zmpi_job_make(&a, &bound, &range, &job), ZMPI_OK);
        check(&job, data, bytes);
        free(data);
    }
}

Test(axes, as_the_format_says)
{
    check_type(ZMPI_F32, 300);
    check_type(ZMPI_F64, 300);
    check_type(ZMPI_I32, 20);
    check_type(ZMPI_I64, 300);
    check_type(ZMPI_BYTES, 300000);
}

/* Where nothing can be quantized: x. */
Test(axes, nothing_to_tell)
{
    float data[64 * 64];
    for (size_t i = 0; i < KIT_COUNT(data); i++)
        data[i] = NAN;
    struct zmpi_job job = {.array = kit_array(ZMPI_F32, 1, 64, 64), .abs_bound = 1, .threads = 1};
    cr_assert_eq(zmpi_axes_choose(&job, data), ZMPI_AXIS_X);
}

/* Those that a job has are taken, by every chunk that has so many dimensions. */
Test(axes, given)
{
    struct kit_random r = {5};
    const struct zmpi_array a = kit_array(ZMPI_F32, 16, 16, 32);
    float *data = kit_make(&r, &a, KIT_SMOOTH);
    const size_t capacity = zmpi_compress_capacity(&a), first = ZMPI_STREAM_HEADER_BYTES + 8;
    for (unsigned axes = 0; axes < 8; axes++) {
        struct zmpi_job job = {.array = a, .bound = kit_abs(1e-3), .abs_bound = 0.0009765625};
        struct kit_stream s = {malloc(capacity), 0};
        job.keep = (double)INFINITY;
        job.threads = 1;
        job.encoder = ZMPI_FLE;
        job.axes = ZMPI_AXES_GIVEN | axes;
        cr_assert_eq(zmpi_axes_choose(&job, data), axes);
        cr_assert_eq(zmpi_device_cpu()->compress(&job, s.data, capacity, data, &s.size), ZMPI_OK);
        cr_assert_eq(s.data[first + 1], axes);
        void *back = kit_decompress(&s);
        kit_check(&a, data, back, job.abs_bound, "given axes");
        free(back);
        free(s.data);
    }
    free(data);
}

/* ---- axes that were chosen before ---- */

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

/* Steps of data of all kinds, one array's shape: as a model that is told when all is forgotten. */
static void check_steps(enum zmpi_type type, size_t most, unsigned *looks, unsigned *taken)
{
    struct kit_random r = {(uint64_t)type + 100};
    for (int i = 0; i < 12; i++) {
        const struct zmpi_array a =
            kit_array(type, 1 + kit_below(&r, 12), 1 + kit_below(&r, 40), 1 + kit_below(&r, most));
        const struct zmpi_job job = job_of(&a, pow(2, -(double)kit_below(&r, 12)));
        struct zmpi_axes_known known;
        struct knowledge model = {0, 0, 0, 0};
        memset(&known, 0, sizeof known);
        for (unsigned step = 0; step < 70; step++) {
            /* Two variables in turn, now and then a third. */
            const unsigned kind = step % 11 == 10 ? 2 : step % 2;
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

Test(axes, known_as_the_format_says)
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

Test(axes, known_is_known_by)
{
    struct kit_random r = {1};
    static int32_t walk[ROWS * ROWS], noise[ROWS * ROWS];
    struct zmpi_axes_known known;
    make_noise(&r, ROWS * ROWS, true, walk);
    make_noise(&r, ROWS * ROWS, false, noise);
    struct zmpi_job job = {.array = square, .bound = {ZMPI_LOSSLESS, 0}, .threads = 1};
    const unsigned none = ZMPI_AXES_GIVEN, along_x = none | ZMPI_AXIS_X;

    memset(&known, 0, sizeof known);
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
    recall(&known, &other, walk);
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
Test(axes, known_are_few)
{
    struct kit_random r = {1};
    static int32_t walk[ROWS * ROWS], noise[ROWS * ROWS];
    struct zmpi_axes_known known;
    make_noise(&r, ROWS * ROWS, true, walk);
    make_noise(&r, ROWS * ROWS, false, noise);
    memset(&known, 0, sizeof known);
    struct zmpi_job job = {.array = square, .bound = {ZMPI_LOSSLESS, 0}, .threads = 1};
    for (size_t i = 0; i < ZMPI_AXES_ARRAYS; i++) {
        job.array.extent[1] = ROWS - i;
        recall(&known, &job, walk);
    }
    for (size_t i = 0; i < ZMPI_AXES_ARRAYS; i++) {
        job.array.extent[1] = ROWS - i;
        cr_assert_eq(recall(&known, &job, noise), ZMPI_AXES_GIVEN | ZMPI_AXIS_X, "%zu", i);
    }
    job.array.extent[1] = 1;
    recall(&known, &job, walk);
    job.array.extent[1] = ROWS - 1;
    cr_assert_eq(recall(&known, &job, noise), ZMPI_AXES_GIVEN | ZMPI_AXIS_X);
    job.array.extent[1] = ROWS;
    cr_assert_eq(recall(&known, &job, noise), ZMPI_AXES_GIVEN, "gone");
}

/* Where blocks tell nothing all are looked at, the first eight times. */
Test(axes, known_of_empty_arrays)
{
    struct zmpi_axes_known known;
    const struct zmpi_array a = {ZMPI_I32, {1, 1, 1 << 16}};
    const struct zmpi_job job = {.array = a, .bound = {ZMPI_LOSSLESS, 0}, .threads = 1};
    int32_t *x = calloc(1 << 16, sizeof *x);
    memset(&known, 0, sizeof known);
    for (int i = 0; i < 8; i++)
        cr_assert_eq(recall(&known, &job, x), ZMPI_AXES_GIVEN);
    /* A ramp at the end, that all blocks see and a few do not. */
    struct zmpi_axes_known few = known;
    for (int i = 0; i < 4096; i++)
        x[(1 << 16) - 4096 + i] = 16 * i;
    cr_assert_eq(recall(&few, &job, x), ZMPI_AXES_GIVEN, "it is taken to be empty");
    few = known;
    few.entry[0].empty = 7;
    cr_assert_eq(recall(&few, &job, x), ZMPI_AXES_GIVEN | ZMPI_AXIS_X, "all are looked at");
    for (int i = 0; i < 1 << 16; i++)
        x[i] = 16 * i;
    cr_assert_eq(recall(&known, &job, x), ZMPI_AXES_GIVEN | ZMPI_AXIS_X, "a few see it");
    free(x);
}

/* No axes for bounds that are to be found, and for large arrays; given ones stay. */
Test(axes, known_not)
{
    struct zmpi_axes_known known, nothing;
    memset(&known, 0, sizeof known);
    memset(&nothing, 0, sizeof nothing);
    int32_t *x = calloc(1, ZMPI_AXES_KNOWN_BELOW);
    struct zmpi_job job = {.array = square, .bound = {ZMPI_LOSSLESS, 0}, .threads = 1};
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
    cr_assert_eq(recall(&known, &job, x), ZMPI_AXES_GIVEN | ZMPI_AXIS_X, "empty");
    free(x);
}

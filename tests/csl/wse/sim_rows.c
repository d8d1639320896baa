/*
 * sim_rows.c - rows of PEs in the simulator: pipelines of all lengths, several in a row, whatever
 * chunks they get. Both ways, and the bytes are the CPU's.
 */
#include <float.h>

#include "chips.h"

#ifdef __SANITIZE_ADDRESS__ /* slow */
enum { FEWER = 3 };
#else
enum { FEWER = 1 };
#endif

struct wafer {
    struct chip_sim from, to;
    struct wse_count count[2]; /* chunks coded, and decoded */
};

static struct wafer open_rows(unsigned width, unsigned height, struct chip_sim_options how)
{
    struct wafer w = {.from = open_chip("rows", width, height, how)};
    how.decode = true;
    w.to = open_chip("rows", width, height, how);
    return w;
}

static void close_rows(struct wafer *w)
{
    chip_sim_close(&w->from);
    chip_sim_close(&w->to);
}

/* How many chunks of such arrays one PE for each would leave. */
static uint64_t left_by_pes(uint64_t seed, const struct zmpi_array *a, struct zmpi_bound bound)
{
    struct chip_sim from = open_chip("compress", 2, 1, (struct chip_sim_options){.seed = 1});
    struct chip_sim to = open_chip("decompress", 2, 1, (struct chip_sim_options){.seed = 1});
    struct wse_count count[2] = {{0, 0}, {0, 0}};
    struct kit_random r = {seed};
    check_kinds(&from.chip, &to.chip, &r, a, bound, count);
    chip_sim_close(&from);
    chip_sim_close(&to);
    return count[0].host;
}

/* Pipelines of every length, and grids of every form: rows leave no chunk that a PE alone would
 * take. */
Test(wse_rows, shapes)
{
    static const struct {
        unsigned width, height, pipeline;
        size_t extent[3];
    } shape[] = {
        {1, 1, 1, {1, 1, 8401}}, {1, 3, 1, {1, 30, 290}}, {4, 1, 1, {7, 20, 41}},
        {6, 1, 2, {1, 99, 87}},  {3, 2, 3, {9, 31, 17}},  {4, 1, 4, {1, 1, 3000}},
        {5, 1, 5, {4, 9, 77}},   {6, 2, 6, {1, 7, 300}},  {7, 1, 7, {3, 300, 2}},
        {8, 1, 8, {5, 16, 33}},  {16, 1, 8, {1, 50, 50}}, {32, 1, 1, {1, 1, 700}},
    };
    for (size_t i = 0; i < KIT_COUNT(shape); i += FEWER) {
        struct chip_sim_options how = {.arch = i % 4 < 2 ? CSL_WSE2 : CSL_WSE3,
                                       .seed = i,
                                       .scalar = i % 3 == 2,
                                       .pipeline = shape[i].pipeline,
                                       .length = (unsigned)(2 * i)};
        const size_t *n = shape[i].extent;
        const struct zmpi_array a = kit_array(ZMPI_F32, n[0], n[1], n[2]);
        const struct zmpi_bound bound = i % 2 ? kit_rel(1e-3) : kit_abs(0.003);
        struct wafer w = open_rows(shape[i].width, shape[i].height, how);
        struct kit_random r = {i};
        check_kinds(&w.from.chip, &w.to.chip, &r, &a, bound, w.count);
        cr_assert_gt(w.count[0].chip, 0);
        cr_assert_leq(w.count[0].host, left_by_pes(i, &a, bound), "shape %zu", i);
        close_rows(&w);
    }
}

/* Noise that is the same along the axes of a set is best predicted along these: with exceptions
 * in some blocks, all sets, each by a PE and by a pipeline. */
static float patterned(unsigned axes, size_t z, size_t y, size_t x)
{
    if (axes == ZMPI_AXIS_X) { /* goes on across row ends, as such a prediction does */
        x += 100 * (y + 100 * z);
        return patterned(0, 0, 0, x / 37);
    }
    static const unsigned prime[] = {7919, 104729, 1299709};
    const size_t at[] = {x, y, z};
    double sum = 0;
    for (unsigned along = 0; along < 3; along++) {
        uint64_t seed = 1;
        for (unsigned i = 0; i < 3; i++)
            seed += i == along ? prime[i] : prime[i] * (at[i] + 2);
        struct kit_random r = {seed};
        kit_next(&r);
        if (axes & 1U << along)
            sum += kit_unit(&r);
    }
    struct kit_random r = {z * 1000003 + y * 10007 + x + 5};
    return (float)(axes ? sum : kit_unit(&r)) / 4; /* within the first level's limit */
}

Test(wse_rows, axes)
{
    static const size_t extent[][3] = {{9, 14, 45}, {2, 30, 100}};
    unsigned seen = 0;
    for (unsigned i = 0; i < (FEWER > 1 ? 8U : 16U); i++) {
        struct wafer w = open_rows(
            4, 1,
            (struct chip_sim_options){
                .seed = i, .scalar = i >= 12, .pipeline = i % 3 == 2 ? 2 : 1, .length = 8});
        const size_t *n = extent[i / 8];
        const struct zmpi_array a = kit_array(ZMPI_F32, n[0], n[1], n[2]);
        float *data = kit_make(&(struct kit_random){1}, &a, KIT_CONSTANT);
        for (size_t k = 0; k < kit_elements(&a); k++)
            data[k] = k % 3001 < 3 ? -0.0F
                      : k % 2999 == 100
                          ? NAN
                          : patterned(i % 8, k / n[2] / n[1], k / n[2] % n[1], k % n[2]);
        struct kit_stream coded = kit_compress(&a, kit_abs(1e-4), data);
        const unsigned axes = coded.data[CHECK_HEAD + 1]; /* of the first of its chunks */
        seen |= 1U << axes;
        check_bytes(&w.from.chip, &w.to.chip, &a, kit_abs(1e-4), data, w.count);
        cr_assert_eq(w.count[0].host + w.count[1].host, 0, "axes %u", axes);
        free(coded.data);
        free(data);
        close_rows(&w);
    }
    cr_assert_eq(seen, 0xffU, "of all sets of axes: %x", seen);
}

/* As many chunks as fill all pipelines, and one more; in several launches, since no first PE has
 * memory for all of their blocks. */
static void check_many(unsigned width, unsigned height, size_t chunks, struct chip_sim_options how)
{
    struct wafer w = open_rows(width, height, how);
    struct kit_random r = {how.seed};
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, chunks * 8192 + 33);
    float *data = kit_make(&r, &a, KIT_SMOOTH);
    for (size_t i = 0; i < kit_elements(&a); i++) /* blocks of many lengths, and of none */
        data[i] = i / 777 % 3 ? ldexpf(data[i], (int)(i / 999 % 8)) : i % 4096 ? 0 : NAN;
    check_bytes(&w.from.chip, &w.to.chip, &a, kit_rel(1e-4), data, w.count);
    cr_assert_eq(w.count[0].host, 0);
    cr_assert_eq(w.count[0].chip, chunks + 1);
    cr_assert_gt(w.count[1].chip, chunks);
    free(data);
    close_rows(&w);
}

Test(wse_rows, many)
{
    check_many(1, 1, 1, (struct chip_sim_options){.seed = 1, .pipeline = 1});
    check_many(3, 2, 6, (struct chip_sim_options){.arch = CSL_WSE3, .seed = 3, .pipeline = 1});
    check_many(6, 1, 2, (struct chip_sim_options){.seed = 4, .pipeline = 3, .length = 4});
    check_many(4, 1, 2,
               (struct chip_sim_options){.arch = CSL_WSE3, .seed = 5, .pipeline = 2, .length = 9});
    if (FEWER > 1)
        return;
    check_many(32, 32, 33, (struct chip_sim_options){.seed = 6, .pipeline = 1});
    check_many(32, 32, 5, (struct chip_sim_options){.seed = 7, .pipeline = 8, .length = 6});
}

/* Task order, chunks that end early, how many PEs there are and for what a pipeline was planned
 * change nothing. */
Test(wse_rows, lengths)
{
    static const struct {
        size_t length;
        unsigned width, height, pipeline;
    } row[] = {{1, 4, 1, 4},   {31, 4, 1, 1},   {32, 8, 2, 8},    {33, 5, 1, 1},
               {127, 6, 1, 2}, {129, 1, 32, 1}, {100, 32, 32, 1}, {8193, 4, 1, 1}};
    struct kit_random r = {9};
    uint64_t taken = 0;
    for (size_t i = 0; i < KIT_COUNT(row); i++) {
        struct wafer w = open_rows(row[i].width, row[i].height,
                                   (struct chip_sim_options){.seed = 20 + i,
                                                             .pipeline = row[i].pipeline,
                                                             .length = (unsigned)(3 * i),
                                                             .scalar = i % 4 == 3});
        struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, row[i].length);
        check_kinds(&w.from.chip, &w.to.chip, &r, &a, kit_abs(1e-4), w.count);
        taken += w.count[0].chip > 0 && w.count[1].chip > 0;
        close_rows(&w);
    }
    cr_assert_geq(taken, KIT_COUNT(row) - 1); /* of one element nothing is predicted */
}

/* Rows and planes of tiles that begin within blocks, and the largest ones. */
Test(wse_rows, tiles)
{
    static const size_t extent[][3] = {{7, 20, 21}, {1, 30, 290}, {5, 3, 2},    {9, 1, 100},
                                       {1, 300, 7}, {2, 40, 90},  {1, 3, 3000}, {2, 2, 700}};
    struct kit_random r = {12};
    for (size_t i = 0; i < KIT_COUNT(extent); i++) {
        struct wafer w = open_rows(
            2, 1,
            (struct chip_sim_options){
                .seed = 30 + i, .pipeline = i % 3 ? 1 : 2, .length = 6, .scalar = i == 1});
        struct zmpi_array a = kit_array(ZMPI_F32, extent[i][0], extent[i][1], extent[i][2]);
        check_kinds(&w.from.chip, &w.to.chip, &r, &a, kit_rel(1e-4), w.count);
        cr_assert_gt(w.count[0].chip, w.count[0].host);
        cr_assert_gt(w.count[1].chip, w.count[1].host);
        close_rows(&w);
    }
}

/* Seeds of the order of tasks change nothing, neither bytes nor how many chunks PEs take. */
Test(wse_rows, seeds)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 3, 20, 41);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct wafer w =
            open_rows(4, 1,
                      (struct chip_sim_options){
                          .seed = seed * 1000003, .pipeline = 1 + seed % 2, .length = 7});
        float *data = kit_make(&(struct kit_random){3}, &a, KIT_SPECIAL);
        check_bytes(&w.from.chip, &w.to.chip, &a, kit_abs(1e-3), data, w.count);
        cr_assert_eq(w.count[0].chip, 1);
        cr_assert_eq(w.count[1].chip, 1);
        free(data);
        close_rows(&w);
    }
}

/* What is the host's: no element that is quantized, residuals of 2^23, over 512 values. */
Test(wse_rows, left)
{
    const struct zmpi_array a = kit_array(ZMPI_F32, 4, 20, 41);
    for (int scalar = 0; scalar < 2; scalar++) {
        struct wafer w = open_rows(
            1, 1, (struct chip_sim_options){.seed = 1, .pipeline = 1, .scalar = scalar != 0});
        float *data = kit_make(&(struct kit_random){3}, &a, KIT_SMOOTH);
        for (size_t i = 0; i < kit_elements(&a); i++)
            data[i] = -0.0F;
        check_bytes(&w.from.chip, &w.to.chip, &a, kit_abs(1e-3), data, w.count);
        cr_assert_eq(w.count[0].host, 1);
        for (size_t i = 0; i < kit_elements(&a);
             i++) /* limits alternating: 3-D residuals are wide */
            data[i] = patterned(7, i / 820, i / 41 % 20, i % 41) * (i % 3 == 0 ? 1e30F : 1);
        check_bytes(&w.from.chip, &w.to.chip, &a, kit_abs(1e-3), data, w.count);
        cr_assert_eq(w.count[0].host, 2);
        free(data);
        close_rows(&w);
    }
}

/* Steps so large that what is decoded would overflow, though the element is within the limit. */
Test(wse_rows, overflow)
{
    static const double bounds[] = {1e38, 6.6e37, 1e35, 3e34};
    const struct zmpi_array a = kit_array(ZMPI_F32, 3, 20, 41);
    struct kit_random r = {14};
    float *data = kit_make(&r, &a, KIT_SMOOTH);
    for (int scalar = 0; scalar < 2; scalar++) {
        struct wafer w = open_rows(
            1, 1, (struct chip_sim_options){.seed = 1, .pipeline = 1, .scalar = scalar != 0});
        for (size_t k = 0; k < KIT_COUNT(bounds); k++) {
            for (size_t i = 0; i < kit_elements(&a); i++)
                data[i] = i % 50 < 3 ? FLT_MAX * (1 - (float)(i % 50) / 16)
                                     : (float)kit_unit(&r) * FLT_MAX;
            check_bytes(&w.from.chip, &w.to.chip, &a, kit_abs(bounds[k]), data, w.count);
        }
        cr_assert_eq(w.count[0].chip, KIT_COUNT(bounds));
        close_rows(&w);
    }
    free(data);
}

/* A chip on which the n-th call fails. */
static int calls_left;
static struct chip_sim *failing;

static bool fail_to(struct chip *chip, const char *name, const uint32_t *src, unsigned columns,
                    unsigned elements)
{
    (void)chip;
    return calls_left-- > 0 && failing->chip.to(&failing->chip, name, src, columns, elements);
}

static bool fail_from(struct chip *chip, const char *name, uint32_t *dst, unsigned elements)
{
    (void)chip;
    return calls_left-- > 0 && failing->chip.from(&failing->chip, name, dst, elements);
}

static bool fail_launch(struct chip *chip, const char *function)
{
    (void)chip;
    return calls_left-- > 0 && failing->chip.launch(&failing->chip, function);
}

static void fail_from_now_on(struct chip *chip, struct chip_sim *real)
{
    *chip = real->chip;
    chip->to = fail_to;
    chip->from = fail_from;
    chip->launch = fail_launch;
    failing = real;
}

Test(wse_rows, failures)
{
    struct wafer w = open_rows(2, 1, (struct chip_sim_options){.seed = 1, .pipeline = 1});
    struct chip chip;
    struct kit_random r = {11};
    const struct zmpi_array a = kit_array(ZMPI_F32, 1, 1, 400);
    const struct zmpi_bound bound = kit_abs(0.01);
    float *data = kit_make(&r, &a, KIT_SPIKES), *back = malloc(kit_bytes(&a));
    struct kit_stream coded = kit_compress(&a, bound, data);
    struct zmpi_stream s;
    struct zmpi_job job;
    unsigned char out[4096];
    size_t size;
    cr_assert_not_null(back);
    cr_assert_eq(zmpi_job_make(&a, &bound, &ZMPI_RANGE_EMPTY, &job), ZMPI_OK);
    fail_from_now_on(&chip, &w.from);
    for (int calls = 0; calls <= 4; calls++) { /* job, blocks, launch, results */
        calls_left = calls;
        cr_assert_eq(wse_compress(&chip, &job, out, sizeof out, data, &size, &w.count[0]),
                     calls < 4 ? ZMPI_ERR_DEVICE : ZMPI_OK);
    }
    cr_assert(size == coded.size && memcmp(out, coded.data, size) == 0);
    cr_assert_eq(zmpi_stream_parse(&s, coded.data, coded.size), ZMPI_OK);
    fail_from_now_on(&chip, &w.to);
    for (int calls = 0; calls <= 4; calls++) {
        calls_left = calls;
        cr_assert_eq(wse_decompress(&chip, &s, NULL, back, &w.count[1]),
                     calls < 4 ? ZMPI_ERR_DEVICE : ZMPI_OK);
    }
    cr_assert_eq(w.count[0].chip, 1);
    cr_assert_eq(w.count[1].chip, 1);
    free(coded.data);
    free(back);
    free(data);
    close_rows(&w);
}
